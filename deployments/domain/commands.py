"""What a decision may ask to be done in a cluster, as values.

`agent/manifests.py` says what each one writes. Everything is created without effect (no replicas,
suspended, selecting nothing) and then brought to life, and each change or delete names the object
as it was read: a write that comes too late is refused by the API server.
"""

from __future__ import annotations

from dataclasses import dataclass

from deployments.domain import names
from deployments.domain.observations import ObjectKind, Ref


@dataclass(frozen=True)
class Create:
    """Make an object of one release. `process` is empty for its Secret.

    For a Job `deployment` is the deployment that it belongs to; the release command's Job carries
    the process name `release`. For a Service, `release` None makes the stable one.
    """

    kind: ObjectKind
    name: str
    release: int | None
    process: str = ""
    deployment: int | None = None


@dataclass(frozen=True)
class Try:
    """Ask the API server whether it would take an object (`dryRun`), and make nothing."""

    create: Create


@dataclass(frozen=True)
class Scale:
    """Set a Deployment's replicas, with the present fence."""

    ref: Ref
    replicas: int


@dataclass(frozen=True)
class WriteFence:
    """Write the slot's present fence on an object, so that an older look's writes are refused."""

    ref: Ref


@dataclass(frozen=True)
class PointTraffic:
    """Let the stable Service select a process of a release (None: nothing), in one write with its
    ports."""

    ref: Ref
    release: int | None
    process: str


@dataclass(frozen=True)
class Suspend:
    """Suspend a CronJob and mark it as suspended by the agent."""

    ref: Ref


@dataclass(frozen=True)
class Resume:
    """Let a CronJob or a Job run, and take the agent's mark away."""

    ref: Ref


@dataclass(frozen=True)
class Delete:
    """Remove an object with what it owns.

    A Secret is not listed by a look: its `ref` has neither uid nor version, so whoever carries
    this out reads first whether it is ours, and one that is gone already is fine.
    """

    ref: Ref


@dataclass(frozen=True)
class KeepOutput:
    """Read the end of what a release's containers wrote and keep it with its deployment.

    It writes nothing in the cluster, and stands before whatever takes the pods away: what comes
    after it is not done in a look in which the API server was silent.
    """

    deployment: int
    release: int


Command = Create | Try | Scale | WriteFence | PointTraffic | Suspend | Resume | Delete
Errand = Command | KeepOutput


def written(command: Errand) -> tuple[str, str]:
    """Return kind and name of what a command is about: no step has two about the same."""
    match command:
        case Create(kind=kind, name=name) | Try(create=Create(kind=kind, name=name)):
            return kind, name
        case KeepOutput(release=number):
            return "output", names.release_tag(number)
        case _:
            return command.ref.kind, command.ref.name
