"""Creates, reads, updates, patches and deletes over HTTP, in the real API server's words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.practice.http_client import (
    JSON_PATCH,
    STRATEGIC_PATCH,
    Cluster,
    config_map,
    deployment,
    pod,
    running,
    service,
)

MAPS = "/api/v1/namespaces/shop/configmaps"
SERVICES = "/api/v1/namespaces/shop/services"
DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"
JOBS = "/apis/batch/v1/namespaces/shop/jobs"
OTHER_UID = "11111111-1111-1111-1111-111111111111"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running(tmp_path) as found:
        yield found


def test_what_is_created_can_be_read(cluster: Cluster) -> None:
    made = cluster.post(MAPS, config_map("a", k="1"))

    assert made.code == 201
    assert cluster.get(f"{MAPS}/a").body == made.body
    assert made.body["metadata"]["managedFields"][0]["manager"] == "tests"


def test_a_missing_object_is_named_with_its_group(cluster: Cluster) -> None:
    answer = cluster.get(f"{DEPLOYMENTS}/none")

    assert (answer.code, answer.body["reason"]) == (404, "NotFound")
    assert answer.message == 'deployments.apps "none" not found'
    assert answer.body["details"] == {"name": "none", "group": "apps", "kind": "deployments"}


def test_an_unknown_namespace_is_a_404_for_a_create_and_an_empty_list(cluster: Cluster) -> None:
    refused = cluster.post("/api/v1/namespaces/none/configmaps", {"metadata": {"name": "a"}})
    listed = cluster.get("/api/v1/namespaces/none/configmaps")

    assert (refused.code, refused.message) == (404, 'namespaces "none" not found')
    assert (listed.code, listed.body["items"]) == (200, [])


def test_a_taken_name_is_already_exists(cluster: Cluster) -> None:
    cluster.post(MAPS, config_map("a"))

    again = cluster.post(MAPS, config_map("a"))

    assert (again.code, again.body["reason"]) == (409, "AlreadyExists")
    assert again.message == 'configmaps "a" already exists'


def test_a_dry_run_answers_and_stores_nothing(cluster: Cluster) -> None:
    tried = cluster.post(f"{MAPS}?dryRun=All", config_map("a"))

    assert tried.code == 201
    assert cluster.get(f"{MAPS}/a").code == 404


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("A_b", "a lowercase RFC 1123 subdomain must consist of"),
        ("a" * 254, "must be no more than 253 characters"),
        ("", "name or generateName is required"),
    ],
)
def test_a_bad_name_is_refused_with_the_rule(cluster: Cluster, name: str, said: str) -> None:
    answer = cluster.post(MAPS, config_map(name))

    assert answer.code == 422
    assert said in answer.message
    assert answer.body["details"]["causes"][0]["field"] == "metadata.name"


def test_a_stale_put_is_a_conflict(cluster: Cluster) -> None:
    old = cluster.post(MAPS, config_map("a", k="1")).body
    cluster.patch(f"{MAPS}/a", {"data": {"k": "2"}})

    answer = cluster.call("PUT", f"{MAPS}/a", old)

    assert answer.code == 409
    assert answer.message == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


def test_a_patch_with_an_older_revision_is_a_conflict_and_with_the_present_one_is_not(
    cluster: Cluster,
) -> None:
    old = cluster.post(MAPS, config_map("a", k="1")).body["metadata"]["resourceVersion"]
    new = cluster.patch(f"{MAPS}/a", {"data": {"k": "2"}}).body["metadata"]["resourceVersion"]

    refused = cluster.patch(f"{MAPS}/a", {"metadata": {"resourceVersion": old}, "data": {"k": "3"}})
    taken = cluster.patch(f"{MAPS}/a", {"metadata": {"resourceVersion": new}, "data": {"k": "3"}})

    assert (refused.code, refused.body["reason"]) == (409, "Conflict")
    assert taken.body["data"] == {"k": "3"}


def test_a_patch_for_another_uid_is_invalid(cluster: Cluster) -> None:
    cluster.post(MAPS, config_map("a"))

    answer = cluster.patch(f"{MAPS}/a", {"metadata": {"uid": OTHER_UID}, "data": {"k": "1"}})

    assert answer.code == 422
    assert answer.message == (
        f'ConfigMap "a" is invalid: metadata.uid: Invalid value: "{OTHER_UID}": field is immutable'
    )


def test_a_failed_json_patch_test_changes_nothing(cluster: Cluster) -> None:
    cluster.post(SERVICES, service(release="r-1"))
    switch = [
        {"op": "test", "path": "/spec/selector/release", "value": "r-9"},
        {"op": "replace", "path": "/spec/selector", "value": {"release": "r-2"}},
    ]

    answer = cluster.patch(f"{SERVICES}/web", switch, JSON_PATCH)

    assert (answer.code, answer.body["reason"]) == (422, "Invalid")
    assert "the server rejected our request due to an error in our request" in answer.message
    assert cluster.get(f"{SERVICES}/web").body["spec"]["selector"] == {"release": "r-1"}


def test_a_json_patch_replaces_a_selector_as_a_whole(cluster: Cluster) -> None:
    cluster.post(SERVICES, service(release="r-1", slot="7"))
    switch = [{"op": "replace", "path": "/spec/selector", "value": {"release": "r-2"}}]

    answer = cluster.patch(f"{SERVICES}/web", switch, JSON_PATCH)

    assert answer.body["spec"]["selector"] == {"release": "r-2"}


def test_a_merge_patch_leaves_a_key_of_the_old_selector(cluster: Cluster) -> None:
    cluster.post(SERVICES, service(release="r-1", slot="7"))

    answer = cluster.patch(f"{SERVICES}/web", {"spec": {"selector": {"release": "r-2"}}})

    assert answer.body["spec"]["selector"] == {"release": "r-2", "slot": "7"}


def test_a_strategic_patch_merges_containers_and_variables_by_name(cluster: Cluster) -> None:
    cluster.post(DEPLOYMENTS, deployment())
    container = {"name": "web", "env": [{"name": "B", "value": "2"}]}
    change = {"spec": {"template": {"spec": {"containers": [container]}}}}

    answer = cluster.patch(f"{DEPLOYMENTS}/web", change, STRATEGIC_PATCH)

    found = answer.body["spec"]["template"]["spec"]["containers"][0]
    assert found["image"] == "127.0.0.1:5000/sample:1"
    assert {entry["name"]: entry["value"] for entry in found["env"]} == {"A": "1", "B": "2"}


def test_a_strategic_patch_can_take_an_item_away(cluster: Cluster) -> None:
    cluster.post(DEPLOYMENTS, deployment())
    container = {"name": "web", "env": [{"name": "A", "$patch": "delete"}]}
    change = {"spec": {"template": {"spec": {"containers": [container]}}}}

    answer = cluster.patch(f"{DEPLOYMENTS}/web", change, STRATEGIC_PATCH)

    assert "env" not in answer.body["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("body", "media_type", "code"),
    [
        ("{}", "text/plain", 415),
        ("{", "application/merge-patch+json", 400),
        ("[]", "application/merge-patch+json", 400),
        ("{}", JSON_PATCH, 400),
    ],
)
def test_a_patch_that_is_none_is_refused(
    cluster: Cluster, body: str, media_type: str, code: int
) -> None:
    cluster.post(MAPS, config_map("a"))

    assert cluster.patch(f"{MAPS}/a", body, media_type).code == code


def test_a_delete_says_what_is_gone(cluster: Cluster) -> None:
    made = cluster.post(MAPS, config_map("a")).body

    answer = cluster.call("DELETE", f"{MAPS}/a")

    assert answer.body["status"] == "Success"
    assert answer.body["details"]["uid"] == made["metadata"]["uid"]
    assert cluster.get(f"{MAPS}/a").code == 404


@pytest.mark.parametrize(
    "preconditions", [{"uid": OTHER_UID}, {"resourceVersion": "1"}], ids=["uid", "revision"]
)
def test_a_delete_for_another_object_is_a_conflict(
    cluster: Cluster, preconditions: dict[str, str]
) -> None:
    cluster.post(MAPS, config_map("a"))

    answer = cluster.call("DELETE", f"{MAPS}/a", {"preconditions": preconditions})

    assert (answer.code, answer.body["reason"]) == (409, "Conflict")
    assert "does not match" in answer.message
    assert cluster.get(f"{MAPS}/a").code == 200


def test_a_foreground_delete_leaves_the_object_readable(cluster: Cluster) -> None:
    cluster.post(DEPLOYMENTS, deployment())

    answer = cluster.call("DELETE", f"{DEPLOYMENTS}/web", {"propagationPolicy": "Foreground"})

    assert answer.body["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert "deletionTimestamp" in cluster.get(f"{DEPLOYMENTS}/web").body["metadata"]


def job(name: str = "j") -> dict[str, Any]:
    container = {"name": "main", "image": "127.0.0.1:5000/sample:1"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"suspend": True, "backoffLimit": 0, "template": template}
    return {"metadata": {"name": name}, "spec": spec}


def test_a_job_deleted_plainly_orphans_its_pods(cluster: Cluster) -> None:
    cluster.post(JOBS, job())

    answer = cluster.call("DELETE", f"{JOBS}/j")

    assert answer.body["metadata"]["finalizers"] == ["orphan"]


def test_a_job_selects_by_its_own_uid_and_labels_its_pods(cluster: Cluster) -> None:
    made = cluster.post(JOBS, job()).body

    uid = made["metadata"]["uid"]
    labels = made["spec"]["template"]["metadata"]["labels"]
    own = {"batch.kubernetes.io/controller-uid": uid}
    assert made["spec"]["selector"] == {"matchLabels": own}
    assert labels["batch.kubernetes.io/job-name"] == "j"
    assert made["spec"]["completions"] == 1


def test_a_jobs_template_cannot_be_changed(cluster: Cluster) -> None:
    cluster.post(JOBS, job())
    change = {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}}

    answer = cluster.patch(f"{JOBS}/j", change)

    assert answer.code == 422
    assert answer.message.endswith("field is immutable")


def test_a_deployment_comes_back_with_its_defaults(cluster: Cluster) -> None:
    wanted = deployment()
    del wanted["spec"]["replicas"]

    spec = cluster.post(DEPLOYMENTS, wanted).body["spec"]

    pods = spec["template"]["spec"]
    assert (spec["replicas"], spec["progressDeadlineSeconds"]) == (1, 600)
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}
    assert (pods["restartPolicy"], pods["terminationGracePeriodSeconds"]) == ("Always", 30)
    assert pods["containers"][0]["ports"][0]["protocol"] == "TCP"


def test_a_pods_requests_are_its_limits_in_their_usual_form(cluster: Cluster) -> None:
    wanted = pod(node="")
    wanted["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "0.5", "memory": "1024Mi"}}

    made = cluster.post("/api/v1/namespaces/shop/pods", wanted).body

    resources = made["spec"]["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": "500m", "memory": "1Gi"}
    assert made["status"]["qosClass"] == "Guaranteed"


def test_a_service_comes_back_with_its_defaults(cluster: Cluster) -> None:
    wanted = service()
    del wanted["spec"]["ports"][0]["targetPort"]

    spec = cluster.post(SERVICES, wanted).body["spec"]

    assert (spec["type"], spec["clusterIPs"]) == ("ClusterIP", [spec["clusterIP"]])
    assert spec["ports"] == [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80}]


def test_a_deployments_selector_cannot_be_changed(cluster: Cluster) -> None:
    cluster.post(DEPLOYMENTS, deployment())
    labels = {"app": "other"}
    change = {
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}},
        }
    }

    answer = cluster.patch(f"{DEPLOYMENTS}/web", change)

    assert answer.message == (
        'Deployment.apps "web" is invalid: spec.selector: Invalid value: '
        '{"matchLabels":{"app":"other"}}: field is immutable'
    )


def test_a_selector_that_misses_its_own_pods_is_refused(cluster: Cluster) -> None:
    wanted = deployment()
    wanted["spec"]["selector"]["matchLabels"]["more"] = "x"

    answer = cluster.post(DEPLOYMENTS, wanted)

    assert answer.code == 422
    assert "`selector` does not match template `labels`" in answer.message


def test_all_faults_of_a_template_come_at_once(cluster: Cluster) -> None:
    wanted = deployment()
    container = wanted["spec"]["template"]["spec"]["containers"][0]
    container |= {"image": "", "ports": [{"containerPort": 70000}], "imagePullPolicy": "Some"}

    answer = cluster.post(DEPLOYMENTS, wanted)

    fields = [cause["field"] for cause in answer.body["details"]["causes"]]
    prefix = "spec.template.spec.containers[0]"
    assert fields == [
        f"{prefix}.image",
        f"{prefix}.ports[0].containerPort",
        f"{prefix}.imagePullPolicy",
    ]


def test_a_quantity_that_is_none_and_a_number_for_a_text_are_bad_requests(
    cluster: Cluster,
) -> None:
    lots, number = deployment(), deployment()
    containers = [d["spec"]["template"]["spec"]["containers"][0] for d in (lots, number)]
    containers[0]["resources"] = {"limits": {"cpu": "lots"}}
    containers[1]["env"] = [{"name": "A", "value": 1}]

    answers = [cluster.post(DEPLOYMENTS, wanted) for wanted in (lots, number)]

    assert [answer.code for answer in answers] == [400, 400]
    assert "quantities must match the regular expression" in answers[0].message
    assert "cannot unmarshal number into Go struct field EnvVar" in answers[1].message


def test_more_ready_than_existing_replicas_are_refused(cluster: Cluster) -> None:
    cluster.post(DEPLOYMENTS, deployment())

    answer = cluster.patch(
        f"{DEPLOYMENTS}/web/status", {"status": {"replicas": 1, "readyReplicas": 2}}
    )

    assert answer.code == 422
    assert answer.body["details"]["causes"][0] == {
        "reason": "FieldValueInvalid",
        "message": "Invalid value: 2: cannot be greater than status.replicas",
        "field": "status.readyReplicas",
    }


def test_scaling_changes_the_replicas_and_nothing_else(cluster: Cluster) -> None:
    made = cluster.post(DEPLOYMENTS, deployment()).body

    scaled = cluster.patch(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 3}})

    found = cluster.get(f"{DEPLOYMENTS}/web").body
    assert (scaled.body["kind"], scaled.body["spec"]) == ("Scale", {"replicas": 3})
    assert found["spec"] == {**made["spec"], "replicas": 3}
    assert cluster.patch(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": -1}}).code == 422


@pytest.mark.parametrize(
    ("ports", "said"),
    [
        ([], "spec.ports: Required value"),
        ([{"port": 80}, {"port": 81}], "spec.ports[0].name: Required value"),
        ([{"port": 0}], "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535"),
    ],
)
def test_wrong_ports_of_a_service_are_refused(
    cluster: Cluster, ports: list[Any], said: str
) -> None:
    wanted = service()
    wanted["spec"]["ports"] = ports

    answer = cluster.post(SERVICES, wanted)

    assert answer.code == 422
    assert said in answer.message


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("* * *", "expected exactly 5 fields, found 3: [* * *]"),
        ("61 * * * *", "end of range (61) above maximum (59): 61"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
    ],
)
def test_a_wrong_schedule_is_refused_with_the_reason(
    cluster: Cluster, schedule: str, said: str
) -> None:
    spec = {"schedule": schedule, "jobTemplate": {"spec": job()["spec"]}}

    answer = cluster.post(
        "/apis/batch/v1/namespaces/shop/cronjobs", {"metadata": {"name": "c"}, "spec": spec}
    )

    assert answer.code == 422
    assert said in answer.message
