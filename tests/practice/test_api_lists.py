"""Lists and watches: selectors, pages, revisions, and what a watch tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.practice.http_client import (
    Cluster,
    config_map,
    labelled,
    later,
    pod,
    running,
)

MAPS = "/api/v1/namespaces/shop/configmaps"
PODS = "/api/v1/namespaces/shop/pods"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running(tmp_path) as found:
        for name in ("a", "b", "c"):
            found.store.create("configmaps", labelled(name, name=name, all="yes"))
        yield found


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("name%3Da", ["a"]),
        ("name%3D%3Da", ["a"]),
        ("name!%3Da", ["b", "c"]),
        ("name%20in%20(a,b)", ["a", "b"]),
        ("name%20notin%20(a,b)", ["c"]),
        ("all", ["a", "b", "c"]),
        ("!all", []),
        ("all%3Dyes,name%20in%20(b)", ["b"]),
        ("none!%3Dx", ["a", "b", "c"]),
    ],
)
def test_label_selectors(cluster: Cluster, selector: str, names: list[str]) -> None:
    assert cluster.get(f"{MAPS}?labelSelector={selector}").names == names


def test_field_selectors(cluster: Cluster) -> None:
    cluster.store.create("pods", pod("one", node="node-1"))
    cluster.store.create("pods", pod("two", node="node-2"))

    by_node = cluster.get(f"{PODS}?fieldSelector=spec.nodeName%3Dnode-2")
    by_name = cluster.get(f"{MAPS}?fieldSelector=metadata.name!%3Da")
    by_phase = cluster.get(f"{PODS}?fieldSelector=status.phase!%3DPending")

    assert by_node.names == ["two"]
    assert by_name.names == ["b", "c"]
    assert by_phase.names == []


def test_selectors_that_are_none_are_bad_requests(cluster: Cluster) -> None:
    labels = cluster.get(f"{MAPS}?labelSelector=a%20b%3Dc")
    fields = cluster.get(f"{PODS}?fieldSelector=spec.foo%3D1")

    assert (labels.code, fields.code) == (400, 400)
    assert fields.message == "field label not supported: spec.foo"


def test_items_of_a_list_carry_no_kind_of_their_own(cluster: Cluster) -> None:
    body = cluster.get(MAPS).body

    assert (body["kind"], body["apiVersion"]) == ("ConfigMapList", "v1")
    assert "kind" not in body["items"][0]


def test_one_list_spans_all_namespaces(cluster: Cluster) -> None:
    cluster.store.create("configmaps", {"metadata": {"name": "z", "namespace": "default"}})

    assert cluster.get("/api/v1/configmaps").names == ["z", "a", "b", "c"]


def test_later_pages_are_of_the_moment_of_the_first(cluster: Cluster) -> None:
    first = cluster.get(f"{MAPS}?limit=2").body
    cluster.store.delete("configmaps", "shop", "c")
    cluster.store.create("configmaps", config_map("d"))

    second = cluster.get(f"{MAPS}?limit=2&continue={first['metadata']['continue']}")

    assert first["metadata"]["remainingItemCount"] == 1
    assert second.names == ["c"]
    assert "continue" not in second.body["metadata"]
    assert second.body["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_an_expired_page_offers_an_inconsistent_rest(cluster: Cluster) -> None:
    first = cluster.get(f"{MAPS}?limit=2").body
    cluster.server.api.lister.forget_pages()

    expired = cluster.get(f"{MAPS}?limit=2&continue={first['metadata']['continue']}")
    rest = cluster.get(f"{MAPS}?limit=2&continue={expired.body['metadata']['continue']}")

    assert (expired.code, expired.body["reason"]) == (410, "Expired")
    assert expired.message.startswith("The provided continue parameter is too old")
    assert rest.names == ["c"]


def test_a_revision_of_the_future_is_a_timeout(cluster: Cluster) -> None:
    answer = cluster.get(f"{MAPS}?resourceVersion=99999999")

    assert (answer.code, answer.body["reason"]) == (504, "Timeout")
    assert "Too large resource version: 99999999, current: " in answer.message


def test_a_watch_tells_what_happens_from_a_revision_on(cluster: Cluster) -> None:
    revision = cluster.get(MAPS).body["metadata"]["resourceVersion"]
    cluster.store.create("configmaps", config_map("new"))
    cluster.store.delete("configmaps", "shop", "new")

    told = cluster.events(f"{MAPS}?watch=1&resourceVersion={revision}&timeoutSeconds=1")

    assert [event["type"] for event in told] == ["ADDED", "DELETED"]
    assert told[0]["object"]["kind"] == "ConfigMap"


def test_a_watch_without_a_revision_begins_with_what_is_there(cluster: Cluster) -> None:
    later(0.2, lambda: cluster.store.create("configmaps", config_map("d")))

    told = cluster.events(f"{MAPS}?watch=1&timeoutSeconds=1")

    assert [event["object"]["metadata"]["name"] for event in told] == ["a", "b", "c", "d"]


def test_a_watch_sees_objects_come_into_and_leave_its_selector(cluster: Cluster) -> None:
    revision = cluster.get(MAPS).body["metadata"]["resourceVersion"]
    cluster.store.create("configmaps", config_map("w"))
    cluster.patch(f"{MAPS}/w", {"metadata": {"labels": {"l": "1"}}})
    cluster.patch(f"{MAPS}/w", {"data": {"k": "1"}})
    cluster.patch(f"{MAPS}/w", {"metadata": {"labels": {"l": None}}})

    told = cluster.events(
        f"{MAPS}?watch=1&labelSelector=l%3D1&resourceVersion={revision}&timeoutSeconds=1"
    )

    assert [event["type"] for event in told] == ["ADDED", "MODIFIED", "DELETED"]
    assert told[2]["object"]["metadata"]["labels"] == {"l": "1"}


def test_a_watch_from_a_forgotten_revision_is_told_so(cluster: Cluster) -> None:
    cluster.store.changes.forget(cluster.store.revision)

    told = cluster.events(f"{MAPS}?watch=1&resourceVersion=2&timeoutSeconds=1")

    assert [event["type"] for event in told] == ["ERROR"]
    assert told[0]["object"]["code"] == 410
    assert told[0]["object"]["message"].startswith("too old resource version: 2 (")


def test_a_quiet_watch_gets_bookmarks_where_it_wants_them(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deployments.practice.watches.BOOKMARK_SECONDS", 0.1)
    revision = cluster.store.revision

    told = cluster.events(
        f"{MAPS}?watch=1&resourceVersion={revision}&timeoutSeconds=1&allowWatchBookmarks=true"
    )

    assert {event["type"] for event in told} == {"BOOKMARK"}
    assert told[0]["object"]["metadata"] == {"resourceVersion": str(revision)}


def test_events_are_read_under_both_groups(cluster: Cluster) -> None:
    involved = {"kind": "Pod", "name": "web-1", "namespace": "shop", "uid": "u"}
    event = {"reason": "Killing", "message": "Stopping", "involvedObject": involved}
    cluster.post("/api/v1/namespaces/shop/events", {"metadata": {"name": "e"}, **event})

    core = cluster.get("/api/v1/namespaces/shop/events?fieldSelector=involvedObject.uid%3Du")
    newer = cluster.get("/apis/events.k8s.io/v1/namespaces/shop/events")

    assert core.body["items"][0]["message"] == "Stopping"
    assert newer.body["items"][0]["note"] == "Stopping"
    assert newer.body["items"][0]["regarding"] == involved


def test_a_collection_is_deleted_by_selector(cluster: Cluster) -> None:
    cluster.call("DELETE", f"{MAPS}?labelSelector=name%20in%20(a,b)")

    assert cluster.get(MAPS).names == ["c"]
