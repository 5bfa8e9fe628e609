"""The agent without a database: the steps of `agent/loop.py` over rows in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from deployments.agent.cluster import CommandRefused, Stale, Unreachable
from deployments.domain import object_names, readiness, reconcile, tags, traffic
from deployments.domain.commands import Create, Errand, KeepOutput
from deployments.domain.deadlines import Limits
from deployments.domain.observations import ObjectKind, Resolution, Seen
from deployments.domain.states import State
from deployments.domain.step import Step, Ticking
from deployments.domain.wanted import Attempt, Wanted
from tests.simulation.events import Image, Point
from tests.simulation.kube import Kube
from tests.simulation.rows import Rows

NAMES_LOOKED_AT_IN = frozenset({State.ADMITTED, State.RELEASING, State.STARTING})


@dataclass
class Worker:
    """One worker process. `guarded` False lets a look go on whatever has changed since."""

    rows: Rows
    kube: Kube
    limits: Limits
    guarded: bool = True

    def look(self) -> None:
        """Take one look, unless another one holds the lease or nobody answers."""
        lease = self.rows.take_lease(self.kube.now)
        if lease is None:
            return
        try:
            self._look(lease)
        except Unreachable:
            return
        finally:
            # `Died` passes here too; a killed process gives nothing back.
            if self.kube.alive:
                self.rows.give_lease_back(lease)

    def _look(self, lease: int) -> None:
        generation, wanted = self.rows.generation, self.rows.wanted()
        now, seen = self.kube.now, self._see(wanted)
        step = reconcile.decide(wanted, seen, limits=self.limits)
        acting = _Acting(self, lease, wanted)
        acting.run(step)
        self.kube.pass_point(Point.RECORD)
        if not self.rows.stands(lease, wanted, self.kube.now):
            return
        self._note(acting.uids)
        self.kube.pass_point(Point.NOTED)
        self.rows.record(acting.with_refusal(step, seen), generation=generation, now=now)

    def _note(self, uids: dict[tuple[int, str], str]) -> None:
        for (deployment, name), uid in uids.items():
            self.rows.row(deployment).jobs.setdefault(name, uid)

    def _see(self, wanted: Wanted) -> Seen:
        kube, attempt = self.kube, wanted.before
        seen = kube.seen(wanted, readiness.check_wanted(wanted))
        if attempt is None:
            return seen
        if attempt.state is State.PENDING:
            return replace(seen, resolution=self._resolve(attempt))
        if attempt.state in NAMES_LOOKED_AT_IN:
            ours = {f"{kind} {name}" for kind, name in object_names.of(wanted, attempt)}
            return replace(seen, taken=tuple(name for name in kube.taken if name in ours))
        return seen

    def _resolve(self, attempt: Attempt) -> Resolution | None:
        if attempt.release.image or not tags.ask_now(attempt.clocks, self.kube.now):
            return None
        number = attempt.release.number
        if self.kube.images[number] is Image.UNKNOWN_TAG:
            return Resolution(refused="manifest unknown")
        self.rows.releases[number - 1].digest = f"sha256:{number}"
        return Resolution(digest=f"sha256:{number}")


class _Acting:
    """The commands of one look, carried out in order while the guard stands."""

    def __init__(self, worker: Worker, lease: int, wanted: Wanted) -> None:
        self.worker, self.lease, self.wanted = worker, lease, wanted
        self.uids: dict[tuple[int, str], str] = {}
        self.refusal = ""

    def run(self, step: Step) -> None:
        for command in step.commands:
            if not self._stands():
                return
            if not isinstance(command, KeepOutput):
                self._carry_out(command)

    def _stands(self) -> bool:
        worker = self.worker
        return not worker.guarded or worker.rows.stands(self.lease, self.wanted, worker.kube.now)

    def _carry_out(self, command: Errand) -> None:
        try:
            made = self.worker.kube.run(command, self.wanted)
        except Stale:
            return
        except CommandRefused as refusal:
            self.refusal = str(refusal) if traffic.switches(command) else self.refusal
            return
        if isinstance(command, Create) and command.kind is ObjectKind.JOB and made is not None:
            assert command.deployment is not None
            self.uids[command.deployment, command.name] = made.ref.uid

    def with_refusal(self, step: Step, seen: Seen) -> Step:
        """Let the clock of a refused switch run on."""
        last = self.wanted.last_past
        if not self.refusal or last is None:
            return step

        def after(ticking: Ticking) -> Ticking:
            if ticking.deployment != last.id:
                return ticking
            clocks = reconcile.clocks_after_refusal(ticking.clocks, self.refusal, self.wanted, seen)
            return replace(ticking, clocks=clocks)

        return replace(step, ticking=tuple(map(after, step.ticking)))
