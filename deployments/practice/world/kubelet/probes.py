"""Probes of a container: when the next one is due, what it says, and what the count of answers
means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deployments.practice.world.controllers.endpoints import named_port

Obj = dict[str, Any]

NEVER = float("inf")
FIRST_AFTER = 0.3
# (port, path, time-out) -> what went wrong, empty when the answer is good.
Ask = Callable[[int, str | None, float], str]


@dataclass
class Probe:
    """One probe of one running container; `kind` is Readiness, Liveness or Startup."""

    kind: str
    spec: Obj
    due: float
    good: int = 0
    bad: int = 0

    @classmethod
    def of(cls, kind: str, spec: Obj, started_at: float) -> Probe:
        return cls(kind, spec, started_at + max(spec.get("initialDelaySeconds", 0), FIRST_AFTER))

    def run(self, pod: Obj, ask: Ask, now: float) -> str:
        """Ask once, count, and return what went wrong (empty: nothing)."""
        self.due = now + float(self.spec["periodSeconds"])
        problem = self._ask(pod, ask)
        self.good, self.bad = (0, self.bad + 1) if problem else (self.good + 1, 0)
        return problem

    def _ask(self, pod: Obj, ask: Ask) -> str:
        timeout = float(self.spec["timeoutSeconds"])
        if "httpGet" in self.spec:
            get = self.spec["httpGet"]
            return ask(_number(get["port"], pod), get.get("path", "/"), timeout)
        if "tcpSocket" in self.spec:
            return ask(_number(self.spec["tcpSocket"]["port"], pod), None, timeout)
        # Commands and gRPC are not imitated: they always succeed.
        return ""

    @property
    def passed(self) -> bool:
        return self.good >= int(self.spec.get("successThreshold", 1))

    @property
    def failed(self) -> bool:
        return self.bad >= int(self.spec.get("failureThreshold", 3))


def _number(port: int | str, pod: Obj) -> int:
    return port if isinstance(port, int) else named_port(pod, port) or 0
