"""What an API server answered, as values: whatever is missing, nothing crashes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.agent import translate
from deployments.domain.observations import Endpoint, Termination

LABELS = {"pilothouse.dev/release": "r-7", "pilothouse.dev/process": "web"}
STARTED = "2026-03-02T12:00:00Z"


def pod(status: dict[str, Any], **spec: object) -> dict[str, Any]:
    metadata = {"name": "web-1", "uid": "u", "labels": LABELS}
    return {"metadata": metadata, "spec": {"containers": [{}], **spec}, "status": status}


def container(**state: object) -> dict[str, Any]:
    last = state.pop("lastState", None)
    return {"containerStatuses": [{"name": "web", "state": state, "lastState": last}]}


def test_a_pod_is_ready_by_its_condition_and_never_by_its_containers() -> None:
    status = {
        **container(running={"startedAt": STARTED}),
        "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": STARTED}],
    }
    status["containerStatuses"][0]["ready"] = True

    seen = translate.pod(pod(status))

    assert not seen.ready
    assert seen.ready_changed == datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("states", "started"),
    [
        (container(running={"startedAt": STARTED}), True),
        (container(terminated={"exitCode": 0, "startedAt": STARTED}), True),
        (
            container(
                waiting={"reason": "CrashLoopBackOff"},
                lastState={"terminated": {"exitCode": 1, "startedAt": STARTED}},
            ),
            True,
        ),
        (container(waiting={"reason": "ContainerCreating"}), False),
        (container(waiting={}), False),
        (
            container(
                waiting={"reason": "RunContainerError"},
                lastState={
                    "terminated": {
                        "reason": "StartError",
                        "exitCode": 128,
                        "startedAt": "1970-01-01T00:00:00Z",
                    }
                },
            ),
            False,
        ),
        ({"containerStatuses": None}, False),
        ({}, False),
    ],
)
def test_a_pod_has_started_once_every_container_has_run(
    states: dict[str, Any], started: bool
) -> None:
    seen = translate.pod(pod(states))

    assert seen.started is started
    assert (seen.started_at is not None) is started


def test_a_pod_with_two_containers_has_not_started_with_one() -> None:
    seen = translate.pod(pod(container(running={"startedAt": STARTED}), containers=[{}, {}]))

    assert not seen.started


def test_the_time_of_deletion_already_holds_the_grace() -> None:
    found = pod({})
    found["metadata"]["deletionTimestamp"] = "2026-03-02T12:00:35Z"

    seen = translate.pod(found)

    assert seen.deletion_due == datetime(2026, 3, 2, 12, 0, 35, tzinfo=UTC)


def test_a_pod_of_a_job_names_it() -> None:
    found = pod({"phase": "Succeeded"})
    found["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "web--release-d7"}]

    assert translate.pod(found).job == "web--release-d7"


def test_the_latest_end_comes_first_and_its_words_are_cleaned() -> None:
    states = container(
        terminated={"exitCode": 3, "reason": "Error", "message": "\x1b[31mno table\u202e\x07"},
        lastState={"terminated": {"exitCode": 1}},
    )

    seen = translate.pod(pod(states))

    assert seen.terminations == (Termination(3, "Error", "no table\ufffd\ufffd"), Termination(1))


@pytest.mark.parametrize(
    ("generation", "observed", "settled"), [(2, 2, True), (2, 1, False), (1, None, False)]
)
def test_a_deployment_is_settled_once_its_controller_has_seen_what_is_written(
    generation: int, observed: int | None, settled: bool
) -> None:
    status = {} if observed is None else {"observedGeneration": observed}

    seen = translate.workload({"metadata": {"generation": generation}, "status": status})

    assert seen.settled is settled
    assert (seen.replicas, seen.ready) == (0, 0)


@pytest.mark.parametrize(
    ("condition", "succeeded", "failed"),
    [
        ({"type": "Complete", "status": "True"}, True, ""),
        (
            {"type": "Failed", "status": "True", "reason": "Gone"},
            False,
            "Gone",
        ),
        ({"type": "Failed", "status": "True"}, False, "Failed"),
        ({"type": "FailureTarget", "status": "True", "reason": "DeadlineExceeded"}, False, ""),
        ({"type": "Failed", "status": "False", "reason": "x"}, False, ""),
    ],
)
def test_a_job_has_ended_once_kubernetes_is_done_with_its_pods(
    condition: dict[str, str], succeeded: bool, failed: str
) -> None:
    seen = translate.job({"metadata": {"name": "x"}, "status": {"conditions": [condition]}})

    assert (seen.succeeded, seen.failed) == (succeeded, failed)


def endpoint_slice(
    *endpoints: dict[str, Any], by: str = "endpointslice-controller.k8s.io", owner: str = "svc"
) -> dict[str, Any]:
    labels = {"endpointslice.kubernetes.io/managed-by": by}
    return {
        "metadata": {"labels": labels, "ownerReferences": [{"uid": owner}]},
        "endpoints": list(endpoints) or None,
    }


def endpoint(uid: str, ready: bool | None = None) -> dict[str, Any]:
    return {"targetRef": {"uid": uid}, "conditions": {"ready": ready}}


def test_an_endpoint_without_a_word_is_ready_and_counts_once() -> None:
    slices = [endpoint_slice(endpoint("a"), endpoint("b", False)), endpoint_slice(endpoint("a"))]

    assert translate.endpoints(slices, "svc") == (Endpoint("a", True), Endpoint("b", False))


def test_only_the_services_own_controller_is_believed() -> None:
    slices = [
        endpoint_slice(endpoint("a"), by="somebody"),
        endpoint_slice(endpoint("b"), owner="another"),
        endpoint_slice(),
    ]

    assert translate.endpoints(slices, "svc") == ()


def test_a_node_is_silent_when_nobody_has_heard_of_it() -> None:
    nodes = [
        {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": said}]}}
        for name, said in (("well", "True"), ("ill", "False"), ("silent", "Unknown"))
    ]

    assert translate.silent_nodes(nodes) == {"silent"}


def test_a_port_may_name_its_target_by_number_or_not_at_all() -> None:
    ports = [
        {"port": 80, "targetPort": "main", "name": "main"},
        {"port": 81, "targetPort": 8},
        {"port": 82},
    ]

    seen = translate.service({"spec": {"ports": ports}})

    assert seen.ports == (("main", 80, "main"), ("", 81, "8"), ("", 82, "82"))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "metadata",
                    "spec",
                    "status",
                    "labels",
                    "annotations",
                    "conditions",
                    "containers",
                    "containerStatuses",
                    "state",
                    "lastState",
                    "terminated",
                    "running",
                    "waiting",
                    "ports",
                    "ownerReferences",
                    "type",
                    "message",
                    "startedAt",
                    "deletionTimestamp",
                    "selector",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status"]), anything))
def test_nothing_that_a_cluster_says_makes_a_look_crash(found: dict[str, Any]) -> None:
    for read in (
        translate.pod,
        translate.workload,
        translate.job,
        translate.cron_job,
        translate.service,
    ):
        read(found)
    translate.endpoints([found, {"endpoints": [found]}], "")
    translate.silent_nodes([found])
