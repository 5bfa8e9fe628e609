"""Who is ready, for how long without a break, and whether a spell of unreadiness is open.

A release's readiness is its primary process's. Clocks: `ready` per pod, `been-ready` per pod,
`unready` for a spell (specification §7, Readiness).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from deployments.domain import clocks, names
from deployments.domain.clocks import Clock, Sighting
from deployments.domain.observations import Answer, Pod, Seen
from deployments.domain.releases import Process, ProcessKind
from deployments.domain.states import State
from deployments.domain.wanted import Attempt, Release, Wanted

READY = "ready"
BEEN_READY = "been-ready"
UNREADY = "unready"

MOST_CHECKS_IN_A_LOOK = 10
OVERDUE_AFTER = timedelta(minutes=5)
CHECKED_IN = frozenset({State.QUALIFYING, State.DRAINING})


@dataclass(frozen=True)
class Check:
    """A readiness check to carry out through the API server's proxy. `kind` is http or tcp."""

    kind: str
    service: str
    port: int
    path: str
    times: int


def check_wanted(wanted: Wanted) -> Check | None:
    """Return the check that this look owes, None in the stages that have none."""
    for attempt in wanted.moving:
        primary = attempt.release.config.primary
        if attempt.state in CHECKED_IN and primary is not None and primary.port is not None:
            return _check(wanted.service, attempt.release, primary)
    return None


def _check(service: str, release: Release, primary: Process) -> Check:
    return Check(
        kind="http" if primary.kind is ProcessKind.HTTP else "tcp",
        service=names.release_service_name(service, release.number),
        port=listens_on(primary),
        path=primary.readiness_path or "/",
        times=min(primary.replicas, MOST_CHECKS_IN_A_LOOK),
    )


def listens_on(primary: Process) -> int:
    """Return the port of a Service: 80 for http, else the worker's own."""
    return 80 if primary.kind is ProcessKind.HTTP else primary.port or 0


def ready_pods(release: Release, seen: Seen) -> tuple[Pod, ...]:
    """Return the live pods of the primary process whose Ready condition holds."""
    primary = release.config.primary
    if primary is None:
        return ()
    return tuple(pod for pod in seen.live_pods_of(release.number, primary.name) if pod.ready)


def desired(release: Release, seen: Seen) -> int:
    """Return how many replicas of the primary there are to be, 0 where there is no primary."""
    primary = release.config.primary
    return desired_of(primary, release.number, seen) if primary is not None else 0


def desired_of(process: Process, number: int, seen: Seen) -> int:
    """Return how many replicas of a process there are to be: the live number, once there is one.

    What somebody scaled by hand counts as desired.
    """
    workload = seen.workload(number, process.name)
    return workload.replicas if workload is not None and workload.replicas else process.replicas


def sightings(attempt: Attempt, seen: Seen) -> tuple[Sighting, ...]:
    """Return which pods are ready in this look and which have ever been, and an open spell."""
    pods = _primary_pods(attempt.release, seen)
    ready = tuple(
        Sighting(READY, pod.uid, pod.ready_changed.isoformat() if pod.ready_changed else "")
        for pod in pods
        if pod.ready
    )
    been = tuple(
        Sighting(BEEN_READY, pod.uid)
        for pod in pods
        if pod.ready or clocks.find(attempt.clocks, BEEN_READY, pod.uid)
    )
    spell = why_unready(attempt, seen) if attempt.past else None
    return (*ready, *been, *((Sighting(UNREADY, detail=spell),) if spell is not None else ()))


def stayed_ready(attempt: Attempt, seen: Seen, running: Iterable[Clock]) -> int:
    """Return how many replicas have stayed ready for the stabilization time without a break."""
    primary = attempt.release.config.primary
    if primary is None:
        return 0
    enough = timedelta(seconds=primary.stabilization_seconds)
    alive = {pod.uid for pod in ready_pods(attempt.release, seen)}
    return sum(
        clock.cause == READY and clock.subject in alive and clock.seen_for(seen.now) >= enough
        for clock in running
    )


def why_unready(attempt: Attempt, seen: Seen) -> str | None:
    """Return why a spell of unreadiness is open, None when none is."""
    if attempt.release.config.primary is None:
        return None
    ready = len(ready_pods(attempt.release, seen))
    if ready == 0:
        return "no replica is ready"
    fallen = [pod.name for pod in _primary_pods(attempt.release, seen) if _fell(pod, attempt, seen)]
    if fallen:
        return f"{fallen[0]} is not ready"
    return _why_by_check(attempt, seen)


def check_passes(attempt: Attempt, seen: Seen) -> bool:
    """Whether the agent's own check says yes; a release without a port has none to pass."""
    if not attempt.release.config.has_port:
        return True
    return seen.check is not None and seen.check.answer is Answer.YES


def _why_by_check(attempt: Attempt, seen: Seen) -> str | None:
    if attempt.state not in CHECKED_IN or seen.check is None:
        return None
    if seen.check.answer is Answer.NO:
        return seen.check.detail
    # Neither yes nor no leaves a spell as it was: silence must not heal a release.
    open_spell = clocks.find(attempt.clocks, UNREADY)
    if seen.check.answer is Answer.UNKNOWN and open_spell is not None:
        return open_spell.detail
    return None


def _fell(pod: Pod, attempt: Attempt, seen: Seen) -> bool:
    # A pod that is lost with its node says nothing about the release.
    lost = pod.node in seen.silent_nodes
    been = clocks.find(attempt.clocks, BEEN_READY, pod.uid) is not None
    return been and not pod.ready and not lost


def _primary_pods(release: Release, seen: Seen) -> tuple[Pod, ...]:
    primary = release.config.primary
    return seen.live_pods_of(release.number, primary.name) if primary is not None else ()


def has_stopped(pod: Pod, seen: Seen) -> bool:
    """Whether a pod counts as stopped: ended, long overdue, or overdue on a silent node."""
    if pod.finished:
        return True
    if pod.deletion_due is None:
        return False
    patience = timedelta(0) if pod.node in seen.silent_nodes else OVERDUE_AFTER
    return seen.now > pod.deletion_due + patience


def all_stopped(number: int, seen: Seen) -> bool:
    """Whether no long-running pod of a release runs any more, nor is about to be made."""
    idle = all(
        w.settled and not w.replicas for w in seen.workloads_of(number) if not w.meta.deleting
    )
    return idle and all(has_stopped(pod, seen) for pod in seen.pods_of_release(number))
