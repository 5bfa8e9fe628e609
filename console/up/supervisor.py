"""Starts parts, waits until each is ready, starts again what dies, and stops all of it.

What the parts are is in stack.py.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import psutil

from console.server_files import ServerFailed
from console.up.files import write_private

LOOK_EVERY = 0.05
STOP_SECONDS = 10.0
LONGEST_PAUSE = 30.0
# A part that has run this long was well: its next fall counts as its first.
WELL_AFTER = 60.0
SAME_START = 1.0  # seconds that two readings of one process's start may differ


class PartFailed(Exception):
    """A part did not become ready; the message names its log, whose end is worth showing."""

    def __init__(self, message: str, log: Path) -> None:
        super().__init__(message)
        self.log = log


class Interrupted(Exception):
    """Somebody asked to stop while parts were still being started."""


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Part:
    """One program that runs as long as we do."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    log: Path
    ready: Callable[[], bool]
    prepare: Callable[[], None] = _nothing
    stop_signal: signal.Signals = signal.SIGTERM
    start_seconds: float = 60.0


@dataclass
class _Run:
    """A part's process, and what is known of its falls."""

    part: Part
    process: subprocess.Popen[bytes]
    began: float
    falls: int = 0
    again_at: float | None = None


@dataclass
class Supervisor:
    say: Callable[[str], None]
    record: Path  # which processes are ours, for whoever comes after a hard stop
    asked_to_stop: Event = field(default_factory=Event)
    _runs: dict[str, _Run] = field(default_factory=dict)
    _errands: dict[str, int] = field(default_factory=dict)

    def begin(self, part: Part) -> None:
        """Start a part without waiting for it."""
        part.prepare()
        self._runs[part.name] = _Run(part, _spawn(part), time.monotonic())
        self._remember()

    def wait(self, part: Part) -> None:
        """Wait until a part is ready, and say how long that took.

        Raises PartFailed when it ends or takes too long, Interrupted when asked to stop.
        """
        run = self._runs[part.name]
        while not part.ready():
            self._check_still_starting(run)
            time.sleep(LOOK_EVERY)
        self.say(f"{part.name}: ready after {time.monotonic() - run.began:.1f} s")

    def _check_still_starting(self, run: _Run) -> None:
        part = run.part
        if self.asked_to_stop.is_set():
            raise Interrupted
        code = run.process.poll()
        if code is not None:
            raise PartFailed(
                f"{part.name} could not start ({_ending(code)}); see {part.log}", part.log
            )
        if time.monotonic() - run.began > part.start_seconds:
            raise PartFailed(
                f"{part.name} was not ready after {part.start_seconds:.0f} s; see {part.log}",
                part.log,
            )

    @contextmanager
    def errand(self, name: str, pid: int) -> Iterator[None]:
        """Remember a program that runs to its end, for the block: a hard stop leaves it too."""
        self._errands[name] = pid
        self._remember()
        try:
            yield
        finally:
            del self._errands[name]
            self._remember()

    def watch(self, *, until: Callable[[], bool]) -> None:
        """Keep everything running until then, or until asked to stop."""
        while not self.asked_to_stop.is_set() and not until():
            for run in self._runs.values():
                self._look_after(run)
            # Not `asked_to_stop.wait`: a signal that arrives while it holds the event's lock would
            # have its handler wait for that lock for ever, in this very thread.
            time.sleep(LOOK_EVERY)

    def _look_after(self, run: _Run) -> None:
        if run.again_at is not None:
            if time.monotonic() >= run.again_at:
                self._start_again(run)
        elif run.process.poll() is not None:
            self._plan_another_start(run)

    def _plan_another_start(self, run: _Run) -> None:
        now = time.monotonic()
        run.falls = 1 if now - run.began > WELL_AFTER else run.falls + 1
        pause = _pause(run.falls)
        run.again_at = now + pause
        self.say(
            f"{run.part.name}: ended ({_ending(run.process.returncode)});"
            f" starting it again in {pause:g} s; see {run.part.log}"
        )

    def _start_again(self, run: _Run) -> None:
        # Whatever the dead process had started would hold its port.
        _signal_group(run.process.pid, signal.SIGKILL)
        try:
            run.part.prepare()
            run.process = _spawn(run.part)
        except (ServerFailed, OSError) as failure:
            run.falls += 1
            run.again_at = time.monotonic() + _pause(run.falls)
            self.say(f"{run.part.name}: could not be started again: {failure}")
            return
        run.began, run.again_at = time.monotonic(), None
        self._remember()
        self.say(f"{run.part.name}: started again")

    def stop(self) -> None:
        """Stop every part, the last started first; what does not go is killed."""
        for run in reversed(list(self._runs.values())):
            self._stop_one(run)
        self._runs.clear()
        self.record.unlink(missing_ok=True)

    def _stop_one(self, run: _Run) -> None:
        with suppress(ProcessLookupError):
            run.process.send_signal(run.part.stop_signal)
        try:
            run.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.say(f"{run.part.name}: did not stop in {STOP_SECONDS:.0f} s and was killed")
        _signal_group(run.process.pid, signal.SIGKILL)
        run.process.wait()

    def _remember(self) -> None:
        """Write down what runs: a pid alone may belong to somebody else by the time it is read."""
        parts = [(run.part.name, run.process.pid) for run in self._runs.values()]
        known = [*parts, *self._errands.items()]
        lines = [{"name": name, "pid": pid, "began": _start_of(pid)} for name, pid in known]
        # Whole or not at all: half a record would stop every later start.
        write_private(self.record, json.dumps(lines))


def stop_leftovers(record: Path, *, say: Callable[[str], None]) -> None:
    """Stop what a supervisor that was killed left running; nothing else is touched."""
    if not record.exists():
        return
    for line in reversed(json.loads(record.read_text())):
        began = _start_of(line["pid"])
        if began is None or abs(began - (line["began"] or 0)) > SAME_START:
            continue
        say(f"Stopping {line['name']}, which an earlier start left behind")
        _end(psutil.Process(line["pid"]))
    record.unlink()


def _end(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
        process.send_signal(signal.SIGINT)  # every part of ours stops on it
        process.wait(STOP_SECONDS)
    _signal_group(process.pid, signal.SIGKILL)


def _spawn(part: Part) -> subprocess.Popen[bytes]:
    """Start in a session of its own: Ctrl-C reaches the supervisor alone, which knows the order."""
    part.log.parent.mkdir(parents=True, exist_ok=True)
    with part.log.open("ab") as log:
        return subprocess.Popen(
            part.command,
            env=dict(part.environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _signal_group(leader: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, what)


def _start_of(pid: int) -> float | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.NoSuchProcess:
        return None


def _pause(falls: int) -> float:
    # Bounded before it is computed: a part may fall for days.
    return min(0.5 * 2.0 ** (min(falls, 10) - 1), LONGEST_PAUSE)


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
