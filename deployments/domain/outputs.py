"""The end of what containers wrote: whose is kept when a deployment has ended badly, and how much.

Reading it is `agent/logs.py`'s, keeping it `actions/outputs.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deployments.domain import text
from deployments.domain.commands import Command, Delete, Errand, KeepOutput, Scale
from deployments.domain.observations import Container, ObjectKind, Pod, Ref, Seen
from deployments.domain.states import State
from deployments.domain.step import Change, Move
from deployments.domain.wanted import Wanted

MOST_BYTES = 64 * 1024
MOST_PODS = 5
DEPLOYMENT, JOB = ObjectKind.DEPLOYMENT, ObjectKind.JOB


@dataclass(frozen=True)
class Source:
    """One container's output: of its present run, or (`previous`) of the one before that."""

    pod: str
    container: str
    previous: bool


@dataclass(frozen=True)
class Output:
    """The cleaned end of what a container wrote, at most 64 KiB of UTF-8."""

    source: Source
    text: str


def cleaned(written: bytes) -> str:
    """Return the end of an output without what could disguise it, at most 64 KiB of UTF-8."""
    shown = text.clean_end(written.decode(errors="replace"), MOST_BYTES)
    encoded = shown.encode()
    if len(encoded) <= MOST_BYTES:
        return shown
    room = MOST_BYTES - len(text.CUT.encode())
    return text.CUT + encoded[-room:].decode(errors="ignore")


def sources(pods: Iterable[Pod]) -> tuple[Source, ...]:
    """Return what there is to read of the pods that matter most: those that restarted most."""
    worst = sorted(pods, key=_restarts, reverse=True)[:MOST_PODS]
    return tuple(source for pod in worst for source in _of(pod))


def _restarts(pod: Pod) -> int:
    return max((container.restarts for container in pod.containers), default=0)


def _of(pod: Pod) -> Iterator[Source]:
    for container in pod.containers:
        if _ran_before(container):
            yield Source(pod.name, container.name, previous=True)
        # While a container waits, what kubelet gives as its present output is the previous one's.
        if not container.waiting:
            yield Source(pod.name, container.name, previous=False)


def _ran_before(container: Container) -> bool:
    return container.restarts > 0 or bool(container.waiting and container.ended)


def pods_of(command: KeepOutput, seen: Seen) -> tuple[Pod, ...]:
    """Return the pods whose output belongs to the deployment: the release's long-running ones, and
    its own Jobs'. Those of a silent node are left out: nobody can read them."""
    mine = {job.meta.name for job in seen.jobs if job.deployment == command.deployment}
    return tuple(
        pod
        for pod in seen.pods
        if pod.release == command.release
        and (not pod.job or pod.job in mine)
        and pod.node not in seen.silent_nodes
    )


def before_they_go(
    commands: Iterable[Command], wanted: Wanted, seen: Seen
) -> tuple[KeepOutput, ...]:
    """Return what is to be kept before these commands take pods away, once for each release."""
    going = {ref for ref in map(_taken_away, commands) if ref is not None}
    numbers = {meta.release for meta in seen.objects() if meta.ref in going}
    asked = (_keep(number, wanted) for number in sorted(n for n in numbers if n is not None))
    return tuple(keep for keep in asked if keep is not None and sources(pods_of(keep, seen)))


def _taken_away(command: Command) -> Ref | None:
    """Return the object whose pods a command takes away."""
    if isinstance(command, Scale):
        return command.ref if command.replicas == 0 else None
    if isinstance(command, Delete) and command.ref.kind in {DEPLOYMENT, JOB}:
        return command.ref
    return None


def _keep(number: int, wanted: Wanted) -> KeepOutput | None:
    deployment = wanted.ended_badly(number)
    return KeepOutput(deployment, number) if deployment is not None else None


def of_failed_commands(changes: Iterable[Change], wanted: Wanted, seen: Seen) -> tuple[Errand, ...]:
    """Return what is to be kept of release commands that fail in this look.

    Their finished Jobs stay until the next deployment is healthy, and a node may forget them.
    """
    failing = {c.deployment for c in changes if isinstance(c, Move) and c.to is State.FAILED}
    asked = tuple(
        KeepOutput(attempt.id, attempt.release.number)
        for attempt in wanted.moving
        if attempt.id in failing and attempt.state is State.RELEASING
    )
    return tuple(keep for keep in asked if sources(pods_of(keep, seen)))
