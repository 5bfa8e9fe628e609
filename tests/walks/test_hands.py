"""What somebody does by hand to a service that runs, and what the agent makes of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from deployments.domain.commands import PointTraffic
from deployments.domain.observations import ObjectKind
from deployments.models import Deployment, Observation, Slot
from deployments.reads import snapshots
from tests.walks.fake_cluster import FakeCluster
from tests.walks.test_walks import click, look, walk

pytestmark = pytest.mark.django_db

PUT_RIGHT = (
    "The Service web was changed by hand. Pilothouse let it lead to r-1 again."
    " Deploy or roll back to change what serves."
)


@pytest.fixture
def healthy(slot: Slot, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    """A deployment that has become healthy, in a slot that is looked at every time."""
    monkeypatch.setattr(snapshots, "LOOK_AT_SETTLED_EVERY", timedelta(0))
    deployment = click(slot, cluster)
    assert walk(slot, cluster, deployment) == "healthy"
    look(slot, cluster, times=5)
    return deployment


def notes(deployment: Deployment) -> list[str]:
    return list(deployment.events.filter(kind="note").values_list("message", flat=True))


def test_a_stable_service_that_somebody_changed_is_put_right_and_noted_each_time(
    slot: Slot, cluster: FakeCluster, healthy: Deployment
) -> None:
    world = cluster.world(slot.pk)
    version = Deployment.objects.get(pk=healthy.pk).version
    assert notes(healthy) == []

    for times in (1, 2):
        world.point_by_hand("web", 7)
        look(slot, cluster, times=10)

        assert world.serves() == {1}
        assert notes(healthy) == [PUT_RIGHT] * times
    assert Deployment.objects.get(pk=healthy.pk).version == version


def test_a_stable_service_that_somebody_removed_is_made_again_and_noted(
    slot: Slot, cluster: FakeCluster, healthy: Deployment
) -> None:
    world = cluster.world(slot.pk)
    world.remove(ObjectKind.SERVICE, "web")

    look(slot, cluster, times=10)

    assert world.serves() == {1}
    assert notes(healthy) == [PUT_RIGHT]


def test_what_cannot_be_put_right_is_not_noted(
    slot: Slot, cluster: FakeCluster, healthy: Deployment
) -> None:
    world = cluster.world(slot.pk)
    world.point_by_hand("web", 7)
    world.refused = (PointTraffic,)

    look(slot, cluster, times=10)
    assert notes(healthy) == []
    world.refused = ()
    look(slot, cluster, times=10)

    assert notes(healthy) == [PUT_RIGHT]


def test_a_way_that_the_agent_goes_itself_is_no_hand(slot: Slot, cluster: FakeCluster) -> None:
    walk(slot, cluster, click(slot, cluster))
    walk(slot, cluster, click(slot, cluster, "shop/web:2"))

    assert not any(map(notes, Deployment.objects.all()))


def test_replicas_that_somebody_chose_stay_and_are_named(
    slot: Slot, cluster: FakeCluster, healthy: Deployment
) -> None:
    world = cluster.world(slot.pk)
    (name,) = [n for kind, n in world.objects if kind is ObjectKind.DEPLOYMENT]
    world.scale_by_hand(name, 3)

    look(slot, cluster, times=10)

    assert Observation.objects.get().scaled_by_hand == ["http: 3"]
    assert Observation.objects.get().desired == 3
