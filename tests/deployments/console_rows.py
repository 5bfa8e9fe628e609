"""Rows for the tests of pages: an organization with people of each role, and deployments in any
state, written straight to the tables."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from deployments.domain.roles import Role
from deployments.domain.settings import default_settings
from deployments.domain.states import FINAL, USUAL_ROUTE, State
from deployments.models import (
    Cluster,
    Deployment,
    DeploymentEvent,
    Environment,
    Observation,
    Project,
    Release,
    Slot,
    User,
)
from deployments.models.deployments import EventKind
from deployments.reads.clock import database_now
from tests import factories

PASSWORD = "correct horse battery"  # noqa: S105 - of people that exist in tests only
DIGEST = "sha256:9f2c" + "0" * 56 + "41aa"
REPOSITORY = "registry.example/shop/web"


class Shop(NamedTuple):
    """A project `shop` of the organization `harbor` with the environment `staging`."""

    project: Project
    staging: Environment
    cluster: Cluster


def make_shop() -> Shop:
    """Make the project, its environment and the cluster that this runs on, without a service."""
    project = factories.make_project(factories.make_organization("harbor"), "shop")
    cluster = factories.make_cluster("practice")
    cluster.heartbeat_at = database_now()
    cluster.save()
    return Shop(project, factories.make_environment(project, "staging", cluster=cluster), cluster)


def make_person(shop: Shop, name: str, role: Role | None) -> User:
    """Make somebody with a role in the shop's organization; without one an outsider."""
    if role is None:
        person = factories.make_user(name)
    else:
        person = factories.make_member(shop.project.organization, role, name)
    person.set_password(PASSWORD)
    person.save()
    return person


def make_slot(shop: Shop, service: str = "web") -> Slot:
    """Make a service and its slot in staging."""
    settings = {**default_settings(), "image_repository": REPOSITORY}
    slot = factories.make_slot(shop.staging, service, settings=settings)
    slot.generation = 1
    slot.save()
    return slot


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
    now = database_now()
    created = now - since - timedelta(minutes=1)
    what, leaves, do = message
    release = factories.make_release(slot, digest=DIGEST)
    if state is State.HEALTHY:
        _make_active(slot, release, created)
    deployment = Deployment.objects.create(
        slot=slot,
        release=release,
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


def _make_active(slot: Slot, release: Release, at: datetime) -> None:
    release.healthy_at = at
    release.save()
    slot.active_release = slot.serving_release = release
    slot.save()


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
            "observed_at": database_now(),
            "ready": ready,
            "desired": desired,
        },
    )
