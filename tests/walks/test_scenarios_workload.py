"""What others' systems got wrong about workloads: replicas, deadlines, Jobs, old releases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from deployments.domain.observations import JobSeen, NodeRoom, ObjectKind, Room, Workload
from deployments.domain.releases import ReleaseCommand
from deployments.domain.settings import Settings
from deployments.models import Deployment, Slot
from tests.domain import world as cluster_of_values
from tests.domain.world import World, http, worker
from tests.factories import make_slot
from tests.walks.fake_cluster import FakeCluster
from tests.walks.test_scenarios_state import until
from tests.walks.test_walks import click, look, walk

pytestmark = pytest.mark.django_db


def settings_of(slot: Slot, *processes: object, command: ReleaseCommand | None = None) -> None:
    slot.settings = Settings(processes, command).to_json()  # type: ignore[arg-type]
    slot.save(update_fields=["settings"])


def replicas(world: World, name: str) -> int:
    found = world.objects[ObjectKind.DEPLOYMENT, name]
    assert isinstance(found, Workload)
    return found.replicas


def test_the_replicas_of_a_new_version_never_touch_those_of_the_one_that_serves(
    cluster: FakeCluster, answers: object
) -> None:
    slot = make_slot(settings=Settings((http(replicas=10),)).to_json())
    assert walk(slot, cluster, click(slot, cluster)) == "healthy"
    settings_of(slot, http(replicas=2))
    world = cluster.world(slot.pk)
    world.never_ready.add(2)
    second = click(slot, cluster, "shop/web:2")

    seen = set()
    while second.ended_at is None:
        look(slot, cluster)
        cluster.wait(8)
        second.refresh_from_db()
        seen.add((replicas(world, "web--http-r1"), len(world.endpoints("web"))))

    assert second.state == "failed"
    assert seen == {(10, 10)}


def test_pods_that_are_ready_after_the_limit_change_nothing(
    slot: Slot, cluster: FakeCluster
) -> None:
    assert walk(slot, cluster, click(slot, cluster)) == "healthy"
    world = cluster.world(slot.pk)
    world.never_ready.add(2)
    second = click(slot, cluster, "shop/web:2")
    until(slot, cluster, second, "qualifying")
    began = cluster.now
    until(slot, cluster, second, "failed", pause=8)
    took = cluster.now - began

    world.never_ready.clear()
    served = set()
    for _ in range(30):
        served |= world.serves()
        look(slot, cluster)

    assert timedelta(minutes=5) <= took <= timedelta(minutes=5, seconds=15)
    assert served == {1}
    assert world.running() == {1}
    assert Deployment.objects.get(pk=second.pk).state == "failed"


def test_too_little_room_is_said_before_any_pod_exists_and_with_a_node_more_it_goes(
    slot: Slot, cluster: FakeCluster
) -> None:
    settings_of(slot, http(cpu_request="2"))
    world = cluster.world(slot.pk)
    small = NodeRoom("node-1", 500, 2**40, 110)
    world.room = Room((small,))
    first = click(slot, cluster)

    assert walk(slot, cluster, first) == "failed"

    assert (first.blocker, world.pods, world.log) == ("capacity", {}, [])
    world.room = Room((small, NodeRoom("node-2", 100_000, 2**40, 110)))
    assert walk(slot, cluster, click(slot, cluster)) == "healthy"


def test_after_each_of_three_deployments_only_the_active_release_has_pods(
    cluster: FakeCluster, answers: object
) -> None:
    slot = make_slot(settings=Settings((http(), worker())).to_json())

    for number in (1, 2, 3):
        assert walk(slot, cluster, click(slot, cluster, f"shop/web:{number}")) == "healthy"
        # A minute, and what it takes a pod to stop.
        look(slot, cluster, times=30)
        world = cluster.world(slot.pk)
        assert world.running("http") == world.running("worker") == {number}
        assert {pod.release for pod in world.pods.values()} == {number}


@pytest.fixture
def releasing(
    cluster: FakeCluster, answers: object, monkeypatch: pytest.MonkeyPatch
) -> tuple[Slot, Deployment]:
    """A deployment whose release command runs, for twenty minutes and without a word."""
    monkeypatch.setattr(cluster_of_values, "JOB_TAKES", timedelta(minutes=20))
    slot = make_slot()
    settings_of(slot, http(), command=ReleaseCommand(("migrate",), timeout_seconds=1800))
    deployment = click(slot, cluster)
    until(slot, cluster, deployment, "releasing")
    while not cluster.world(slot.pk).pods:
        look(slot, cluster)
    return slot, deployment


def job_of(deployment: Deployment) -> tuple[ObjectKind, str]:
    return ObjectKind.JOB, f"web--release-d{deployment.pk}"


def test_a_silent_release_command_passes_when_it_ends_and_not_before(
    releasing: tuple[Slot, Deployment], cluster: FakeCluster
) -> None:
    slot, deployment = releasing
    began = cluster.now

    until(slot, cluster, deployment, "starting", pause=8)

    assert timedelta(minutes=19) <= cluster.now - began <= timedelta(minutes=20, seconds=15)


def test_a_silent_release_command_past_its_time_fails_and_says_so(
    cluster: FakeCluster, answers: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_of_values, "JOB_TAKES", timedelta(minutes=20))
    slot = make_slot()
    settings_of(slot, http(), command=ReleaseCommand(("migrate",), timeout_seconds=60))
    deployment = click(slot, cluster)

    until(slot, cluster, deployment, "failed", pause=2)

    assert deployment.blocker == "release-command"
    assert deployment.what == "The release command ran longer than its 60 s."
    look(slot, cluster, times=10)
    assert not cluster.world(slot.pk).pods


@pytest.mark.parametrize("gone", ["while it runs", "after its success", "its pod alone"])
def test_a_release_command_that_somebody_removed_is_not_run_again_and_not_waited_for(
    gone: str, releasing: tuple[Slot, Deployment], cluster: FakeCluster
) -> None:
    slot, deployment = releasing
    world, key = cluster.world(slot.pk), job_of(deployment)
    (pod,) = world.pods.values()
    if gone == "its pod alone":
        # With no retries the Job's controller counts a pod that vanished as a failure.
        found = world.objects[key]
        assert isinstance(found, JobSeen)
        del world.pods[pod.uid]
        world.failing_jobs.add(key[1])
        world.objects[key] = _failed(found)
    else:
        world.remove(*key)

    assert walk(slot, cluster, deployment) == "failed"

    assert deployment.blocker == "release-command"
    assert "The release command" in deployment.what
    made = [command for command in world.log if getattr(command, "kind", "") is ObjectKind.JOB]
    assert len(made) == 1


def _failed(job: JobSeen) -> JobSeen:
    return JobSeen(job.meta, suspended=False, failed="BackoffLimitExceeded")
