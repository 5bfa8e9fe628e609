"""Nodes, room and quotas in the practice cluster."""

from __future__ import annotations

import pytest

from tests.practice.driven import IMAGE, SPACE, Driven
from tests.recordings import manifests


@pytest.fixture
def cluster() -> Driven:
    return Driven()


def worker(replicas: int = 1, **box: object) -> dict[str, object]:
    return manifests.deployment("worker", replicas, manifests.container(IMAGE, "work", **box))


def test_pods_go_to_both_nodes(cluster: Driven) -> None:
    cluster.web(2)

    assert {pod["spec"]["nodeName"] for pod in cluster.pods()} == {"node-1", "node-2"}


def test_a_silent_node_leaves_its_containers_ready_and_its_pods_not(cluster: Driven) -> None:
    cluster.web(2)

    cluster.world.silence("node-2")
    cluster.until(lambda: cluster.ready() == 1, within=40)

    (lost,) = [p for p in cluster.pods() if p["spec"]["nodeName"] == "node-2"]
    assert lost["status"]["containerStatuses"][0]["ready"] is True
    assert lost["status"]["phase"] == "Running"


def test_pods_of_a_silent_node_are_replaced_after_five_minutes(cluster: Driven) -> None:
    cluster.web(2)

    cluster.world.silence("node-2")
    cluster.run(330)

    going = [p for p in cluster.pods() if "deletionTimestamp" in p["metadata"]]
    assert len(going) == 1
    assert cluster.ready() == 2


def test_a_node_that_speaks_again_has_its_pods_ready_again(cluster: Driven) -> None:
    cluster.web(2)
    cluster.world.silence("node-2")
    cluster.until(lambda: cluster.ready() == 1, within=40)

    cluster.world.speak_again("node-2")

    assert cluster.until(lambda: cluster.ready() == 2) < 10


def test_a_cordoned_node_takes_no_further_pods(cluster: Driven) -> None:
    cluster.world.cordon("node-1")

    cluster.create("deployments", worker(4))
    cluster.until(lambda: cluster.ready() == 4)

    assert {pod["spec"]["nodeName"] for pod in cluster.pods()} == {"node-2"}


def test_what_does_not_fit_says_why_and_is_placed_when_there_is_room(cluster: Driven) -> None:
    room = {"requests": {"cpu": "1500m"}}
    cluster.create("deployments", worker(3, resources=room))
    cluster.until(lambda: cluster.events("FailedScheduling"))

    why = (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/2 nodes are available: 2 No preemption victims found for incoming pod."
    )
    assert cluster.events("FailedScheduling") == [why]
    cluster.change("deployments", "worker", replicas=2)
    cluster.until(lambda: len(cluster.pods()) == 2 and cluster.ready() == 2)


@pytest.mark.parametrize(
    ("hard", "why"),
    [
        pytest.param(
            {"requests.cpu": "1"},
            "exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, "
            "limited: requests.cpu=1",
            id="exceeded",
        ),
        pytest.param(
            {"limits.memory": "1Gi"},
            "failed quota: q: must specify limits.memory for: web",
            id="unspecified",
        ),
    ],
)
def test_a_quota_refuses_pods(cluster: Driven, hard: dict[str, str], why: str) -> None:
    cluster.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    cluster.create("deployments", worker(2, resources={"requests": {"cpu": "600m"}}))

    cluster.until(lambda: cluster.holds("deployments", "worker", "ReplicaFailure"))

    assert why in cluster.events("FailedCreate")[0]


def test_a_quota_counts_what_is_used(cluster: Driven) -> None:
    hard = {"pods": "5", "count/deployments.apps": "3", "requests.memory": "1Gi"}
    cluster.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    cluster.create("deployments", worker(2, resources={"requests": {"memory": "64Mi"}}))

    cluster.until(lambda: cluster.ready() == 2)
    cluster.run(1)

    used = cluster.store.get("resourcequotas", SPACE, "q")["status"]["used"]
    assert used == {"pods": "2", "count/deployments.apps": "1", "requests.memory": "128Mi"}
