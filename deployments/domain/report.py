"""What a look tells a card about a slot: what serves, with how many, and who scaled it by hand."""

from __future__ import annotations

from deployments.domain import readiness, traffic, upkeep
from deployments.domain.observations import Seen, Workload
from deployments.domain.step import Report
from deployments.domain.wanted import Release, Wanted


def report(wanted: Wanted, seen: Seen) -> Report:
    """Return what was seen of the slot. Counts are the serving release's primary process's."""
    serving = wanted.release(serving_number(wanted, seen))
    if serving is None:
        return Report(None, 0, 0, rolling=False)
    return Report(
        serving=serving.number,
        ready=len(readiness.ready_pods(serving, seen)),
        desired=readiness.desired(serving, seen),
        rolling=_rolling(serving, seen),
        detail=_detail(serving, seen),
        scaled_by_hand=_scaled_by_hand(wanted, seen),
    )


def serving_number(wanted: Wanted, seen: Seen) -> int | None:
    """Return the release that the stable Service selects; without a port the one in charge."""
    service = traffic.stable(wanted, seen)
    if service is not None and service.selects is not None:
        return service.selects
    target = wanted.target
    if target is None or target.config.has_port:
        return None
    return target.number


def _rolling(serving: Release, seen: Seen) -> bool:
    # Pods that stop beside pods that run: a restart or a resume is under way.
    pods = seen.pods_of_release(serving.number)
    return any(pod.deleting for pod in pods) and not all(pod.deleting for pod in pods)


def _detail(serving: Release, seen: Seen) -> str:
    waiting = [p.waiting for p in seen.pods_of_release(serving.number) if p.waiting]
    return waiting[0] if waiting else ""


def _scaled_by_hand(wanted: Wanted, seen: Seen) -> tuple[str, ...]:
    runs = upkeep.running(wanted, seen)
    return tuple(
        _words(workload)
        for workload in seen.workloads
        if workload.meta.release in runs and _by_hand(workload, wanted)
    )


def _by_hand(workload: Workload, wanted: Wanted) -> bool:
    release = wanted.release(workload.meta.release)
    processes = release.config.long_running if release is not None else ()
    chosen = {process.name: process.replicas for process in processes}
    return workload.replicas not in {0, chosen.get(workload.meta.process, workload.replicas)}


def _words(workload: Workload) -> str:
    return f"{workload.meta.process}: {workload.replicas}"
