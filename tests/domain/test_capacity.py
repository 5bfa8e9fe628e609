"""Does a release fit: per node and per quota, and the words for what is missing."""

from __future__ import annotations

import pytest

from deployments.domain.capacity import Need, deficit, needs
from deployments.domain.observations import NodeRoom, QuotaRoom, Room
from deployments.domain.releases import Config
from tests.domain.world import cron, http, worker

GIB = 2**30


def node(name: str, cpu: int, memory: int = 100 * GIB, pods: int = 110) -> NodeRoom:
    return NodeRoom(name, cpu, memory, pods)


def two_cpu(replicas: int = 1, memory: int = 0) -> Need:
    return Need("http", replicas, 2000, memory)


@pytest.mark.parametrize(
    ("need", "nodes", "fits"),
    [
        pytest.param(two_cpu(), [node("a", 2000)], True, id="exactly"),
        pytest.param(two_cpu(), [node("a", 1999)], False, id="a thousandth too little"),
        pytest.param(two_cpu(), [node("a", 1000)] * 4, False, id="enough only in total"),
        pytest.param(two_cpu(2), [node("a", 2000), node("b", 2000)], True, id="one on each"),
        pytest.param(two_cpu(3), [node("a", 4000), node("b", 3999)], True, id="two and one"),
        pytest.param(two_cpu(4), [node("a", 4000), node("b", 3999)], False, id="one too many"),
        pytest.param(two_cpu(1, GIB), [node("a", 9000, GIB - 1)], False, id="memory"),
        pytest.param(two_cpu(), [node("a", 9000, pods=0)], False, id="no pod more"),
        pytest.param(Need("w", 3, 0, 0), [node("a", -5)], True, id="asks for nothing"),
        pytest.param(Need("w", 1, 0, 0), [], False, id="no node at all"),
    ],
)
def test_room_is_judged_replica_by_replica(
    need: Need, nodes: list[NodeRoom], *, fits: bool
) -> None:
    assert (deficit([need], Room(tuple(nodes))) is None) is fits


def test_the_deficit_names_what_is_missing_for_how_many_and_where() -> None:
    room = Room((node("node-1", 2500, 3 * GIB), node("node-2", 100, GIB)))

    said = deficit([Need("http", 3, 2000, 5 * GIB // 2)], room)

    assert said == "needs 1.5 CPU and 2 GiB more for 2 of 3 replicas; the largest gap is on node-1"


def test_nodes_that_do_not_count_are_named_with_the_reason() -> None:
    room = Room((node("node-1", 500),), skipped=("node-2 (cordoned)",))

    said = deficit([two_cpu()], room)

    assert said == (
        "needs 1.5 CPU more for 1 of 1 replicas; the largest gap is on node-1 (node-2 (cordoned))"
    )
    assert deficit([two_cpu()], Room((), skipped=("node-2 (cordoned)",))) == (
        "no node can take 1 of 1 replicas (node-2 (cordoned))"
    )


def test_a_full_node_lacks_a_pod() -> None:
    said = deficit([Need("w", 1, 0, 0)], Room((node("node-1", 100, pods=0),)))

    assert said == "needs 1 pod more for 1 of 1 replicas; the largest gap is on node-1"


def test_several_processes_share_the_nodes_the_largest_first() -> None:
    config = Config(
        (
            worker("mail", cpu_request="500m"),
            http(cpu_request="1500m", memory_limit="1Gi"),
            cron(),
        )
    )

    found = needs(config)

    assert [(need.process, need.cpu, need.memory) for need in found] == [
        ("http", 1500, GIB),
        ("mail", 500, 0),
    ]
    assert deficit(found, Room((node("a", 2000),))) is None
    assert deficit(found, Room((node("a", 1999),))) is not None


@pytest.mark.parametrize(
    ("resource", "left", "says"),
    [
        ("pods", 1, "the quota small leaves 1 pods too little (pods)"),
        ("requests.cpu", 3999, "the quota small leaves 0.001 CPU too little (requests.cpu)"),
        ("requests.memory", GIB, "the quota small leaves 1 GiB too little (requests.memory)"),
        ("limits.cpu", 0, "the quota small leaves 6 CPU too little (limits.cpu)"),
    ],
)
def test_a_quota_that_leaves_too_little_is_named(resource: str, left: int, says: str) -> None:
    need = Need("http", 2, 2000, GIB, cpu_limit=3000)
    room = Room((node("a", 99_000),), (QuotaRoom("small", resource, left),))

    assert deficit([need], room) == says


@pytest.mark.parametrize(
    ("resource", "left"),
    [("pods", 2), ("requests.cpu", 4000), ("limits.memory", -5), ("count/services", 0)],
)
def test_a_quota_that_leaves_enough_or_counts_something_else_is_no_hindrance(
    resource: str, left: int
) -> None:
    room = Room((node("a", 99_000),), (QuotaRoom("small", resource, left),))

    assert deficit([two_cpu(2)], room) is None
