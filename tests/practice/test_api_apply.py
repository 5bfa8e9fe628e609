"""Server-side apply: ownership, conflicts, force, and what disappears."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.practice.http_client import Cluster, config_map, deployment, running, service

MAP = "/api/v1/namespaces/shop/configmaps/a"
SERVICE = "/api/v1/namespaces/shop/services/web"
DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running(tmp_path) as found:
        yield found


def owners(obj: dict[str, Any]) -> dict[tuple[str, str], Any]:
    entries = obj["metadata"]["managedFields"]
    return {(e["manager"], e["operation"]): e["fieldsV1"] for e in entries}


def test_applying_what_is_not_there_creates_it(cluster: Cluster) -> None:
    answer = cluster.apply(MAP, config_map("a", k="1"), "ours")

    assert answer.code == 201
    assert owners(answer.body) == {("ours", "Apply"): {"f:data": {"f:k": {}}}}


def test_applying_the_same_again_writes_nothing(cluster: Cluster) -> None:
    first = cluster.apply(DEPLOYMENT, deployment(), "ours").body

    second = cluster.apply(DEPLOYMENT, deployment(), "ours").body

    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_a_field_of_another_manager_is_a_conflict_that_names_both(cluster: Cluster) -> None:
    cluster.apply(SERVICE, service(release="r-1"), "first")

    answer = cluster.apply(SERVICE, service(release="r-2"), "second")

    assert answer.code == 409
    assert answer.message == ('Apply failed with 1 conflict: conflict with "first": .spec.selector')
    assert answer.body["details"]["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "first"',
            "field": ".spec.selector",
        }
    ]


def test_several_conflicts_are_listed(cluster: Cluster) -> None:
    cluster.apply(DEPLOYMENT, deployment(), "first")
    other = deployment(replicas=2)
    other["spec"]["template"]["spec"]["containers"][0]["image"] = "other"

    answer = cluster.apply(DEPLOYMENT, other, "second")

    assert answer.message == (
        'Apply failed with 2 conflicts: conflicts with "first":\n'
        "- .spec.replicas\n"
        '- .spec.template.spec.containers[name="web"].image'
    )


def test_what_a_plain_update_wrote_conflicts_too(cluster: Cluster) -> None:
    cluster.apply(DEPLOYMENT, deployment(), "ours")
    cluster.patch(f"{DEPLOYMENT}?fieldManager=kubectl", {"spec": {"replicas": 5}})

    answer = cluster.apply(DEPLOYMENT, deployment(), "ours")

    assert answer.message == (
        'Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas'
    )


def test_force_takes_a_field_over(cluster: Cluster) -> None:
    cluster.apply(SERVICE, service(release="r-1"), "first")

    answer = cluster.apply(SERVICE, service(release="r-2"), "second", options="&force=true")

    assert answer.body["spec"]["selector"] == {"release": "r-2"}
    assert "f:selector" not in owners(answer.body)["first", "Apply"]["f:spec"]


def test_a_selector_is_replaced_as_a_whole(cluster: Cluster) -> None:
    cluster.apply(SERVICE, service(release="r-1", slot="7"), "ours")

    answer = cluster.apply(SERVICE, service(release="r-2"), "ours")

    assert answer.body["spec"]["selector"] == {"release": "r-2"}


def test_the_same_value_can_belong_to_two(cluster: Cluster) -> None:
    cluster.apply(MAP, config_map("a", k="1"), "first")

    cluster.apply(MAP, config_map("a", k="1"), "second")
    answer = cluster.apply(MAP, config_map("a"), "first")

    assert answer.body["data"] == {"k": "1"}


def test_a_field_that_is_applied_no_more_disappears(cluster: Cluster) -> None:
    cluster.apply(MAP, config_map("a", k="1", gone="x"), "ours")

    answer = cluster.apply(MAP, config_map("a", k="1"), "ours")

    assert answer.body["data"] == {"k": "1"}


def test_a_probe_that_is_applied_no_more_goes_with_its_defaults(cluster: Cluster) -> None:
    wanted = deployment()
    container = wanted["spec"]["template"]["spec"]["containers"][0]
    container["readinessProbe"] = {"httpGet": {"port": "main"}}
    cluster.apply(DEPLOYMENT, wanted, "ours")

    answer = cluster.apply(DEPLOYMENT, deployment(), "ours")

    assert answer.code == 200
    assert "readinessProbe" not in answer.body["spec"]["template"]["spec"]["containers"][0]


def test_what_others_set_stays(cluster: Cluster) -> None:
    cluster.apply(MAP, config_map("a", k="1"), "ours")
    cluster.patch(MAP, {"metadata": {"annotations": {"theirs": "x"}}, "data": {"more": "2"}})

    answer = cluster.apply(MAP, config_map("a", k="2"), "ours")

    assert answer.body["data"] == {"k": "2", "more": "2"}
    assert answer.body["metadata"]["annotations"] == {"theirs": "x"}


def test_an_apply_with_an_older_revision_is_a_conflict(cluster: Cluster) -> None:
    old = cluster.apply(MAP, config_map("a", k="1"), "ours").body["metadata"]["resourceVersion"]
    cluster.apply(MAP, config_map("a", k="2"), "ours")
    wanted = config_map("a", k="3")
    wanted["metadata"]["resourceVersion"] = old

    answer = cluster.apply(MAP, wanted, "ours")

    assert answer.code == 409
    assert "the object has been modified" in answer.message


def test_a_dry_run_of_an_apply_stores_nothing(cluster: Cluster) -> None:
    answer = cluster.apply(MAP, config_map("a", k="1"), "ours", options="&dryRun=All")

    assert answer.code == 201
    assert cluster.get(MAP).code == 404


def test_an_apply_without_a_manager_is_refused(cluster: Cluster) -> None:
    answer = cluster.patch(MAP, config_map("a"), "application/apply-patch+yaml")

    assert answer.code == 422
    assert answer.message == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: '
        "is required for apply patch"
    )


def test_two_items_of_one_key_are_refused(cluster: Cluster) -> None:
    wanted = deployment()
    twice = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    wanted["spec"]["template"]["spec"]["containers"][0]["env"] = twice

    answer = cluster.apply(DEPLOYMENT, wanted, "ours")

    assert answer.code == 500
    assert answer.message.endswith('.env: duplicate entries for key [name="A"]')
