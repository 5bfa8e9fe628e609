"""The store: revisions, preconditions, deletion, and what a restart finds."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from deployments.practice.errors import ApiError, forbidden
from deployments.practice.journal import StateInUse
from deployments.practice.kinds import KINDS
from deployments.practice.store import Object, Store
from tests.practice.http_client import config_map, deployment, pod, service

WRITE_UNTIL_KILLED = """
import pathlib, sys
from deployments.practice.store import Store
store = Store(pathlib.Path(sys.argv[1]))
for number in range(100000):
    made = store.create("configmaps", {"metadata": {"name": f"c{number}", "namespace": "default"}})
    print(made["metadata"]["name"], flush=True)
"""


@pytest.fixture
def store() -> Store:
    made = Store(None)
    made.create("namespaces", {"metadata": {"name": "shop"}})
    return made


def test_every_write_gets_the_next_revision_of_the_whole_store(store: Store) -> None:
    before = store.revision

    first = store.create("configmaps", config_map("a"))
    second = store.create("services", service())

    versions = [int(obj["metadata"]["resourceVersion"]) for obj in (first, second)]
    assert versions == [before + 1, before + 2]


def test_an_update_that_changes_nothing_is_no_write(store: Store) -> None:
    made = store.create("configmaps", config_map("a", k="1"))
    before = store.revision

    again = store.update("configmaps", made, manager="somebody")

    assert store.revision == before
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_an_update_of_a_stale_object_is_a_conflict(store: Store) -> None:
    made = store.create("configmaps", config_map("a", k="1"))
    store.update("configmaps", {**made, "data": {"k": "2"}})

    with pytest.raises(ApiError, match="the object has been modified") as refused:
        store.update("configmaps", {**made, "data": {"k": "3"}})

    assert (refused.value.code, refused.value.reason) == (409, "Conflict")


def test_generation_counts_changes_of_what_is_wanted_only(store: Store) -> None:
    made = store.create("deployments", deployment())
    made["metadata"]["labels"] = {"a": "b"}
    labelled = store.update("deployments", made)
    labelled["status"] = {"replicas": 1}
    reported = store.update("deployments", labelled, subresource="status")
    reported["spec"]["replicas"] = 3

    scaled = store.update("deployments", reported)

    assert reported["metadata"]["generation"] == 1
    assert scaled["metadata"]["generation"] == 2


def test_status_changes_only_through_its_subresource(store: Store) -> None:
    made = store.create("deployments", deployment())
    both = {**made, "spec": {**made["spec"], "replicas": 5}, "status": {"replicas": 1}}

    plain = store.update("deployments", both)
    plain["spec"]["replicas"] = 9
    plain["status"] = {"replicas": 2}
    reported = store.update("deployments", plain, subresource="status")

    assert reported["spec"]["replicas"] == 5
    assert reported["status"] == {"replicas": 2}


def test_a_pod_on_a_node_stays_until_kubelet_removes_it(store: Store) -> None:
    made = store.create("pods", pod())
    marked = store.delete("pods", "shop", "web-1")

    store.remove("pods", "shop", "web-1", uid=made["metadata"]["uid"])

    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert store.find("pods", "shop", "web-1") is None


def test_a_pod_without_a_node_goes_at_once(store: Store) -> None:
    store.create("pods", pod(node=""))

    store.delete("pods", "shop", "web-1")

    assert store.find("pods", "shop", "web-1") is None


def test_removing_by_an_older_uid_leaves_the_new_object_alone(store: Store) -> None:
    store.create("configmaps", config_map("a"))

    store.remove("configmaps", "shop", "a", uid="of-an-older-one")

    assert store.find("configmaps", "shop", "a") is not None


def test_a_foreground_delete_leaves_the_object_until_its_finalizer_goes(store: Store) -> None:
    store.create("deployments", deployment())
    marked = store.delete("deployments", "shop", "web", propagation="Foreground")
    assert marked["metadata"]["finalizers"] == ["foregroundDeletion"]
    marked["metadata"]["finalizers"] = []

    store.update("deployments", marked)

    assert store.find("deployments", "shop", "web") is None


def test_a_namespace_is_marked_and_takes_nothing_new(store: Store) -> None:
    store.delete("namespaces", None, "shop")

    with pytest.raises(ApiError, match="because it is being terminated") as refused:
        store.create("configmaps", config_map("a"))

    assert store.get("namespaces", None, "shop")["status"]["phase"] == "Terminating"
    assert refused.value.details["causes"][0]["reason"] == "NamespaceTerminating"


def test_an_admission_hook_can_refuse_and_nothing_is_stored(store: Store) -> None:
    def no_pods(plural: str, operation: str, new: Object, old: Object | None) -> None:
        if (plural, operation) == ("pods", "CREATE"):
            raise forbidden(KINDS["pods"], new["metadata"]["name"], "exceeded quota: q")

    store.admission.append(no_pods)

    with pytest.raises(ApiError, match='pods "web-1" is forbidden: exceeded quota: q'):
        store.create("pods", pod())

    assert store.list("pods") == []


def test_what_is_handed_out_is_a_copy(store: Store) -> None:
    store.create("configmaps", config_map("a", k="1"))

    store.get("configmaps", "shop", "a")["data"]["k"] = "changed"
    store.list("configmaps")[0]["data"]["k"] = "changed"

    assert store.get("configmaps", "shop", "a")["data"] == {"k": "1"}


def test_services_get_addresses_of_their_own_and_keep_them(store: Store) -> None:
    first = store.create("services", service("a"))
    second = store.create("services", service("b"))
    del first["spec"]["clusterIP"], first["spec"]["clusterIPs"]

    kept = store.update("services", first)

    assert kept["spec"]["clusterIP"] != second["spec"]["clusterIP"]
    assert kept["spec"]["clusterIP"].startswith("10.96.")


def test_events_are_forgotten_after_an_hour() -> None:
    now = [1_000_000.0]
    store = Store(None, clock=lambda: now[0])
    event = {"metadata": {"name": "old", "namespace": "default"}, "reason": "Old"}
    store.create("events", event)
    now[0] += 3700

    store.create("events", {"metadata": {"name": "new", "namespace": "default"}})

    assert [e["metadata"]["name"] for e in store.list("events")] == ["new"]


def test_a_restart_finds_every_object_and_goes_on_counting(tmp_path: Path) -> None:
    with closing(Store(tmp_path)) as first:
        made = first.create("configmaps", {"metadata": {"name": "a", "namespace": "default"}})

    with closing(Store(tmp_path)) as second:
        assert second.get("configmaps", "default", "a") == made
        assert second.revision == first.revision


def test_a_kill_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", WRITE_UNTIL_KILLED, str(tmp_path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline().strip() for _ in range(50)]
        os.kill(writer.pid, signal.SIGKILL)
        told += [line.strip() for line in writer.stdout if line.endswith("\n")]

    with closing(Store(tmp_path)) as store:
        found = {obj["metadata"]["name"] for obj in store.list("configmaps")}
    assert set(told) <= found


def test_a_half_written_last_line_is_not_read(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    with closing(Store(tmp_path)) as first:
        first.create("configmaps", {"metadata": {"name": "a", "namespace": "default"}})
        shutil.copytree(tmp_path, killed)
    with (killed / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"revision": 99, "plu')

    with closing(Store(killed)) as second:
        second.create("configmaps", {"metadata": {"name": "b", "namespace": "default"}})

    with closing(Store(killed)) as third:
        assert [obj["metadata"]["name"] for obj in third.list("configmaps")] == ["a", "b"]


def test_a_folder_serves_one_store_at_a_time(tmp_path: Path) -> None:
    first = Store(tmp_path)

    with pytest.raises(StateInUse, match="is in use by another practice cluster"):
        Store(tmp_path)

    first.close()


def test_the_snapshot_is_one_json_document(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create("configmaps", {"metadata": {"name": "a", "namespace": "default"}})

    store.close()

    found = json.loads((tmp_path / "snapshot.json").read_text())
    assert found["revision"] == store.revision
    assert (tmp_path / "journal.jsonl").read_bytes() == b""
