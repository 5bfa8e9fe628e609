"""Observations → the most specific cause why a release's pods do not run, or nothing yet.

One small function for each kind of cause, each of which says what of which component it reads. A
cause is a failure only once its row in `causes` is ripe; until then its clock runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from deployments.domain import clocks, text
from deployments.domain.blockers import Blocker
from deployments.domain.causes import CRASHES_THAT_COUNT, ORDER, TABLE, Cause
from deployments.domain.clocks import Clock, Sighting
from deployments.domain.deadlines import LIMITS, Limits
from deployments.domain.observations import Container, Pod, Seen, Termination
from deployments.domain.wanted import Attempt

_INVALID = frozenset({"InvalidImageName", "ErrImageNeverPull"})
_PULLING = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable"}
)
_REFUSED = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "PreCreateHookError",
        "PreStartHookError",
        "PostStartHookError",
    }
)
# What a registry, or the runtime that asked it, says when it will not give the image: asking again
# does not help. Everything else that keeps a pull from succeeding may pass.
_NO = (
    "not found",
    "manifest unknown",
    "name unknown",
    "pull access denied",
    "insufficient_scope",
    "unauthorized",
    "authentication required",
    "access to the resource is denied",
    "no basic auth credentials",
    "403 forbidden",
    "no match for platform",
    "no matching manifest",
    "no image found in image index",
    "x509:",
    "server gave http response to https client",
)
_WITHOUT_CAUSE = "back-off pulling image"


@dataclass(frozen=True)
class Finding:
    """One cause on one container of one pod, in the component's own words."""

    cause: Cause
    process: str
    container: Container
    detail: str


@dataclass(frozen=True)
class Failure:
    """A cause that is ripe. `count` of `of` replicas have it."""

    cause: Cause
    blocker: Blocker
    process: str
    container: Container
    detail: str
    count: int
    of: int


def findings(pods: Iterable[Pod], running: Iterable[Clock]) -> tuple[Finding, ...]:
    """Return every cause that these pods show now, ripe or not."""
    running = tuple(running)
    return tuple(
        found
        for pod in pods
        for container in pod.containers
        if (found := _first(pod.process, container, running)) is not None
    )


def _first(process: str, container: Container, running: tuple[Clock, ...]) -> Finding | None:
    for rule in _RULES:
        cause = rule(container, running)
        if cause is not None:
            return Finding(cause, process, container, _detail(cause, container))
    return None


def _image(container: Container, running: tuple[Clock, ...]) -> Cause | None:
    """Kubelet's image manager: `state.waiting` of a container whose image is not there."""
    if container.waiting in _INVALID:
        return Cause.IMAGE_INVALID
    if container.waiting not in _PULLING:
        return None
    said = container.message.lower()
    if any(no in said for no in _NO):
        return Cause.IMAGE_REFUSED
    # Between two attempts kubelet may say only that it waits: that is the same fact as before.
    if said.startswith(_WITHOUT_CAUSE) and clocks.find(running, Cause.IMAGE_REFUSED):
        return Cause.IMAGE_REFUSED
    return Cause.IMAGE_UNREACHABLE


def _refused(container: Container, _: tuple[Clock, ...]) -> Cause | None:
    """Kubelet and the runtime: a container that cannot be created for what it is."""
    return Cause.CONTAINER_REFUSED if container.waiting in _REFUSED else None


def _crashing(container: Container, _: tuple[Clock, ...]) -> Cause | None:
    """Kubelet's `restartCount`: a container that ended again and again and does not run now."""
    over = container.restarts >= CRASHES_THAT_COUNT and not container.running
    return Cause.CRASHING if over else None


_RULES: tuple[Callable[[Container, tuple[Clock, ...]], Cause | None], ...] = (
    _image,
    _refused,
    _crashing,
)


def _detail(cause: Cause, container: Container) -> str:
    if cause is Cause.CRASHING:
        return how_it_ended(container)
    if cause is Cause.CONTAINER_REFUSED:
        return runtime_clause(container.message) or container.waiting
    return container.message or container.waiting


def how_it_ended(container: Container) -> str:
    """Return how a container ended, beginning with a verb."""
    end = container.ended
    if end is None:
        return "does not stay running"
    if end.reason == "OOMKilled":
        return "ran out of memory"
    if never_ran(end):
        said = runtime_clause(end.message)
        return f"cannot be started: {said}" if said else "cannot be started"
    return f"exits with code {end.exit_code}"


def never_ran(end: Termination) -> bool:
    """Whether a container "ended" without having run: then the words are the runtime's own."""
    return end.reason in {"StartError", "ContainerCannotRun"}


def runtime_clause(said: str) -> str:
    """Return what the runtime said of a container, without the layers that passed it on."""
    clause = said.rpartition("unable to start container process: ")[2].strip()
    return text.last_line(clause.removesuffix(": unknown").rstrip("."))


def last_clause(said: str) -> str:
    """Return what the registry said, without the runtime's prefixes, which repeat the image."""
    clause = said.rsplit('": ', 1)[-1].strip().rstrip(".")
    first, _, rest = clause.partition(": ")
    return rest if rest and "/" in first and " " not in first else clause


def last_words(container: Container) -> str:
    """Return the last line that a container wrote before it ended, empty when it wrote none."""
    end = container.ended
    return text.last_line(end.message) if end is not None and not never_ran(end) else ""


def sightings(attempt: Attempt, seen: Seen) -> Iterator[Sighting]:
    """Return what keeps the causes' clocks running: one for each cause of the release."""
    by_cause = {found.cause: found for found in findings(_pods_of(attempt, seen), attempt.clocks)}
    for cause, found in by_cause.items():
        yield Sighting(cause, detail=found.detail)


def failure(
    attempt: Attempt, seen: Seen, running: Iterable[Clock], limits: Limits = LIMITS
) -> Failure | None:
    """Return the most specific cause that is ripe, None while there is none."""
    running = tuple(running)
    pods = _pods_of(attempt, seen)
    found = findings(pods, attempt.clocks)
    for cause in ORDER:
        same = [finding for finding in found if finding.cause is cause]
        if same and _lasted(cause, running, seen) >= limits.causes[cause].not_before:
            return _failure(same, attempt)
    return None


def _lasted(cause: Cause, running: tuple[Clock, ...], seen: Seen) -> timedelta:
    return clocks.ran_for(running, cause, seen.now)


def _failure(same: list[Finding], attempt: Attempt) -> Failure:
    worst = max(same, key=lambda finding: finding.container.restarts)
    processes = {process.name: process.replicas for process in attempt.release.config.processes}
    return Failure(
        cause=worst.cause,
        blocker=TABLE[worst.cause].blocker,
        process=worst.process,
        container=worst.container,
        detail=worst.detail,
        count=sum(finding.process == worst.process for finding in same),
        of=max(processes.get(worst.process, 1), 1),
    )


def _pods_of(attempt: Attempt, seen: Seen) -> tuple[Pod, ...]:
    """Return the pods that speak for the release: its live ones, and its own Jobs'.

    Never the old release's: half of all false alarms are somebody else's crashing pods.
    """
    return tuple(
        pod
        for pod in seen.pods
        if pod.release == attempt.release.number
        and not pod.deleting
        and not pod.finished
        and (not pod.job or pod.job in attempt.job_uids)
    )
