"""The program in the sample images, as a pure function of its variables and of time.

It never runs: what it would have printed, answered and ended with at a moment is worked out. Times
are seconds since 1970; nothing here knows a pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

ENTRYPOINT = "/sample"
ALIVE_EVERY = 10.0
MEBIBYTE = 2**20
# What the program needs besides what it is told to take; measured at 6 to 8 MiB on the real one.
OWN_MEMORY = 8 * MEBIBYTE
MEMORY_PER_SECOND = 1024 * MEBIBYTE
KILLED = 137
TOLD_TO_STOP = 143
NEVER = float("inf")


@dataclass(frozen=True)
class Exit:
    """How and when it ended. `reason` is the kubelet's word: Completed, Error, OOMKilled."""

    at: float
    code: int
    reason: str

    @classmethod
    def of(cls, at: float, code: int) -> Exit:
        return cls(at, code, "Completed" if code == 0 else "Error")


@dataclass(frozen=True)
class Reply:
    """An HTTP answer, and how many seconds it takes.

    `calls` is an address that it fetches first.
    """

    status: int
    body: str
    after: float = 0.0
    calls: str = ""


@dataclass(frozen=True)
class Program:
    """One start of the program: `arguments` are those after its own name."""

    arguments: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    started_at: float
    memory_limit: int | None = None

    @property
    def verb(self) -> str:
        return self.arguments[0] if self.arguments else "serve"

    def number(self, name: str, otherwise: int) -> int:
        try:
            return int(self.env.get(name, ""))
        except ValueError:
            return otherwise

    @cached_property
    def takes_memory_at(self) -> float:
        return self.started_at + self.number("START_DELAY", 0)

    @cached_property
    def begins_at(self) -> float:
        """When it listens, or begins its work."""
        wanted = max(self.number("ALLOCATE_MB", 0), 0) * MEBIBYTE
        return self.takes_memory_at + wanted / MEMORY_PER_SECOND

    @property
    def _is_too_large(self) -> bool:
        wanted = self.number("ALLOCATE_MB", 0) * MEBIBYTE
        return self.memory_limit is not None and wanted + OWN_MEMORY > self.memory_limit

    @property
    def port(self) -> int | None:
        """Where it listens, None for verbs that do not."""
        return self.number("PORT", 8080) if self.verb in ("serve", "tcp") else None

    def listens(self, port: int, now: float) -> bool:
        return self.port == port and self.begins_at <= now

    # Ending

    def ends(self, told_to_stop: float | None) -> Exit | None:
        """Return how it ends by itself, given when it was told to (None: never).

        None while it runs on.
        """
        if self.verb == "pause":
            return Exit.of(told_to_stop, 0) if told_to_stop is not None else None
        if self._is_too_large:
            return Exit(self.begins_at, KILLED, "OOMKilled")
        ends = [self._by_itself(), self._by_work(told_to_stop), self._by_signal(told_to_stop)]
        return min((e for e in ends if e is not None), key=lambda e: e.at, default=None)

    def _by_itself(self) -> Exit | None:
        if not self.env.get("EXIT_AFTER"):
            return None
        after = self.number("EXIT_AFTER", 0)
        return Exit.of(self.begins_at + after, self.number("EXIT_CODE", 1))

    def _by_work(self, told_to_stop: float | None) -> Exit | None:
        """`run` ends after its last line, unless it is told to stop in between."""
        if self.verb != "run":
            return None
        done = self.begins_at + self.number("RUN_LINES", 3) * self._line_pause
        if told_to_stop is not None and told_to_stop < done:
            return None
        return Exit.of(done, self.number("EXIT_CODE", 0))

    def _by_signal(self, told_to_stop: float | None) -> Exit | None:
        if told_to_stop is None:
            return None
        code = TOLD_TO_STOP if self.verb == "run" else 0
        # A signal during the start is kept until it listens for signals.
        heard = max(told_to_stop, self.begins_at)
        return Exit.of(heard + self.number("STOP_DELAY", 0), code)

    @property
    def _line_pause(self) -> float:
        return max(self.number("LINE_DELAY_MS", 100), 0) / 1000

    # Speaking

    def output(self, until: float, told_to_stop: float | None = None) -> list[str]:
        """Return the lines that it has written until this moment, standard error among them."""
        if self.verb == "pause":
            return []
        end = self.ends(told_to_stop)
        last = min(until, end.at if end else NEVER)
        stops = self._hears_stop(told_to_stop, end)
        first = f"sample {self.verb} {self.env.get('VERSION', '')} begins"
        said = [(self.started_at, first), *(s for s in self._work_words(until) if s[0] < stops)]
        said += [(stops, "told to stop"), *self._last_words(end, told_to_stop)]
        return [text for at, text in said if at <= last]

    def _hears_stop(self, told_to_stop: float | None, end: Exit | None) -> float:
        if told_to_stop is None or self._is_too_large:
            return NEVER
        heard = max(told_to_stop, self.begins_at)
        return heard if end is None or heard <= end.at else NEVER

    def _work_words(self, until: float) -> list[tuple[float, str]]:
        if self._is_too_large:
            return []
        return self._work_lines(until) if self.verb == "run" else self._alive_lines(until)

    def _work_lines(self, until: float) -> list[tuple[float, str]]:
        count = max(self.number("RUN_LINES", 3), 0)
        if self._line_pause:
            count = min(count, max(int((until - self.begins_at) / self._line_pause) + 1, 0))
        return [(self.begins_at + i * self._line_pause, f"line {i + 1}") for i in range(count)]

    def _alive_lines(self, until: float) -> list[tuple[float, str]]:
        count = max(int((until - self.begins_at) / ALIVE_EVERY), 0)
        return [(self.begins_at + i * ALIVE_EVERY, f"alive {i}") for i in range(1, count + 1)]

    def _last_words(self, end: Exit | None, told_to_stop: float | None) -> list[tuple[float, str]]:
        words = self.env.get("LAST_WORDS", "")
        alone = self._by_itself()
        if end is None or self._is_too_large:
            return []
        if alone is not None and end.at == alone.at:
            return [(end.at, words)]
        done = self._by_work(told_to_stop)
        return [(end.at, words)] if words and done is not None and end.at == done.at else []

    # Answering

    def reply(self, path: str, now: float) -> Reply:
        """Answer one HTTP request of the verb `serve`; `path` is without its query."""
        if path.startswith("/env/"):
            return Reply(200, self.env.get(path.removeprefix("/env/"), ""))
        if path.startswith("/call/"):
            return Reply(200, "", calls=self.env.get(path.removeprefix("/call/"), ""))
        after = max(self.number("ANSWER_DELAY_MS", 0), 0) / 1000
        return Reply(self._status(now), f"sample {self.env.get('VERSION', '')}\n", after)

    def _status(self, now: float) -> int:
        age = now - self.started_at
        unready_after = self.number("UNREADY_AFTER", 0)
        if age < self.number("READY_DELAY", 0) or (unready_after > 0 and age > unready_after):
            return 503
        return self.number("STATUS", 200)
