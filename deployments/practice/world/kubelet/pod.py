"""One pod on its node, step by step: sandbox, pull, start, probes, crashes, stop, end.

Each step happens at its time and says when the next is due; how long things take is from the real
cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.world.hands import Hands
from deployments.practice.world.kubelet import starting, status, stopping
from deployments.practice.world.kubelet.container import NEVER, Container, Step
from deployments.practice.world.kubelet.images import Lookup, Reach
from deployments.practice.world.kubelet.probes import Ask, Probe
from deployments.practice.world.view import View, is_going, is_over

Obj = dict[str, Any]

SANDBOX_TAKES = 0.5
SEEN_AFTER = 0.5
NOTICED_AFTER = 0.4
RESTARTED_AFTER = 0.1
BACK_OFF_SHOWS_AFTER = 1.0
REPEATED_EVERY = 13.0
FINAL_AFTER = 1.0
REMOVED_AFTER = 0.7


@dataclass(frozen=True)
class Node:
    """What a pod needs of its node: images that it has, the registries, a way to ask a port."""

    host_ip: str
    lookup: Lookup
    reach: Reach
    present: set[str]
    ask: Callable[[str], Ask]


@dataclass
class PodRun:
    """The memory of one pod. `pod` is the object as last seen."""

    pod: Obj
    view: View = field(repr=False)
    hands: Hands = field(repr=False)
    node: Node = field(repr=False)
    containers: list[Container]
    ip: str
    begun_at: float
    sandbox_at: float
    write_at: float = NEVER
    over_since: float = NEVER
    stopping_since: float | None = None
    grace: float = 0.0
    due: float = 0.0

    def look(self, pod: Obj, view: View, hands: Hands) -> float:
        """Do everything that is due. Return when to look again."""
        now = view.now
        if pod is self.pod and now < self.due:
            return self.due
        changed = pod is not self.pod
        self.pod, self.view, self.hands = pod, view, hands
        if is_going(pod):
            stopping.stop_pod(self, now)
        for container in self.containers:
            self._step(container, now)
        self._note_end(now)
        self._report(now, changed=changed)
        self.due = self._next_due()
        return self.due

    def _next_due(self) -> float:
        dues = [c.due for c in self.containers if c.step is not Step.OVER]
        if self.over_since < NEVER and not (is_over(self.pod) and not is_going(self.pod)):
            wait = REMOVED_AFTER if is_going(self.pod) else FINAL_AFTER
            dues.append(max(self.over_since + wait, self.view.now + 0.05))
        return min([*dues, self.write_at], default=NEVER)

    def tell(self, container: Container, kind: str, reason: str, message: str) -> None:
        place = f"spec.containers{{{container.name}}}"
        self.hands.tell(self.pod, kind, reason, message, field=place)

    def show(self, after: float, now: float) -> None:
        """Write the status after so many seconds: what happens until then is seen as one change."""
        self.write_at = min(self.write_at, now + after)

    @property
    def full_name(self) -> str:
        metadata = self.pod["metadata"]
        return f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"

    # Steps of a container

    def _step(self, container: Container, now: float) -> None:
        # One look may take several steps: a pull that ended leads on to the start.
        for _ in range(8):
            if container.step is Step.OVER or now < container.due:
                return
            STEPS[container.step](self, container, now)

    def running(self, container: Container, now: float) -> None:
        end = container.exit()
        if end is not None and now >= end.at + NOTICED_AFTER:
            self._ended(container, now)
            return
        for probe in container.probes:
            if probe.due <= now and (end is None or now < end.at):
                self._probe(container, probe, now)
        end = container.exit()
        dues = [probe.due for probe in container.probes]
        dues.append(end.at + NOTICED_AFTER if end is not None else NEVER)
        container.due = max(min(dues), now + 0.01)

    def _ended(self, container: Container, now: float) -> None:
        end = container.exit()
        if end is None:
            return
        was_restarted_by_probe = container.told_to_stop is not None and not is_going(self.pod)
        container.end(end)
        pause = BACK_OFF_SHOWS_AFTER if container.back_off() else RESTARTED_AFTER
        # A pod that stops is told of once, when all of it has ended.
        container.due = now if self.stopping_since is not None else now + pause
        if self.stopping_since is None and (not was_restarted_by_probe or container.back_off()):
            self.show(0, now)

    def exited(self, container: Container, now: float) -> None:
        """Restart it, at once or after its back-off, or leave it."""
        if self.stopping_since is not None or not self._restarts(container):
            container.step = Step.OVER
            return
        resume = container.last_end() + container.back_off()
        if container.back_off() and now < resume:
            self._wait_in_crash_loop(container, resume, now)
            return
        container.step, container.due = Step.BEGIN, now

    def _restarts(self, container: Container) -> bool:
        policy = self.pod["spec"].get("restartPolicy", "Always")
        ended = container.state.get("terminated") or container.last_state["terminated"]
        return bool(policy == "Always" or (policy == "OnFailure" and ended["exitCode"]))

    def _wait_in_crash_loop(self, container: Container, resume: float, now: float) -> None:
        if "terminated" in container.state:
            container.last_state = container.state
        name = container.name
        message = f"Back-off restarting failed container {name} in pod {self.full_name}"
        self.tell(container, "Warning", "BackOff", message)
        seconds = int(container.back_off())
        text = f"{seconds // 60}m{seconds % 60}s" if seconds >= 60 else f"{seconds}s"  # noqa: PLR2004
        said = f"back-off {text} restarting failed container={name} pod={self.full_name}"
        if container.state.get("waiting", {}).get("message") != said:
            container.wait("CrashLoopBackOff", said)
            self.show(0, now)
        container.due = min(resume, now + REPEATED_EVERY)

    def _probe(self, container: Container, probe: Probe, now: float) -> None:
        if not self._counts(container, probe):
            probe.due = now + float(probe.spec["periodSeconds"])
            return
        problem = probe.run(self.pod, self.node.ask(self.pod["metadata"]["uid"]), now)
        if problem:
            self.tell(container, "Warning", "Unhealthy", f"{probe.kind} probe failed: {problem}")
        before = (container.ready, container.started)
        if probe.kind == "Readiness":
            container.ready = probe.passed or (container.ready and not probe.failed)
        elif probe.kind == "Startup" and probe.passed:
            container.started = True
            container.ready = all(p.kind != "Readiness" for p in container.probes)
        if probe.kind != "Readiness" and probe.failed:
            stopping.restart(self, container, probe, now)
        if before != (container.ready, container.started):
            self.show(0, now)

    def _counts(self, container: Container, probe: Probe) -> bool:
        """Others wait for the startup probe; a pod that stops is only asked whether it is ready."""
        if is_going(self.pod) or container.told_to_stop is not None:
            return probe.kind == "Readiness" and container.started
        return container.started != (probe.kind == "Startup")

    # Ending and reporting

    def _note_end(self, now: float) -> None:
        over = all(c.step is Step.OVER for c in self.containers)
        if over and self.over_since == NEVER:
            self.over_since = now
            self.show(0, now)

    def _report(self, now: float, *, changed: bool) -> None:
        over_for = now - self.over_since
        if is_going(self.pod) and over_for >= REMOVED_AFTER and is_over(self.pod):
            self._remove()
            return
        if over_for >= FINAL_AFTER and not is_over(self.pod):
            self.write_at = min(self.write_at, now)
        waits = self.write_at == NEVER
        if now >= self.write_at or (changed and waits):
            self._write(now)

    def _write(self, now: float) -> None:
        final = self.over_since < NEVER and (
            is_going(self.pod) or now - self.over_since >= FINAL_AFTER
        )
        seen = status.Seen(
            ip=self.ip if now >= self.sandbox_at else "",
            host_ip=self.node.host_ip,
            started_at=self.begun_at,
            has_sandbox=now >= self.sandbox_at,
            final=final,
        )
        wanted = status.render(self.pod, self.containers, seen, now)
        try:
            self.hands.status("pods", self.pod, wanted)
        except ApiError:
            # Changed meanwhile: written with the next look.
            self.write_at = now
            return
        self.write_at = NEVER

    def _remove(self) -> None:
        try:
            self.hands.remove("pods", self.pod)
        except ApiError:
            return


STEPS: dict[Step, Callable[[PodRun, Container, float], None]] = {
    Step.BEGIN: starting.begin,
    Step.PULLING: starting.pulled,
    Step.PULL_FAILED: starting.wait_to_pull,
    Step.CREATE: starting.create,
    Step.RUNNING: PodRun.running,
    Step.EXITED: PodRun.exited,
}
