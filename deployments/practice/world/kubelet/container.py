"""One container of a pod as its kubelet knows it: the state it is in, and how that reads in a
status.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from deployments.practice.jsons import seconds_of, timestamp
from deployments.practice.world.kubelet.images import Image
from deployments.practice.world.kubelet.probes import Probe
from deployments.practice.world.program import Exit, Program
from deployments.practice.world.quantities import amount

Obj = dict[str, Any]

NEVER = float("inf")
FIRST_BACK_OFF = 10.0
LONGEST_BACK_OFF = 300.0
FORGIVEN_AFTER = 600.0
MESSAGE_LINES = 80
MESSAGE_BYTES = 2048
EPOCH = "1970-01-01T00:00:00Z"
START_ERROR = "StartError"


class Step(StrEnum):
    """What happens next to a container, at its `due`."""

    BEGIN = "begin"
    PULLING = "pulling"
    PULL_FAILED = "pull failed"
    CREATE = "create"
    RUNNING = "running"
    EXITED = "exited"
    OVER = "over"


def doubled(times: int) -> float:
    """Return the first back-off doubled so many times, up to the longest."""
    # Beyond twenty the number would only grow too large to compute.
    return min(FIRST_BACK_OFF * float(2 ** min(times, 20)), LONGEST_BACK_OFF)


@dataclass
class Container:
    """The memory of one container; `state` and `last_state` are as in its status."""

    spec: Obj
    state: Obj
    step: Step = Step.BEGIN
    due: float = 0.0
    last_state: Obj = field(default_factory=dict)
    restarts: int = 0
    created_before: bool = False
    crashes: int = 0
    pulls_failed: int = 0
    last_pull: float = 0.0
    pull_problem: str = ""
    image: Image | None = None
    program: Program | None = None
    previous: tuple[Program, Exit, float | None] | None = None
    told_to_stop: float | None = None
    killed_at: float = NEVER
    container_id: str = ""
    probes: list[Probe] = field(default_factory=list)
    started: bool = False
    ready: bool = False

    @property
    def name(self) -> str:
        found: str = self.spec["name"]
        return found

    def wait(self, reason: str, message: str = "") -> None:
        said = {"reason": reason} | ({"message": message} if message else {})
        self.state = {"waiting": said}
        self.ready = self.started = False

    # Starting

    def run(self, program: Program) -> None:
        """Go on as running; the probes begin to count."""
        self.program = program
        self.told_to_stop, self.killed_at = None, NEVER
        self.container_id = f"containerd://{secrets.token_hex(32)}"
        self._remember_state()
        self.state = {"running": {"startedAt": timestamp(program.started_at)}}
        self.step = Step.RUNNING
        self.watch(program.started_at)

    def watch(self, since: float) -> None:
        """Set up the probes of a container that runs since then."""
        names = {
            "Startup": "startupProbe",
            "Readiness": "readinessProbe",
            "Liveness": "livenessProbe",
        }
        self.probes = [
            Probe.of(kind, self.spec[field], since)
            for kind, field in names.items()
            if self.spec.get(field)
        ]
        kinds = [probe.kind for probe in self.probes]
        self.started = "Startup" not in kinds
        self.ready = self.started and "Readiness" not in kinds

    def _remember_state(self) -> None:
        if "terminated" in self.state:
            self.last_state = self.state

    # Ending

    def exit(self) -> Exit | None:
        """Return how it ends, as far as is known now: by itself, by the signal, or killed."""
        if self.program is None:
            return None
        end = self.program.ends(self.told_to_stop)
        if end is None or end.at > self.killed_at:
            killed = Exit(self.killed_at, 137, "Error")
            return killed if self.killed_at < NEVER else None
        return end

    def end(self, end: Exit) -> None:
        """Go on as terminated."""
        program = self.program
        if program is None:
            return
        self.previous = (program, end, self.told_to_stop)
        if end.at - program.started_at > FORGIVEN_AFTER:
            self.crashes = 0
        self.crashes += 1
        self.state = {"terminated": self._terminated(program, end)}
        self.step, self.program, self.probes = Step.EXITED, None, []
        self.ready = self.started = False

    def _terminated(self, program: Program, end: Exit) -> Obj:
        said: Obj = {"exitCode": end.code, "reason": end.reason}
        message = self._message(program, end)
        said |= {"message": message} if message else {}
        return said | {
            "startedAt": timestamp(program.started_at),
            "finishedAt": timestamp(end.at),
            "containerID": self.container_id,
        }

    def _message(self, program: Program, end: Exit) -> str:
        """Return the end of the output, where the pod asks for it and it failed."""
        if end.code == 0 or self.spec.get("terminationMessagePolicy") != "FallbackToLogsOnError":
            return ""
        lines = program.output(end.at, self.told_to_stop)[-MESSAGE_LINES:]
        return "".join(f"{line}\n" for line in lines)[-MESSAGE_BYTES:]

    def fail_to_start(self, problem: str, now: float) -> None:
        """The runtime refused the command: waiting, with the failed start as the last state."""
        self.last_state = self._failed_start(problem, now)
        self.crashes += 1
        self.wait("RunContainerError", problem)
        self.step = Step.EXITED

    def fail_for_good(self, problem: str, now: float) -> None:
        """The runtime refused the command, and nothing starts it again: it has ended with that."""
        self.state = self._failed_start(problem, now)
        self.ready = self.started = False
        self.step = Step.OVER

    def _failed_start(self, problem: str, now: float) -> Obj:
        self.container_id = f"containerd://{secrets.token_hex(32)}"
        failed = {"exitCode": 128, "reason": START_ERROR, "message": problem}
        times = {"startedAt": EPOCH, "finishedAt": timestamp(now), "containerID": self.container_id}
        return {"terminated": failed | times}

    # Waiting

    def back_off(self) -> float:
        """Return how long to wait before the next start: nothing, 10 s, 20 s, up to 5 min."""
        if self.crashes <= 1:
            return 0.0
        return doubled(self.crashes - 2)

    def pull_back_off(self) -> float:
        return doubled(self.pulls_failed - 1)

    def last_end(self) -> float:
        ended = self.state.get("terminated") or self.last_state.get("terminated")
        return seconds_of(ended["finishedAt"]) if ended else 0.0

    @property
    def memory_limit(self) -> int | None:
        limit = ((self.spec.get("resources") or {}).get("limits") or {}).get("memory")
        return int(amount(limit)) if limit is not None else None

    # Reporting

    def status(self, image_id: str) -> Obj:
        """Return the entry of `containerStatuses`."""
        found: Obj = {
            "name": self.name,
            "state": self.state,
            "lastState": self.last_state,
            "ready": self.ready,
            "restartCount": self.restarts,
            "image": self.spec["image"],
            "imageID": image_id,
            "started": self.started,
            "resources": self.spec.get("resources") or {},
        }
        return found | ({"containerID": self.container_id} if self.container_id else {})
