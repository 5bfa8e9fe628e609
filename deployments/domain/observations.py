"""What can be seen of one slot in a cluster, as frozen values.

`agent/translate.py` makes them of what the API server answered; everything in `domain` that
judges a cluster reads these and nothing else. An absent count means zero, as Kubernetes means it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from deployments.domain import names

_USUAL_WAITS = frozenset({"", "ContainerCreating", "PodInitializing"})


class ObjectKind(StrEnum):
    """The kinds of object that Pilothouse makes."""

    DEPLOYMENT = "Deployment"
    CRON_JOB = "CronJob"
    JOB = "Job"
    SERVICE = "Service"
    SECRET = "Secret"  # noqa: S105 - a kind of object, not a secret


@dataclass(frozen=True)
class Ref:
    """An object as it was read: a write that names it is refused when it has changed since."""

    kind: ObjectKind
    name: str
    uid: str
    resource_version: str


@dataclass(frozen=True)
class Meta:
    """What every object of ours carries."""

    ref: Ref
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    deleting: bool = False

    @property
    def name(self) -> str:
        """Return the object's name."""
        return self.ref.name

    @property
    def release(self) -> int | None:
        """Return the number of the release that it belongs to, None for the stable Service."""
        return names.release_number(self.labels.get(names.RELEASE, ""))

    @property
    def process(self) -> str:
        """Return the process that it runs."""
        return self.labels.get(names.PROCESS, "")

    @property
    def fence(self) -> int | None:
        """Return the fence that was written on it, None where there is none or it is no number."""
        text = self.annotations.get(names.FENCE, "")
        return int(text) if text.isascii() and text.isdigit() else None


@dataclass(frozen=True)
class Workload:
    """A Kubernetes Deployment: one long-running process of one release."""

    meta: Meta
    replicas: int
    ready: int = 0
    settled: bool = True  # its controller has acted on what is written


@dataclass(frozen=True)
class Termination:
    """How a container ended: its exit code, Kubernetes' word and its last words."""

    exit_code: int
    reason: str = ""
    message: str = ""


@dataclass(frozen=True)
class Container:
    """A container of a pod. `waiting` is Kubernetes' reason, `message` the words beside it, `ended`
    its latest end."""

    name: str
    waiting: str = ""
    message: str = ""
    restarts: int = 0
    running: bool = False
    ended: Termination | None = None


@dataclass(frozen=True)
class Pod:
    """A pod of ours. `ready` is its Ready condition, never its containers' own flags:
    a silent node's containers stay ready for ever."""

    name: str
    uid: str
    release: int | None
    process: str
    node: str | None = None
    phase: str = "Pending"
    ready: bool = False
    ready_changed: datetime | None = None
    started: bool = False  # every container has started at least once and its start is known
    started_at: datetime | None = None
    deletion_due: datetime | None = None  # when deletion time and grace have passed
    job: str = ""
    containers: tuple[Container, ...] = ()
    terminations: tuple[Termination, ...] = ()

    @property
    def waiting(self) -> str:
        """Return Kubernetes' word for what it waits on, empty while it waits on nothing unusual."""
        reasons = (c.waiting for c in self.containers)
        return next((reason for reason in reasons if reason not in _USUAL_WAITS), "")

    @property
    def deleting(self) -> bool:
        """Whether it has been told to stop."""
        return self.deletion_due is not None

    @property
    def finished(self) -> bool:
        """Whether it has ended for good: it counts as history only."""
        return self.phase in {"Succeeded", "Failed"}


@dataclass(frozen=True)
class JobSeen:
    """A Job. `failed` is Kubernetes' reason, empty while it has not failed."""

    meta: Meta
    suspended: bool = False
    succeeded: bool = False
    failed: str = ""

    @property
    def deployment(self) -> int | None:
        """Return the id of the deployment that it belongs to."""
        text = self.meta.labels.get(names.DEPLOYMENT, "")
        return int(text) if text.isascii() and text.isdigit() else None

    @property
    def finished(self) -> bool:
        """Whether it has succeeded or failed."""
        return self.succeeded or bool(self.failed)


@dataclass(frozen=True)
class CronJobSeen:
    """A CronJob and whether it is suspended."""

    meta: Meta
    suspended: bool = False


@dataclass(frozen=True)
class ServiceSeen:
    """A Service of ours: what it selects and the ports it listens on."""

    meta: Meta
    selector: Mapping[str, str]
    ports: tuple[tuple[str, int, str], ...] = ()  # name, port, target port

    @property
    def selects(self) -> int | None:
        """Return the number of the release that it selects, None when it selects nothing."""
        return names.release_number(self.selector.get(names.RELEASE, ""))


@dataclass(frozen=True)
class Endpoint:
    """One pod behind the stable Service, as its controller's slices list it."""

    pod: str  # uid
    ready: bool


@dataclass(frozen=True)
class NodeRoom:
    """What a usable node has left. `cpu` in thousandths, `memory` in bytes."""

    name: str
    cpu: int
    memory: int
    pods: int


@dataclass(frozen=True)
class QuotaRoom:
    """What a ResourceQuota leaves of one resource, in the unit of the resource."""

    quota: str
    resource: str
    left: int


@dataclass(frozen=True)
class Room:
    """The room in a cluster and a namespace. `skipped` says which nodes do not count and why."""

    nodes: tuple[NodeRoom, ...]
    quotas: tuple[QuotaRoom, ...] = ()
    skipped: tuple[str, ...] = ()


class Answer(StrEnum):
    """What the agent's own readiness check heard. UNKNOWN is neither yes nor no: the API server
    answered itself, or nobody did."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class CheckResult:
    """The agent's own check of one release in one look; `detail` is the last answer in words."""

    answer: Answer
    detail: str = ""


@dataclass(frozen=True)
class Resolution:
    """What a registry answered for a tag: a digest, a no (`refused`), or nothing usable."""

    digest: str = ""
    refused: str = ""
    unreachable: str = ""


@dataclass(frozen=True)
class Seen:
    """One slot in one look. `now` is the database's clock at the start of the look."""

    now: datetime
    workloads: tuple[Workload, ...] = ()
    pods: tuple[Pod, ...] = ()
    jobs: tuple[JobSeen, ...] = ()
    cron_jobs: tuple[CronJobSeen, ...] = ()
    services: tuple[ServiceSeen, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    silent_nodes: frozenset[str] = frozenset()
    taken: tuple[str, ...] = ()  # names of ours that somebody else's objects have
    room: Room | None = None
    check: CheckResult | None = None
    resolution: Resolution | None = None
    command_said: str = ""  # by a failed release command whose end itself is without words

    def objects(self) -> tuple[Meta, ...]:
        """Return what was listed of the slot, pods left out."""
        return (
            *(found.meta for found in self.workloads),
            *(found.meta for found in self.jobs),
            *(found.meta for found in self.cron_jobs),
            *(found.meta for found in self.services),
        )

    def workload(self, number: int, process: str) -> Workload | None:
        """Return the Deployment of one process of one release."""
        return next(
            (w for w in self.workloads if (w.meta.release, w.meta.process) == (number, process)),
            None,
        )

    def service(self, name: str) -> ServiceSeen | None:
        """Return one of our Services by name."""
        return next((service for service in self.services if service.meta.name == name), None)

    def job(self, name: str) -> JobSeen | None:
        """Return one of our Jobs by name."""
        return next((job for job in self.jobs if job.meta.name == name), None)

    def pods_of(self, number: int, process: str) -> tuple[Pod, ...]:
        """Return the long-running pods of a process, those that are stopping included."""
        return tuple(
            pod
            for pod in self.pods
            if (pod.release, pod.process) == (number, process) and not pod.job and not pod.finished
        )

    def workloads_of(self, number: int) -> tuple[Workload, ...]:
        """Return the Deployments of one release."""
        return tuple(workload for workload in self.workloads if workload.meta.release == number)

    def pods_of_release(self, number: int) -> tuple[Pod, ...]:
        """Return a release's long-running pods, those that are stopping included."""
        return tuple(pod for pod in self.pods if pod.release == number and not pod.job)

    def live_pods_of(self, number: int, process: str) -> tuple[Pod, ...]:
        """Return the pods of a process that have not been told to stop."""
        return tuple(pod for pod in self.pods_of(number, process) if not pod.deleting)
