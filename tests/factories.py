"""Rows for tests, made by plain functions with settings that work; nothing here decides."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count

from deployments.domain.releases import Config
from deployments.domain.roles import Role
from deployments.domain.settings import default_settings, parse, to_config
from deployments.domain.states import FINAL, Kind, State
from deployments.models import (
    Cluster,
    Deployment,
    Environment,
    Installation,
    Membership,
    Organization,
    Project,
    Release,
    Service,
    Slot,
    User,
)

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
DIGEST = "sha256:" + "a" * 64
PAST = frozenset({State.ACTIVATING, State.DRAINING, State.HEALTHY})

_numbers = count(1)


def make_installation() -> Installation:
    """Return the installation, made when there is none."""
    return Installation.objects.get_or_create(pk=1)[0]


def make_user(username: str = "", *, superuser: bool = False) -> User:
    """Make a person of no organization."""
    return User.objects.create(
        username=username or f"person-{next(_numbers)}",
        is_superuser=superuser,
        is_staff=superuser,
    )


def make_organization(slug: str = "") -> Organization:
    """Make an organization without members."""
    slug = slug or f"org-{next(_numbers)}"
    return Organization.objects.create(slug=slug, name=slug.title())


def make_member(organization: Organization, role: Role, username: str = "") -> User:
    """Make a person with a role in the organization."""
    user = make_user(username)
    Membership.objects.create(organization=organization, user=user, role=role.value)
    return user


def make_project(organization: Organization | None = None, slug: str = "") -> Project:
    """Make a project, by default of an organization of its own."""
    return Project.objects.create(
        organization=organization or make_organization(), slug=slug or f"shop-{next(_numbers)}"
    )


def make_cluster(slug: str = "") -> Cluster:
    """Make a cluster that has never been looked at, and the mark of the installation in it."""
    make_installation()
    number = next(_numbers)
    return Cluster.objects.create(
        slug=slug or f"cluster-{number}", uid=f"uid-{number}", version="v1.34.0"
    )


def make_environment(
    project: Project | None = None,
    slug: str = "staging",
    *,
    cluster: Cluster | None = None,
    namespace: str = "",
) -> Environment:
    """Make an environment on a cluster and in a namespace of its own."""
    return Environment.objects.create(
        project=project or make_project(),
        slug=slug,
        cluster=cluster or make_cluster(),
        namespace=namespace or f"space-{next(_numbers)}",
        default_registry="registry.example",
    )


def make_service(project: Project | None = None, slug: str = "web") -> Service:
    """Make a service that is deployed nowhere."""
    return Service.objects.create(project=project or make_project(), slug=slug)


def make_slot(
    environment: Environment | None = None,
    slug: str = "web",
    *,
    settings: dict[str, object] | None = None,
) -> Slot:
    """Make a service and its slot, by default with the settings of a new service."""
    environment = environment or make_environment()
    return Slot.objects.create(
        service=make_service(environment.project, slug),
        environment=environment,
        settings=settings if settings is not None else default_settings(),
    )


def default_config() -> Config:
    """Return the configuration that a new service's settings make: one http process."""
    return to_config(parse(default_settings()), {}, {})


def make_release(
    slot: Slot,
    *,
    config: Config | None = None,
    digest: str = DIGEST,
    healthy_at: datetime | None = None,
) -> Release:
    """Make the slot's next release."""
    slot.releases_made += 1
    slot.save(update_fields=["releases_made"])
    return Release.objects.create(
        slot=slot,
        number=slot.releases_made,
        image=f"registry.example/shop/web:{slot.releases_made}",
        digest=digest,
        config=(config or default_config()).to_json(),
        created_at=NOON,
        healthy_at=healthy_at,
    )


def make_active(slot: Slot, release: Release | None = None) -> Release:
    """Let a release be the slot's active one, as if it had become healthy at noon."""
    release = release or make_release(slot, healthy_at=NOON)
    slot.active_release = release
    slot.save(update_fields=["active_release"])
    return release


def make_deployment(
    slot: Slot | None = None,
    *,
    state: State = State.PENDING,
    release: Release | None = None,
    by: User | None = None,
    kind: Kind = Kind.DEPLOY,
    past: bool | None = None,
    previous: Release | None = None,
    superseded_by: Deployment | None = None,
) -> Deployment:
    """Make a deployment in a state, with what the database demands of that state.

    `past`: whether it has passed the point of no return; None says so by the state.
    """
    slot = slot or make_slot()
    release = release or make_release(slot)
    if slot.generation == 0:
        slot.generation = 1
        slot.save(update_fields=["generation"])
    return Deployment.objects.create(
        slot=slot,
        release=release,
        kind=kind.value,
        state=state.value,
        state_since=NOON,
        route=[stage.value for stage in Config.from_json(release.config or {}).route],
        blocker="readiness" if state is State.FAILED else "",
        created_by=by or make_user(),
        created_at=NOON,
        ended_at=NOON if state in FINAL else None,
        past_point_of_no_return=state in PAST if past is None else past,
        previous_release=previous,
        superseded_by=superseded_by,
    )
