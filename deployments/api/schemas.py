"""What the API answers, field by field. How rows become these is in `shapes`."""

from __future__ import annotations

from typing import Generic, TypeVar

from ninja import Schema
from pydantic import Field

from deployments.domain.blockers import Blocker
from deployments.domain.lifecycle import Lifecycle
from deployments.domain.releases import ProcessKind
from deployments.domain.states import Cause, Kind, State

Item = TypeVar("Item")


class Listed(Schema, Generic[Item]):
    """A page of a list. `next` leads to the following page, null on the last."""

    items: list[Item]
    next: str | None


class ProblemItem(Schema):
    """One thing wrong with a request; `pointer` leads to its place in the body."""

    pointer: str
    detail: str


class ProblemDocument(Schema):
    """An error (RFC 9457). `detail` is the sentence that a person reads."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[ProblemItem]


class OrganizationItem(Schema):
    """An organization and the caller's role in it."""

    slug: str
    name: str
    role: str
    suspended: bool


class ProjectItem(Schema):
    """A project. `deploy_concurrency` null: unlimited."""

    slug: str
    organization: str
    deploy_concurrency: int | None


class EnvironmentItem(Schema):
    """Where services run. Times are RFC 3339 in UTC."""

    slug: str
    cluster: str | None
    namespace: str
    protected: bool
    approvals_needed: int
    default_registry: str | None
    frozen_until: str | None


class ServiceItem(Schema):
    """A service of a project and the environments that it is in."""

    service: str
    kind: str
    environments: list[str]


class ClusterItem(Schema):
    """A cluster. `heartbeat_age_seconds` null: it has never answered."""

    slug: str
    version: str
    heartbeat_age_seconds: int | None
    reachable: bool
    missing_permissions: list[str]


class Person(Schema):
    """Somebody, as a deployment names them."""

    id: str
    name: str


class MessageParts(Schema):
    """What happened, what that leaves, what to do."""

    what: str
    leaves: str
    do: str


class DeploymentItem(Schema):
    """A deployment. `label` is what the console calls its state; `message` joins its parts."""

    id: str
    kind: Kind
    project: str
    environment: str
    service: str
    release: str
    image: str
    state: State
    label: str
    blocker: Blocker | None
    message: str
    parts: MessageParts
    cause: Cause | None
    held: bool
    waits_for: list[str]
    stage_started_at: str
    usual_seconds: int | None
    traffic: bool
    returning_to: str | None
    superseded_by: str | None
    reason: str
    emergency: bool
    created_at: str
    created_by: Person
    ended_at: str | None
    previous_release: str | None
    approval: None
    version: int
    url: str


class StartedItem(Schema):
    """A deployment that was started, and those that it ended."""

    deployment: DeploymentItem
    ended: list[DeploymentItem]


class ActorItem(Schema):
    """Who moved a deployment: a person, the agent of a cluster, or the watchdog."""

    kind: str
    name: str


class EventItem(Schema):
    """One move, one change of the blocker, or a note."""

    at: str
    kind: str
    from_: State | None = Field(serialization_alias="from")
    to: State | None
    actor: ActorItem
    cause: Cause | None
    blocker: Blocker | None
    message: str


class OutputItem(Schema):
    """The kept end of what a container wrote, at most 64 KiB. `previous`: of the run before the
    one that it was in."""

    pod: str
    container: str
    previous: bool
    text: str
    at: str


class RollbackOffer(Schema):
    """Whether a release can be rolled back to, or why not."""

    offered: bool
    why_not: str


class ReleaseItem(Schema):
    """A release of a service in an environment. `digest` null: its tag is not resolved yet."""

    release: str
    image: str
    digest: str | None
    created_at: str
    state: str
    rollback: RollbackOffer


class DeploymentWord(Schema):
    """A deployment in three words."""

    id: str
    state: State
    label: str


class StatusItem(Schema):
    """How a service in an environment is now. `ready` and `desired` count the serving release's
    primary process; `confirmed`: an observation of this generation says so."""

    project: str
    environment: str
    service: str
    lifecycle: Lifecycle
    confirmed: bool
    generation: int
    ready: int
    desired: int
    detail: str
    active_release: str | None
    serving_release: str | None
    scaled_by_hand: list[str]
    image: str | None
    paused: bool
    suspended: bool
    observed_at: str | None
    deployment: DeploymentWord | None
    settings_differ: bool


class ProcessItem(Schema):
    """A process of a service. Quantities are Kubernetes' own words."""

    name: str
    kind: ProcessKind
    primary: bool
    command: list[str]
    port: int | None
    replicas: int
    cpu_request: str | None
    cpu_limit: str | None
    memory_request: str | None
    memory_limit: str | None
    readiness_path: str | None
    stabilization_seconds: int
    drain_seconds: int
    stop_seconds: int
    schedule: str | None
    restricted: bool


class ReleaseCommandItem(Schema):
    """What runs once before any process of a new release starts."""

    command: list[str]
    timeout_seconds: int


class SettingsItem(Schema):
    """The settings of a service in an environment, whole."""

    processes: list[ProcessItem]
    release_command: ReleaseCommandItem | None
    volumes: list[str]
    deploy_after: list[str]
    image_repository: str | None


class VariableItem(Schema):
    """A variable. A secret one never shows its value."""

    value: str | None = None
    secret: bool = False


class VariablesItem(Schema):
    """All variables of a service in an environment."""

    variables: dict[str, VariableItem]
