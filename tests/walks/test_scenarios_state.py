"""What others' systems got wrong about states, and about what replaces what."""

from __future__ import annotations

import pytest

from deployments.actions import record, start, stop
from deployments.models import Deployment, Slot
from tests.factories import make_user
from tests.walks.fake_cluster import FakeCluster
from tests.walks.test_walks import ROUTE, click, look, states_of, walk

pytestmark = pytest.mark.django_db


def until(
    slot: Slot, cluster: FakeCluster, deployment: Deployment, state: str, *, pause: float = 0
) -> None:
    """Look until a deployment is in a state, with a pause (in seconds) besides the usual one."""
    for _ in range(200):
        deployment.refresh_from_db()
        if deployment.state == state:
            return
        look(slot, cluster)
        cluster.wait(pause)
    raise AssertionError(f"still {deployment.state}: {deployment.what}")


def ending(deployment: Deployment) -> tuple[object, ...]:
    row = Deployment.objects.get(pk=deployment.pk)
    return row.state, row.blocker, row.what, row.leaves, row.ended_at, row.version


def never_ready(slot: Slot, cluster: FakeCluster) -> Deployment:
    """Return a first deployment that failed for its readiness."""
    world = cluster.world(slot.pk)
    world.never_ready.add(1)
    deployment = click(slot, cluster)
    until(slot, cluster, deployment, "failed", pause=8)
    return deployment


def test_what_has_failed_stays_failed_when_its_pods_come_back(
    slot: Slot, cluster: FakeCluster
) -> None:
    deployment = never_ready(slot, cluster)
    before = ending(deployment)

    cluster.world(slot.pk).never_ready.clear()
    look(slot, cluster, times=20)

    assert ending(deployment) == before
    assert states_of(deployment)[-1] == "failed"


def test_a_first_deployment_that_fails_claims_no_version_before_it_and_the_next_one_works(
    slot: Slot, cluster: FakeCluster
) -> None:
    first = never_ready(slot, cluster)

    slot.refresh_from_db()
    assert first.leaves == "web is not running."
    assert slot.active_release is None
    assert walk(slot, cluster, click(slot, cluster)) == "healthy"


def test_the_same_image_again_after_a_failure_is_a_release_of_its_own(
    slot: Slot, cluster: FakeCluster
) -> None:
    first = never_ready(slot, cluster)

    again = click(slot, cluster)

    assert (first.release.number, again.release.number) == (1, 2)
    assert walk(slot, cluster, again) == "healthy"
    assert states_of(again) == ROUTE


def test_a_worker_that_cannot_write_for_ten_minutes_delays_and_fails_nothing(
    slot: Slot, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = click(slot, cluster)
    until(slot, cluster, deployment, "starting")

    def broken(*_: object, **__: object) -> bool:
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(record, "record", broken)
        for _ in range(60):
            look(slot, cluster)
            cluster.wait(8)

    assert walk(slot, cluster, deployment) == "healthy"


def test_one_that_waited_and_was_cancelled_leaves_no_gap_in_the_chain(
    slot: Slot, cluster: FakeCluster
) -> None:
    first = click(slot, cluster)
    until(slot, cluster, first, "draining")
    second = click(slot, cluster, "shop/web:2")
    stop.cancel(second.pk, reason="", by=make_user(), now=cluster.now)

    third = click(slot, cluster, "shop/web:3")

    assert third.what == "Waiting for r-1 to finish taking over traffic"
    assert walk(slot, cluster, first) == "healthy"
    assert walk(slot, cluster, third) == "healthy"


def test_each_of_three_clicks_says_whom_it_ended_and_they_name_their_successor(
    slot: Slot, cluster: FakeCluster
) -> None:
    by = make_user()
    started = [
        start.deploy(slot.pk, image=f"shop/web:{n}", reason="", by=by, now=cluster.now)
        for n in (1, 2, 3)
    ]

    first, second, third = (Deployment.objects.get(pk=s.deployment.pk) for s in started)
    assert [s.ended for s in started] == [(), (first.pk,), (second.pk,)]
    assert (first.state, first.what, first.cause) == ("superseded", "Superseded by r-2", "newer")
    assert (second.state, second.what, second.cause) == ("superseded", "Superseded by r-3", "newer")
    assert (first.superseded_by, second.superseded_by) == (second, third)
    assert walk(slot, cluster, third) == "healthy"
