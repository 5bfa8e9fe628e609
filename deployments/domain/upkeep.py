"""Which releases of a slot run, which are kept at zero and which go, and the writes for it.

Decided per slot and afresh in each look, so that what ended is cleaned up and what somebody
deleted is made again, whichever deployment it belonged to.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from deployments.domain import names, outputs, readiness, traffic
from deployments.domain.commands import Command, Create, Delete, Errand, Resume, Scale, Suspend, Try
from deployments.domain.observations import (
    CronJobSeen,
    JobSeen,
    ObjectKind,
    Pod,
    Ref,
    Seen,
    Workload,
)
from deployments.domain.releases import ProcessKind
from deployments.domain.stage_clock import drained
from deployments.domain.states import State
from deployments.domain.wanted import Attempt, Release, Wanted

RUNS_FROM = frozenset({State.STARTING, State.QUALIFYING})


class Disposition(Enum):
    """What is to become of a release's workloads."""

    RUN = "run"
    STOP = "stop"  # scaled to zero and kept, so that a rollback is cheap
    GO = "go"


def running(wanted: Wanted, seen: Seen) -> frozenset[int]:
    """Return the numbers of the releases that are to run now."""
    return _for_its_own_sake(wanted, seen) | _selected_yet(wanted, seen)


def _for_its_own_sake(wanted: Wanted, seen: Seen) -> frozenset[int]:
    return frozenset(release.number for release in _running(wanted, seen))


def _selected_yet(wanted: Wanted, seen: Seen) -> frozenset[int]:
    """Return the release that the stable Service still selects where it is to select another one.

    Given up, a way back may leave traffic on the previous release: stopped before traffic has
    moved, it would leave nobody behind the Service.
    """
    service = traffic.stable(wanted, seen)
    selects = service.selects if service is not None else None
    return frozenset() if selects is None else frozenset({selects})


def _running(wanted: Wanted, seen: Seen) -> Iterator[Release]:
    if wanted.target is not None:
        yield wanted.target
    if wanted.before is not None and wanted.before.state in RUNS_FROM:
        yield wanted.before.release
    taking_over, leaving = wanted.taking_over, wanted.going_back
    previous = taking_over.previous if taking_over is not None else None
    if (
        taking_over is not None
        and previous is not None
        and not may_stop_previous(taking_over, seen)
    ):
        yield previous
    if (
        leaving is not None
        and traffic.is_leaving(wanted, seen)
        and not traffic.has_arrived(wanted, seen)
    ):
        yield leaving.release


def may_stop_previous(attempt: Attempt, seen: Seen) -> bool:
    """Whether the previous release has drained and the new one is well.

    A spell that opens while the previous one stops scales it up again at once.
    """
    return (
        attempt.state is State.DRAINING
        and drained(attempt, seen)
        and readiness.why_unready(attempt, seen) is None
    )


def disposition(number: int | None, wanted: Wanted, runs: frozenset[int]) -> Disposition:
    """Return what is to become of what a release left in the cluster."""
    if number in runs:
        return Disposition.RUN
    release = wanted.release(number)
    if release is not None and release.once_healthy and release.kept:
        return Disposition.STOP
    # What a deployment may go back to stays at hand, also where it never became healthy itself.
    return Disposition.STOP if _is_previous(number, wanted) else Disposition.GO


def commands(wanted: Wanted, seen: Seen) -> tuple[Errand, ...]:
    """Return the writes that give every release of the slot its disposition.

    What those say whose pods go is kept first, where their deployment ended badly.
    """
    runs = running(wanted, seen)
    found = (
        *_missing(wanted, seen, runs),
        *_missed_secrets(wanted, seen, runs),
        *_workloads(wanted, seen, runs),
        *_cron_jobs(wanted, seen),
        *_tried(wanted),
        *_jobs(wanted, seen),
        *_services(wanted, seen, runs),
    )
    kept = outputs.before_they_go(found, wanted, seen)
    return (*kept, *_secrets(found, wanted, seen, runs), *found)


def _missing(wanted: Wanted, seen: Seen, runs: frozenset[int]) -> Iterator[Command]:
    for release in wanted.releases:
        if release.number in runs and not _is_only_kept(release.number, wanted, seen):
            yield from _missing_of(release, wanted, seen)


def _is_only_kept(number: int | None, wanted: Wanted, seen: Seen) -> bool:
    """Whether a release runs only until traffic is seen elsewhere: what of it is gone stays gone,
    or an ended deployment would start anew whenever the other release falls."""
    leaving, service = wanted.going_back, traffic.stable(wanted, seen)
    if leaving is not None and leaving.release.number == number:
        return service is None or service.selects != number
    return number not in _for_its_own_sake(wanted, seen)


def _missed_secrets(wanted: Wanted, seen: Seen, runs: frozenset[int]) -> Iterator[Command]:
    """Make a Secret again that somebody deleted. Secrets are never listed, so the sign of it is a
    pod that kubelet cannot start for want of it."""
    for release in wanted.releases:
        name = names.release_service_name(wanted.service, release.number)
        if release.number in runs and _is_missed(name, seen.pods_of_release(release.number)):
            yield secret_of(release, wanted)


def _is_missed(secret: str, pods: tuple[Pod, ...]) -> bool:
    waiting = [container for pod in pods for container in pod.containers if container.waiting]
    return any(f'secret "{secret}" not found' in container.message for container in waiting)


def _missing_of(release: Release, wanted: Wanted, seen: Seen) -> Iterator[Command]:
    number, service = release.number, wanted.service
    for process in release.config.long_running:
        if seen.workload(number, process.name) is None:
            name = names.workload_name(service, process.name, number)
            yield Create(ObjectKind.DEPLOYMENT, name, number, process.name)
    own = names.release_service_name(service, number)
    primary = release.config.primary
    if release.config.has_port and primary is not None and seen.service(own) is None:
        yield Create(ObjectKind.SERVICE, own, number, primary.name)


def _workloads(wanted: Wanted, seen: Seen, runs: frozenset[int]) -> Iterator[Command]:
    stale = traffic.fences(wanted, seen)
    for workload in seen.workloads:
        if workload.meta.deleting:
            continue
        fate = disposition(workload.meta.release, wanted, runs)
        if fate is Disposition.RUN:
            if not _is_only_kept(workload.meta.release, wanted, seen):
                yield from _brought_to_life(workload, wanted)
        elif fate is Disposition.GO or workload.replicas:
            # Pods stop only once the fence has been read back: else a look that was held up
            # could still send traffic to them.
            yield from stale or (_stopped(workload, fate),)


def _brought_to_life(workload: Workload, wanted: Wanted) -> Iterator[Command]:
    release = wanted.release(workload.meta.release)
    replicas = _replicas(release, workload.meta.process) if release is not None else 0
    # A number that somebody chose by hand stays; only zero is undone.
    if release is not None and replicas and not workload.replicas:
        yield secret_of(release, wanted)
        yield Scale(workload.meta.ref, replicas)


def secret_of(release: Release, wanted: Wanted) -> Create:
    """Return the write that makes the Secret of a release's variables.

    It is asked for just before something that reads it is brought to life, or when a pod misses it,
    and only then: so there is no Secret without an object that a look lists, with which it goes.
    """
    name = names.release_service_name(wanted.service, release.number)
    return Create(ObjectKind.SECRET, name, release.number)


def _replicas(release: Release, process: str) -> int:
    return next((p.replicas for p in release.config.long_running if p.name == process), 0)


def _stopped(workload: Workload, fate: Disposition) -> Command:
    if fate is Disposition.GO:
        return Delete(workload.meta.ref)
    return Scale(workload.meta.ref, 0)


def _cron_jobs(wanted: Wanted, seen: Seen) -> Iterator[Command]:
    target = wanted.target
    for cron_job in seen.cron_jobs:
        if cron_job.meta.deleting:
            continue
        if target is not None and cron_job.meta.release == target.number:
            yield from _resumed(cron_job, target, wanted)
        else:
            yield from _set_aside(cron_job, wanted)
    if target is not None:
        yield from _missing_cron_jobs(target, wanted, seen)


def _tried(wanted: Wanted) -> Iterator[Command]:
    """CronJobs are made when traffic moves; a refusal is better known before."""
    attempt = wanted.before
    if attempt is None or attempt.state is not State.STARTING:
        return
    number = attempt.release.number
    for process in attempt.release.config.of_kind(ProcessKind.CRON):
        name = names.workload_name(wanted.service, process.name, number)
        yield Try(Create(ObjectKind.CRON_JOB, name, number, process.name))


def _missing_cron_jobs(target: Release, wanted: Wanted, seen: Seen) -> Iterator[Command]:
    present = {(c.meta.release, c.meta.process) for c in seen.cron_jobs}
    for process in target.config.of_kind(ProcessKind.CRON):
        if (target.number, process.name) not in present:
            name = names.workload_name(wanted.service, process.name, target.number)
            yield Create(ObjectKind.CRON_JOB, name, target.number, process.name)


def _resumed(cron_job: CronJobSeen, target: Release, wanted: Wanted) -> Iterator[Command]:
    # Only what the agent suspended is resumed: a person's suspension stays.
    marked = cron_job.meta.annotations.get(names.SUSPENDED) == names.SUSPENDED_BY_AGENT
    if cron_job.suspended and marked:
        yield secret_of(target, wanted)
        yield Resume(cron_job.meta.ref)


def _set_aside(cron_job: CronJobSeen, wanted: Wanted) -> Iterator[Command]:
    number, before = cron_job.meta.release, wanted.before
    # A rollback makes its CronJobs anew: an old one would make up for the runs that it missed.
    anew = before is not None and before.state in RUNS_FROM and before.release.number == number
    if anew or disposition(number, wanted, frozenset()) is Disposition.GO:
        yield Delete(cron_job.meta.ref)
    elif not cron_job.suspended:
        yield Suspend(cron_job.meta.ref)


def _is_previous(number: int | None, wanted: Wanted) -> bool:
    return any(a.previous is not None and a.previous.number == number for a in wanted.moving)


def _jobs(wanted: Wanted, seen: Seen) -> Iterator[Command]:
    for job in seen.jobs:
        if not job.meta.deleting and _is_over(job, wanted):
            yield Delete(job.meta.ref)


def _is_over(job: JobSeen, wanted: Wanted) -> bool:
    """Whether a Job goes: at once when its deployment ended badly while it runs, else when the
    slot's next deployment is healthy."""
    if job.deployment is None:
        return False
    if job.finished:
        return job.deployment < wanted.last_healthy
    return job.deployment in wanted.ended


def _services(wanted: Wanted, seen: Seen, runs: frozenset[int]) -> Iterator[Command]:
    for service in seen.services:
        number = service.meta.release
        if number is None or service.meta.deleting:
            continue
        if disposition(number, wanted, runs) is Disposition.GO:
            yield Delete(service.meta.ref)


def _secrets(
    found: tuple[Command, ...], wanted: Wanted, seen: Seen, runs: frozenset[int]
) -> Iterator[Command]:
    """Remove a release's Secret before the objects that are the only sign of it."""
    going = {command.ref for command in found if isinstance(command, Delete)}
    numbers = {meta.release for meta in seen.objects() if meta.ref in going}
    for number in sorted(number for number in numbers if number is not None):
        if _reads_no_secret(number, wanted, runs) and (
            disposition(number, wanted, runs) is Disposition.GO or _all_go(number, seen, going)
        ):
            name = names.release_service_name(wanted.service, number)
            yield Delete(Ref(ObjectKind.SECRET, name, uid="", resource_version=""))


def _reads_no_secret(number: int, wanted: Wanted, runs: frozenset[int]) -> bool:
    # Before it starts a release has its Secret for the release command.
    prepares = wanted.before is not None and wanted.before.release.number == number
    return not prepares and number not in runs


def _all_go(number: int, seen: Seen, going: set[Ref]) -> bool:
    return all(meta.ref in going for meta in seen.objects() if meta.release == number)


def leftovers(wanted: Wanted, seen: Seen, runs: frozenset[int]) -> bool:
    """Whether something of an ended deployment still holds room: its pods or an unfinished Job."""
    # What serves, and the active release where another one serves in its place, are not in the way.
    stay = runs | ({wanted.active.number} if wanted.active is not None else set())
    there = {found.meta.release for found in seen.workloads}
    there |= {pod.release for pod in seen.pods if not pod.job}
    pods = any(
        not readiness.all_stopped(number, seen) for number in there - stay if number is not None
    )
    jobs = any(job.deployment in wanted.ended and not job.finished for job in seen.jobs)
    return pods or jobs or still_runs_release_command(wanted, seen) is not None


def still_runs_release_command(wanted: Wanted, seen: Seen) -> int | None:
    """Return the release whose ended deployment's release command still runs, None when none.

    A silent node's pod counts as running: nobody knows that it has stopped.
    """
    ended = {names.job_name(wanted.service, names.RELEASE_COMMAND, pk) for pk in wanted.ended}
    running_jobs = {job.meta.name: job.meta.release for job in seen.jobs if not job.finished}
    pods = {pod.job: pod.release for pod in seen.pods if pod.job and not pod.finished}
    alive = {**running_jobs, **pods}
    return next((release for name, release in alive.items() if name in ended), None)
