"""Where traffic is, where it is to be, and the writes that take it there, either way.

Traffic follows the deployment that passed the point of no return last: to its release, or back to
the previous one. Before it goes anywhere the slot's fence is written on the stable Service and on
the slot's Deployments and CronJobs and read back, so that a look that was held up can write
nothing any more.
"""

from __future__ import annotations

from deployments.domain import names, readiness
from deployments.domain.commands import Command, Create, Errand, PointTraffic, WriteFence
from deployments.domain.observations import (
    CronJobSeen,
    ObjectKind,
    Seen,
    ServiceSeen,
    Workload,
)
from deployments.domain.wanted import Release, Wanted


def selection(wanted: Wanted) -> int | None:
    """Return the number of the release that the stable Service is to select, None for nothing."""
    target = wanted.target
    return target.number if target is not None and target.config.has_port else None


def stable(wanted: Wanted, seen: Seen) -> ServiceSeen | None:
    """Return the stable Service, None while there is none."""
    return seen.service(names.stable_service_name(wanted.service))


def needs_stable(wanted: Wanted) -> bool:
    """Whether there has to be a stable Service: from the first release with a port on."""
    return selection(wanted) is not None


def points_right(wanted: Wanted, seen: Seen) -> bool:
    """Whether the stable Service selects what it should; true where none is needed."""
    service = stable(wanted, seen)
    if service is None:
        return not needs_stable(wanted)
    return dict(service.selector) == _selector(wanted, service) and _ports_right(wanted, service)


def _selector(wanted: Wanted, service: ServiceSeen) -> dict[str, str]:
    target = wanted.target
    primary = target.config.primary if target is not None else None
    # Where nothing serves, any process name will do: keep the one that is there.
    process = primary.name if primary is not None else service.selector.get(names.PROCESS, "")
    return names.stable_selector(wanted.place, number=selection(wanted), process=process)


def _ports_right(wanted: Wanted, service: ServiceSeen) -> bool:
    target = wanted.target
    primary = target.config.primary if target is not None else None
    if primary is None or primary.port is None:
        return True
    expected = (names.MAIN_PORT, readiness.listens_on(primary), names.MAIN_PORT)
    return service.ports == (expected,)


def endpoints_are(release: Release | None, seen: Seen) -> bool:
    """Whether somebody is behind the stable Service, and only this release's pods.

    For None: whether nobody is.
    """
    behind = {endpoint.pod for endpoint in seen.endpoints if endpoint.ready}
    primary = release.config.primary if release is not None else None
    if release is None or primary is None:
        return not behind
    own = {pod.uid for pod in seen.pods_of(release.number, primary.name)}
    return bool(behind) and behind <= own


def has_arrived(wanted: Wanted, seen: Seen) -> bool:
    """Whether traffic is where it is to be, as far as the cluster shows."""
    if not points_right(wanted, seen):
        return False
    if selection(wanted) is not None:
        return endpoints_are(wanted.target, seen)
    return endpoints_are(None, seen) and _works(wanted, seen)


def _works(wanted: Wanted, seen: Seen) -> bool:
    # Without a port, having traffic means that somebody works.
    target = wanted.target
    if target is None or target.config.primary is None:
        return True
    return bool(readiness.ready_pods(target, seen)) and enough_ready_to_go_back(wanted, seen)


def is_leaving(wanted: Wanted, seen: Seen) -> bool:
    """Whether a way back is under way: its release has traffic yet, or runs yet.

    Once it is over, nothing that befalls the previous release may bring the other one back.
    """
    leaving, service = wanted.going_back, stable(wanted, seen)
    if leaving is None:
        return False
    number = leaving.release.number
    runs = any(w.replicas for w in seen.workloads_of(number) if not w.meta.deleting)
    return leaving.moving or runs or (service is not None and service.selects == number)


def is_back(wanted: Wanted, seen: Seen) -> bool:
    """Whether the next deployment may begin: traffic is told to leave what goes back."""
    if not is_leaving(wanted, seen):
        return True
    if stable(wanted, seen) is None or selection(wanted) is None:
        return has_arrived(wanted, seen)
    return points_right(wanted, seen)


def enough_ready_to_go_back(wanted: Wanted, seen: Seen) -> bool:
    """Whether the previous release can take over again: as many ready as the new one has, at most
    its own number and at least one."""
    leaving, target = wanted.going_back, wanted.target
    if leaving is None or target is None or target.config.primary is None:
        return True
    needed = min(len(readiness.ready_pods(leaving.release, seen)), readiness.desired(target, seen))
    return len(readiness.ready_pods(target, seen)) >= max(needed, 1)


def may_switch(wanted: Wanted, seen: Seen) -> bool:
    """Whether the release that is to serve can: never switch to one that has nobody ready."""
    if wanted.going_back is not None:
        return enough_ready_to_go_back(wanted, seen)
    attempt = wanted.taking_over
    if attempt is None:
        return _loses_nobody(wanted, seen)
    return readiness.why_unready(attempt, seen) is None


def _loses_nobody(wanted: Wanted, seen: Seen) -> bool:
    """Whether putting the Service right takes nothing from those whom it serves meanwhile."""
    target = wanted.target
    if target is None or not target.config.has_port:
        return True
    serves = any(endpoint.ready for endpoint in seen.endpoints)
    return not serves or bool(readiness.ready_pods(target, seen))


def commands(wanted: Wanted, seen: Seen) -> tuple[Command, ...]:
    """Return the next writes that bring traffic where it belongs; none when it is there."""
    service = stable(wanted, seen)
    if service is None:
        return (_create_stable(wanted),) if needs_stable(wanted) else ()
    if points_right(wanted, seen):
        return ()
    stale = fences(wanted, seen)
    if stale:
        return stale
    if not may_switch(wanted, seen):
        return ()
    process = _selector(wanted, service)[names.PROCESS]
    return (PointTraffic(service.meta.ref, selection(wanted), process),)


def fences(wanted: Wanted, seen: Seen) -> tuple[WriteFence, ...]:
    """Return the writes that put the present fence on what an older look might still change: the
    stable Service, all Deployments, and the CronJobs, which follow the traffic."""
    service = stable(wanted, seen)
    carriers: tuple[ServiceSeen | Workload | CronJobSeen, ...] = (
        *((service,) if service is not None else ()),
        *seen.workloads,
        *seen.cron_jobs,
    )
    return tuple(
        WriteFence(carrier.meta.ref)
        for carrier in carriers
        if carrier.meta.fence != wanted.fence and not carrier.meta.deleting
    )


def _create_stable(wanted: Wanted) -> Create:
    return Create(ObjectKind.SERVICE, names.stable_service_name(wanted.service), release=None)


def switches(command: Errand) -> bool:
    """Whether a command is part of taking traffic somewhere: its refusal holds that up."""
    if isinstance(command, Create):
        return command.kind is ObjectKind.SERVICE and command.release is None
    return isinstance(command, PointTraffic | WriteFence)
