"""What nodes and quotas have left, as the scheduler counts it."""

from __future__ import annotations

from typing import Any

import pytest

from deployments.agent.rooms import Request, effective_request, room
from deployments.domain.observations import NodeRoom, QuotaRoom

MIB = 2**20


def node(name: str = "node-1", *, ready: str = "True", **spec: object) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": "2", "memory": "1Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def asks(cpu: str | None = None, memory: str | None = None, **more: object) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": memory}
    requests = {key: value for key, value in amounts.items() if value is not None}
    return {"resources": {"requests": requests}, **more}


def pod(*containers: dict[str, Any], on: str = "node-1", phase: str = "Running") -> dict[str, Any]:
    return {"spec": {"nodeName": on, "containers": list(containers)}, "status": {"phase": phase}}


def test_a_node_has_left_what_its_pods_do_not_ask_for() -> None:
    pods = [pod(asks("500m", "256Mi"), asks("250m")), pod(asks("1"), on="node-2")]

    found = room([node()], pods, [])

    assert found.nodes == (NodeRoom("node-1", 1250, 768 * MIB, 109),)


def test_a_pod_that_has_ended_holds_nothing_and_one_that_is_stopping_does() -> None:
    stopping = pod(asks("1"))
    stopping["metadata"] = {"deletionTimestamp": "2026-03-02T12:00:00Z"}
    pods = [pod(asks("1"), phase="Succeeded"), pod(asks("1"), phase="Failed"), stopping]

    assert room([node()], pods, []).nodes == (NodeRoom("node-1", 1000, 1024 * MIB, 109),)


@pytest.mark.parametrize(
    ("unusable", "reason"),
    [
        (node("n", unschedulable=True), "n (cordoned)"),
        (node("n", ready="Unknown"), "n (not ready)"),
        (node("n", taints=[{"key": "gpu", "effect": "NoSchedule"}]), "n (taint gpu)"),
        ({**node(), "metadata": {"name": "n", "deletionTimestamp": "x"}}, "n (being removed)"),
        ({"metadata": {"name": "n"}}, "n (not ready)"),
    ],
)
def test_a_node_that_takes_no_pod_is_left_out_and_named(
    unusable: dict[str, Any], reason: str
) -> None:
    found = room([node(), unusable], [], [])

    assert [n.name for n in found.nodes] == ["node-1"]
    assert found.skipped == (reason,)


def test_a_taint_that_only_prefers_others_keeps_nobody_away() -> None:
    tainted = node(taints=[{"key": "spot", "effect": "PreferNoSchedule"}])

    assert len(room([tainted], [], []).nodes) == 1


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [asks("100m"), asks("200m")]}, 300),
        ({"containers": [asks("100m")], "initContainers": [asks("700m"), asks("50m")]}, 700),
        (
            {
                "containers": [asks("100m")],
                "initContainers": [asks("50m", restartPolicy="Always"), asks("700m")],
            },
            750,
        ),
        (
            {
                "containers": [asks("400m")],
                "initContainers": [asks("50m", restartPolicy="Always")],
            },
            450,
        ),
        ({"containers": [{"resources": {"limits": {"cpu": "300m"}}}]}, 300),
        ({"containers": [asks("100m")], "overhead": {"cpu": "25m"}}, 125),
        ({"containers": [asks("100m")], "resources": {"requests": {"cpu": "1"}}}, 1000),
        ({"containers": [{}]}, 0),
        ({"containers": [asks("nonsense")]}, 0),
        ({}, 0),
    ],
)
def test_what_a_pod_asks_for(spec: dict[str, Any], cpu: int) -> None:
    assert effective_request({"spec": spec}) == Request(cpu)


def test_a_pod_that_is_resized_holds_the_larger_amount() -> None:
    shrinking = {
        "spec": {"containers": [asks("100m", name="web")]},
        "status": {"containerStatuses": [{"name": "web", "allocatedResources": {"cpu": "300m"}}]},
    }

    assert effective_request(shrinking) == Request(300)


def quota(hard: dict[str, str], used: dict[str, str], **spec: object) -> dict[str, Any]:
    return {
        "metadata": {"name": "small"},
        "spec": spec,
        "status": {"hard": hard, "used": used},
    }


def test_a_quota_has_left_what_is_not_used() -> None:
    hard = {"cpu": "1", "requests.memory": "1Gi", "count/pods": "10"}

    found = room([], [], [quota(hard, {"cpu": "250m", "count/pods": "3"})])

    assert found.quotas == (
        QuotaRoom("small", "requests.cpu", 750),
        QuotaRoom("small", "requests.memory", 1024 * MIB),
        QuotaRoom("small", "pods", 7),
    )


@pytest.mark.parametrize(
    ("spec", "counts"),
    [
        ({"scopes": ["NotTerminating"]}, True),
        ({"scopes": ["Terminating"]}, False),
        ({"scopes": ["BestEffort"]}, False),
        ({"scopeSelector": {"matchExpressions": []}}, False),
    ],
)
def test_a_quota_for_other_pods_does_not_count(spec: dict[str, object], counts: bool) -> None:
    assert bool(room([], [], [quota({"pods": "1"}, {}, **spec)]).quotas) is counts
