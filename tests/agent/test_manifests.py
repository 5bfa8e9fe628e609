"""What Kubernetes gets to see of a release: names, labels, selectors and pods to the letter."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from deployments.agent.manifests import JSON_PATCH, MERGE_PATCH, Request, manifest, request_for
from deployments.domain.commands import (
    Command,
    Create,
    Delete,
    PointTraffic,
    Resume,
    Scale,
    Suspend,
    Try,
    WriteFence,
)
from deployments.domain.names import Place
from deployments.domain.observations import ObjectKind, Ref
from deployments.domain.releases import Config, Process, ProcessKind, ReleaseCommand
from deployments.domain.wanted import Release, Wanted

PLACE = Place("inst", 12, "shop", "live", "web", "shop-live")
IMAGE = f"registry.example/shop/web@sha256:{'a' * 64}"
WEB = Process("www", ProcessKind.HTTP, primary=True, port=8080, stop_seconds=20)
QUEUE = Process("queue", ProcessKind.WORKER, command=("work", "--fast"), port=9000)
NIGHT = Process("night", ProcessKind.CRON, schedule="0 3 * * *")
ONCE = Process("once", ProcessKind.JOB, command=("load",))
MIGRATE = ReleaseCommand(("migrate",))
SELECTED = {
    "pilothouse.dev/installation": "inst",
    "pilothouse.dev/slot": "12",
    "pilothouse.dev/release": "r-8",
    "pilothouse.dev/process": "www",
}
REF = Ref(ObjectKind.DEPLOYMENT, "web--www-r8", "uid-1", "77")
DEPLOYMENT = Create(ObjectKind.DEPLOYMENT, "web--www-r8", 8, "www")


def wanted(*processes: Process, variables: dict[str, str] | None = None) -> Wanted:
    config = Config(processes or (WEB, QUEUE, NIGHT, ONCE), MIGRATE, variables or {})
    return Wanted(PLACE, 5, (Release(1, 8, config, IMAGE),))


def made(create: Create, *processes: Process) -> dict[str, Any]:
    return manifest(create, wanted(*processes), {})


def container(*processes: Process, create: Create = DEPLOYMENT) -> dict[str, Any]:
    spec = made(create, *processes)["spec"]["template"]["spec"]
    found: dict[str, Any] = spec["containers"][0]
    return found


def changed(command: Command) -> Request:
    return request_for(command, wanted(), {})


def test_a_deployment_starts_with_no_replicas_and_selects_its_own_pods() -> None:
    found = made(DEPLOYMENT)

    assert found["spec"]["replicas"] == 0
    assert found["spec"]["selector"] == {"matchLabels": SELECTED}
    assert found["metadata"]["annotations"] == {"pilothouse.dev/fence": "5"}
    assert SELECTED.items() <= found["spec"]["template"]["metadata"]["labels"].items()


def test_every_label_is_there() -> None:
    assert made(DEPLOYMENT)["metadata"]["labels"] == {
        "app.kubernetes.io/name": "web",
        "app.kubernetes.io/instance": "web-live",
        "app.kubernetes.io/component": "www",
        "app.kubernetes.io/part-of": "shop",
        "app.kubernetes.io/managed-by": "pilothouse",
        "app.kubernetes.io/version": "r-8",
        **SELECTED,
    }


def test_a_pod_of_a_process() -> None:
    spec = made(DEPLOYMENT)["spec"]["template"]["spec"]

    assert spec.pop("containers") == [
        {
            "name": "www",
            "image": IMAGE,
            "envFrom": [{"secretRef": {"name": "web-r8"}}],
            "resources": {"requests": {}, "limits": {}},
            "securityContext": {"allowPrivilegeEscalation": False},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
            "ports": [{"name": "main", "containerPort": 8080, "protocol": "TCP"}],
            "readinessProbe": {
                "tcpSocket": {"port": "main"},
                "timeoutSeconds": 5,
                "periodSeconds": 5,
            },
        }
    ]
    assert spec == {
        "terminationGracePeriodSeconds": 25,
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
    }


def test_a_command_becomes_the_arguments() -> None:
    create = Create(ObjectKind.DEPLOYMENT, "web--queue-r8", 8, "queue")

    assert container(WEB, QUEUE, create=create)["args"] == ["work", "--fast"]
    assert "args" not in container()


@pytest.mark.parametrize(
    ("process", "probe"),
    [
        (replace(WEB, readiness_path="/up"), {"httpGet": {"path": "/up", "port": "main"}}),
        (WEB, {"tcpSocket": {"port": "main"}}),
        (replace(QUEUE, name="www", readiness_path="/"), {"tcpSocket": {"port": "main"}}),
        (replace(QUEUE, name="www", port=None), None),
    ],
)
def test_kubelet_asks_for_a_path_only_where_somebody_set_one(
    process: Process, probe: dict[str, Any] | None
) -> None:
    found = container(process).get("readinessProbe")

    timing = {"timeoutSeconds": 5, "periodSeconds": 5}
    assert found == (None if probe is None else {**probe, **timing})


def test_requests_and_limits_are_given_as_they_were_set() -> None:
    process = replace(WEB, cpu_request="10m", memory_request="64Mi", memory_limit="128Mi")

    assert container(process)["resources"] == {
        "requests": {"cpu": "10m", "memory": "64Mi"},
        "limits": {"memory": "128Mi"},
    }


def test_a_restricted_process_has_the_whole_profile() -> None:
    process = replace(WEB, restricted=True)
    spec = made(DEPLOYMENT, process)["spec"]["template"]["spec"]

    assert spec["securityContext"] == {
        "seccompProfile": {"type": "RuntimeDefault"},
        "runAsNonRoot": True,
    }
    assert spec["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


def test_a_job_waits_suspended_and_is_tried_once() -> None:
    found = made(Create(ObjectKind.JOB, "web--once-d31", 8, "once", 31))
    spec = found["spec"]

    assert found["metadata"]["labels"]["pilothouse.dev/deployment"] == "31"
    assert found["metadata"]["annotations"] == {"pilothouse.dev/fence": "5"}
    assert (spec["suspend"], spec["backoffLimit"]) == (True, 0)
    assert (spec["parallelism"], spec["completions"]) == (1, 1)
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert "pilothouse.dev/deployment" not in spec["template"]["metadata"]["labels"]


def test_a_release_command_has_the_room_and_the_profile_of_the_primary_process() -> None:
    primary = replace(WEB, memory_limit="1Gi", restricted=True)
    found = made(Create(ObjectKind.JOB, "web--release-d31", 8, "release", 31), primary)
    spec = found["spec"]["template"]["spec"]

    assert spec["containers"][0]["args"] == ["migrate"]
    assert spec["containers"][0]["resources"]["limits"] == {"memory": "1Gi"}
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert "ports" not in spec["containers"][0]


def test_a_cron_job_waits_suspended_and_marked() -> None:
    found = made(Create(ObjectKind.CRON_JOB, "web--night-r8", 8, "night"))
    spec = found["spec"]

    assert found["metadata"]["annotations"] == {
        "pilothouse.dev/fence": "5",
        "pilothouse.dev/suspended": "agent",
    }
    assert (spec["suspend"], spec["schedule"]) == (True, "0 3 * * *")
    assert (spec["concurrencyPolicy"], spec["startingDeadlineSeconds"]) == ("Forbid", 30)
    assert spec["jobTemplate"]["spec"]["backoffLimit"] == 0


@pytest.mark.parametrize(("primary", "port"), [(WEB, 80), (replace(QUEUE, primary=True), 9000)])
def test_a_releases_own_service_selects_its_primary_process(primary: Process, port: int) -> None:
    found = made(Create(ObjectKind.SERVICE, "web-r8", 8, primary.name), primary)

    assert found["spec"]["selector"] == {**SELECTED, "pilothouse.dev/process": primary.name}
    assert found["spec"]["ports"] == [
        {"name": "main", "port": port, "targetPort": "main", "protocol": "TCP"}
    ]
    assert "annotations" not in found["metadata"]


def test_the_stable_service_begins_with_nobody_behind_it() -> None:
    found = made(Create(ObjectKind.SERVICE, "web", None))

    assert found["spec"]["selector"] == {**SELECTED, "pilothouse.dev/release": "none"}
    assert found["metadata"]["annotations"] == {"pilothouse.dev/fence": "5"}
    assert "app.kubernetes.io/version" not in found["metadata"]["labels"]
    assert "pilothouse.dev/release" not in found["metadata"]["labels"]


def test_plain_and_secret_variables_are_in_one_secret() -> None:
    slot = wanted(variables={"COLOUR": "blue"})
    request = request_for(Create(ObjectKind.SECRET, "web-r8", 8), slot, {"TOKEN": "s3crét"})
    body = request.body

    assert isinstance(body, dict)
    decoded = {key: base64.b64decode(value).decode() for key, value in body["data"].items()}
    assert decoded == {"COLOUR": "blue", "TOKEN": "s3crét"}
    assert body["immutable"] is True
    assert "annotations" not in body["metadata"]


def test_an_object_is_posted_under_our_own_field_manager() -> None:
    request = changed(DEPLOYMENT)

    assert (request.method, request.query) == ("POST", {"fieldManager": "pilothouse"})
    assert "/".join(request.path) == "apis/apps/v1/namespaces/shop-live/deployments"


def test_trying_is_the_same_without_effect() -> None:
    tried = changed(Try(DEPLOYMENT))

    assert tried.query == {"fieldManager": "pilothouse", "dryRun": "All"}
    assert tried.body == changed(DEPLOYMENT).body


@pytest.mark.parametrize(
    ("command", "annotations", "spec"),
    [
        (WriteFence(REF), {}, None),
        (Scale(REF, 3), {}, {"replicas": 3}),
        (Suspend(REF), {"pilothouse.dev/suspended": "agent"}, {"suspend": True}),
        (Resume(REF), {"pilothouse.dev/suspended": None}, {"suspend": False}),
    ],
)
def test_a_change_names_what_was_read_and_carries_the_fence(
    command: Command, annotations: dict[str, Any], spec: dict[str, Any] | None
) -> None:
    request = changed(command)

    expected: dict[str, Any] = {
        "metadata": {
            "annotations": {"pilothouse.dev/fence": "5", **annotations},
            "uid": "uid-1",
            "resourceVersion": "77",
        }
    }
    if spec is not None:
        expected["spec"] = spec
    assert (request.method, request.content_type) == ("PATCH", MERGE_PATCH)
    assert request.path[-1] == "web--www-r8"
    assert request.body == expected


def test_the_switch_is_one_write_of_selector_ports_and_fence() -> None:
    ref = Ref(ObjectKind.SERVICE, "web", "uid-2", "78")
    request = changed(PointTraffic(ref, 8, "www"))

    assert (request.method, request.content_type) == ("PATCH", JSON_PATCH)
    assert isinstance(request.body, list)
    assert {patch["path"]: patch["value"] for patch in request.body} == {
        "/metadata/uid": "uid-2",
        "/metadata/resourceVersion": "78",
        "/metadata/annotations/pilothouse.dev~1fence": "5",
        "/spec/selector": SELECTED,
        "/spec/ports": [{"name": "main", "port": 80, "targetPort": "main", "protocol": "TCP"}],
    }


def test_traffic_to_nobody_selects_a_release_that_there_never_is() -> None:
    request = changed(PointTraffic(REF, None, "www"))

    assert isinstance(request.body, list)
    values = {patch["path"]: patch["value"] for patch in request.body}
    assert values["/spec/selector"] == {**SELECTED, "pilothouse.dev/release": "none"}
    assert "/spec/ports" not in values


def test_a_delete_names_what_was_read_and_takes_the_pods_along() -> None:
    request = changed(Delete(replace(REF, kind=ObjectKind.JOB, name="web--once-d31")))

    assert request.method == "DELETE"
    assert "/".join(request.path) == "apis/batch/v1/namespaces/shop-live/jobs/web--once-d31"
    assert isinstance(request.body, dict)
    assert request.body["propagationPolicy"] == "Background"
    assert request.body["preconditions"] == {"uid": "uid-1", "resourceVersion": "77"}
