"""Rows for the tests of pages: an organization with people of each role, and deployments in any
state, written straight to the tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from deployments.domain.roles import Role
from deployments.domain.states import FINAL, USUAL_ROUTE, State
from deployments.models import (
    Cluster,
    Deployment,
    DeploymentEvent,
    Environment,
    Membership,
    Observation,
    Organization,
    Project,
    Release,
    Service,
    Slot,
    User,
)
from deployments.models.deployments import EventKind

PASSWORD = "correct horse battery"  # noqa: S105 - of people that exist in tests only
DIGEST = "sha256:9f2c" + "0" * 56 + "41aa"
SETTINGS = {"processes": [], "image_repository": "registry.example/shop/web"}


class Shop(NamedTuple):
    """A project `shop` of the organization `harbor` with the environment `staging`."""

    project: Project
    staging: Environment
    cluster: Cluster


def make_shop() -> Shop:
    """Make the project, its environment and the cluster that this runs on, without a service."""
    harbor = Organization.objects.create(slug="harbor", name="Harbor")
    project = Project.objects.create(organization=harbor, slug="shop")
    cluster = Cluster.objects.create(
        slug="practice", uid="uid-1", version="v1.34.4", heartbeat_at=datetime.now(UTC)
    )
    staging = Environment.objects.create(
        project=project, slug="staging", cluster=cluster, namespace="shop-staging"
    )
    return Shop(project, staging, cluster)


def make_person(shop: Shop, name: str, role: Role | None) -> User:
    """Make somebody with a role in the shop's organization; without one an outsider."""
    person = User.objects.create_user(name, password=PASSWORD)
    if role is not None:
        Membership.objects.create(
            organization=shop.project.organization, user=person, role=role.value
        )
    return person


def make_slot(shop: Shop, service: str = "web") -> Slot:
    """Make a service and its slot in staging."""
    row, _ = Service.objects.get_or_create(project=shop.project, slug=service)
    return Slot.objects.create(
        service=row, environment=shop.staging, settings=SETTINGS, generation=1
    )


def make_release(slot: Slot, *, at: datetime, active: bool = False) -> Release:
    """Make the slot's next release; an active one serves too."""
    slot.releases_made += 1
    release = Release.objects.create(
        slot=slot,
        number=slot.releases_made,
        image=f"registry.example/shop/web:{slot.releases_made}",
        digest=DIGEST,
        config={},
        created_at=at,
        healthy_at=at if active else None,
    )
    if active:
        slot.active_release = slot.serving_release = release
    slot.save()
    return release


def make_deployment(
    slot: Slot,
    *,
    by: User,
    state: State = State.STARTING,
    blocker: str = "",
    message: tuple[str, str, str] = ("", "", ""),
    since: timedelta = timedelta(seconds=30),
) -> Deployment:
    """Make a deployment of a new release that has come as far as this state, with its events."""
    now = datetime.now(UTC)
    created = now - since - timedelta(minutes=1)
    what, leaves, do = message
    deployment = Deployment.objects.create(
        slot=slot,
        release=make_release(slot, at=created, active=state is State.HEALTHY),
        state=state.value,
        state_since=now - since,
        route=[stage.value for stage in USUAL_ROUTE],
        blocker=blocker,
        what=what,
        leaves=leaves,
        do=do,
        created_by=by,
        created_at=created,
        ended_at=now - since if state in FINAL else None,
        past_point_of_no_return=state in {State.ACTIVATING, State.DRAINING, State.HEALTHY},
    )
    _make_events(deployment, State(state), created)
    return deployment


def _make_events(deployment: Deployment, state: State, created: datetime) -> None:
    behind = [State.PENDING, State.ADMITTED, State.STARTING]
    path = list(USUAL_ROUTE[: USUAL_ROUTE.index(state) + 1]) if state in USUAL_ROUTE else behind
    if state not in path:
        path.append(state)
    for number, to in enumerate(path, start=1):
        last = to is state
        DeploymentEvent.objects.create(
            deployment=deployment,
            number=number,
            at=deployment.state_since if last else created + timedelta(seconds=number),
            kind=EventKind.MOVE.value,
            from_state=path[number - 2].value if number > 1 else "",
            to_state=to.value,
            actor_kind="agent" if number > 1 else "person",
            actor_name="practice" if number > 1 else deployment.created_by.username,
            blocker=deployment.blocker if last else "",
            message=deployment.what if last else "",
        )


def observe(slot: Slot, *, ready: int, desired: int) -> None:
    """Write down that the agent has just seen this many instances."""
    Observation.objects.update_or_create(
        slot=slot,
        defaults={
            "generation": slot.generation,
            "observed_at": datetime.now(UTC),
            "ready": ready,
            "desired": desired,
        },
    )
