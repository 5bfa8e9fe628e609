"""The Kubernetes API as the agent uses it: made, adopted, changed, switched and removed.

Every test runs against the practice cluster and a real one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from deployments.agent import kube
from deployments.agent.cluster import CommandRefused, Stale
from deployments.agent.manifests import Request
from deployments.domain import names
from deployments.domain.commands import (
    Create,
    Delete,
    PointTraffic,
    Resume,
    Scale,
    Suspend,
    Try,
    WriteFence,
)
from deployments.domain.observations import Ref
from tests.cluster.hands import (
    CRON_JOB,
    DEPLOYMENT,
    FENCE,
    JOB,
    NIGHTLY,
    RUN,
    SECRET,
    SERVICE,
    WEB,
    Slot,
    process,
    read,
    write,
)
from tests.cluster.target import Target

ANOTHER_UID = "11111111-2222-3333-4444-555555555555"


@pytest.fixture
def slot(on: Target, namespace: str) -> Slot:
    return Slot(on, namespace)


def core(slot: Slot, *rest: str) -> tuple[str, ...]:
    return ("api", "v1", "namespaces", slot.namespace, *rest)


def test_everything_is_made_without_effect(slot: Slot) -> None:
    number = slot.release(WEB, RUN, NIGHTLY)

    slot.make_workload(number)
    slot.make(JOB, "web--once-d5", number, "once", 5)
    slot.make(CRON_JOB, "web--night-r1", number, "night")
    slot.make(SERVICE, "web", None)
    seen = slot.until(lambda seen: all(w.settled for w in seen.workloads))

    assert [(w.replicas, w.meta.fence) for w in seen.workloads] == [(0, FENCE)]
    assert [(j.suspended, j.deployment, j.meta.fence) for j in seen.jobs] == [(True, 5, FENCE)]
    assert [(c.suspended, c.meta.fence) for c in seen.cron_jobs] == [(True, FENCE)]
    assert [(s.selects, s.ports) for s in seen.services] == [(None, (("main", 80, "main"),))]
    assert (seen.pods, seen.endpoints) == ((), ())


def test_what_an_earlier_look_made_is_adopted(slot: Slot) -> None:
    number = slot.release()
    first = slot.make_workload(number)

    again = slot.make(DEPLOYMENT, first.name, number, "web")

    assert again.ref.uid == first.ref.uid
    assert again.labels == first.labels


def test_somebody_elses_object_of_our_name_is_never_touched(slot: Slot) -> None:
    slot.release()
    body = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 99}]}}
    write(slot.on.api, body, *core(slot, "services"))

    with pytest.raises(CommandRefused, match="Service web exists and is not Pilothouse's"):
        slot.make(SERVICE, "web", None)

    assert read(slot.on.api, *core(slot, "services", "web"))["spec"]["ports"][0]["port"] == 99  # type: ignore[index]


def test_names_that_somebody_elses_objects_have_are_taken(slot: Slot) -> None:
    number = slot.release()
    slot.make_workload(number)
    write(slot.on.api, {"metadata": {"name": "web"}}, *core(slot, "secrets"))
    looked_at = [(SECRET, "web"), (SERVICE, "web"), (SECRET, "web-r1"), (DEPLOYMENT, "web--web-r1")]

    assert slot.on.cluster.taken(slot.place, looked_at) == ("Secret web",)


def test_another_slots_objects_are_not_this_ones(slot: Slot) -> None:
    slot.make_workload(slot.release())
    other = Slot(slot.on, slot.namespace, number=4712)
    other.release()

    assert other.seen().workloads == ()
    with pytest.raises(CommandRefused, match="Deployment web--web-r1 exists"):
        other.make(DEPLOYMENT, "web--web-r1", 1, "web")


def test_a_change_of_what_was_read_before_is_refused(slot: Slot) -> None:
    slot.make_workload(slot.release())
    slot.until(lambda seen: seen.workloads[0].settled)
    read_once = slot.ref(DEPLOYMENT, "web--web-r1")
    slot.fence += 1
    slot.change(DEPLOYMENT, "web--web-r1", WriteFence)

    for late in (Scale(read_once, 1), WriteFence(read_once), Delete(read_once)):
        with pytest.raises(Stale):
            slot.run(late)


def test_a_change_of_an_object_that_was_made_anew_is_refused(slot: Slot) -> None:
    slot.make_workload(slot.release())
    slot.make(SERVICE, "web", None)
    workload, service = slot.ref(DEPLOYMENT, "web--web-r1"), slot.ref(SERVICE, "web")

    for late in (
        Scale(replace(workload, uid=ANOTHER_UID), 1),
        Delete(replace(workload, uid=ANOTHER_UID)),
        PointTraffic(replace(service, uid=ANOTHER_UID), 1, "web"),
    ):
        with pytest.raises(Stale):
            slot.run(late)


def test_a_change_of_what_is_gone_is_refused(slot: Slot) -> None:
    slot.release()
    for late in (Scale, lambda ref, _: Delete(ref)):
        with pytest.raises(Stale):
            slot.run(late(Ref(DEPLOYMENT, "web--web-r1", "u", "1"), 1))


def test_each_change_carries_the_fence(slot: Slot) -> None:
    slot.make_workload(slot.release())
    slot.fence = FENCE + 1

    scaled = slot.scale("web--web-r1", 0)

    assert scaled is not None
    assert scaled.fence == FENCE + 1


def test_the_switch_replaces_selector_and_ports_whole(slot: Slot) -> None:
    slot.release()
    slot.make(SERVICE, "web", None)
    leftover: Any = {"spec": {"selector": {"somebody": "else"}, "ports": [{"port": 1234}]}}
    path = core(slot, "services", "web")
    merge = Request("PATCH", path, leftover, "application/merge-patch+json")
    assert slot.on.api.send(merge).status == 200

    slot.change(SERVICE, "web", lambda ref: PointTraffic(ref, 1, "web"))

    service = slot.seen().services[0]
    assert service.selector == names.stable_selector(slot.place, number=1, process="web")
    assert service.ports == (("main", 80, "main"),)
    assert service.meta.fence == FENCE


def test_a_late_switch_is_refused(slot: Slot) -> None:
    slot.release()
    slot.make(SERVICE, "web", None)
    read_once = slot.ref(SERVICE, "web")
    slot.fence += 1
    slot.run(WriteFence(read_once))

    with pytest.raises(Stale):
        slot.run(PointTraffic(read_once, 1, "web"))

    assert slot.seen().services[0].selects is None


def test_a_dry_run_makes_nothing_and_says_what_is_wrong(slot: Slot) -> None:
    number = slot.release(WEB, NIGHTLY, replace(NIGHTLY, name="never", schedule="61 * * * *"))

    slot.run(Try(Create(CRON_JOB, "web--night-r1", number, "night")))
    with pytest.raises(CommandRefused, match="schedule") as refusal:
        slot.run(Try(Create(CRON_JOB, "web--never-r1", number, "never")))

    assert (refusal.value.code, refusal.value.reason) == (422, "Invalid")
    assert slot.seen().cron_jobs == ()


def test_a_namespace_that_is_missing_is_named(slot: Slot) -> None:
    lost = Slot(slot.on, "eyes-nowhere")
    lost.release()

    with pytest.raises(CommandRefused, match='namespaces "eyes-nowhere" not found'):
        lost.make_workload(1)
    assert lost.seen().workloads == ()


def test_variables_are_in_a_secret_that_nobody_can_change(slot: Slot) -> None:
    slot.make(SECRET, "web-r1", slot.release(variables={"COLOUR": "blue"}))

    found = read(slot.on.api, *core(slot, "secrets", "web-r1"))

    assert found["data"] == {"COLOUR": "Ymx1ZQ==", "TOKEN": "czNjcmV0"}
    assert found["immutable"] is True


def test_a_secret_is_removed_by_its_name(slot: Slot) -> None:
    slot.make(SECRET, "web-r1", slot.release())
    by_name = Delete(Ref(SECRET, "web-r1", "", ""))

    slot.run(by_name)
    slot.run(by_name)

    assert slot.on.api.read(core(slot, "secrets", "web-r1")) is None


def test_suspending_marks_a_cron_job_and_resuming_takes_the_mark_away(slot: Slot) -> None:
    slot.make(CRON_JOB, "web--night-r1", slot.release(WEB, NIGHTLY), "night")

    slot.change(CRON_JOB, "web--night-r1", Resume)
    resumed = slot.seen().cron_jobs[0]
    slot.change(CRON_JOB, "web--night-r1", Suspend)
    suspended = slot.seen().cron_jobs[0]

    assert (resumed.suspended, names.SUSPENDED in resumed.meta.annotations) == (False, False)
    assert suspended.suspended
    assert suspended.meta.annotations[names.SUSPENDED] == names.SUSPENDED_BY_AGENT


def test_the_room_is_what_nodes_and_quotas_have_left(slot: Slot) -> None:
    hard = {"pods": "7", "requests.cpu": "500m", "limits.memory": "1Gi"}
    write(
        slot.on.api,
        {"metadata": {"name": "small"}, "spec": {"hard": hard}},
        *core(slot, "resourcequotas"),
    )
    reading = slot.on.cluster.read("test", [slot.namespace])

    def quotas_have_status() -> dict[str, int]:
        return {q.resource: q.left for q in slot.on.cluster.room(reading, slot.place).quotas}

    slot.until(lambda _: quotas_have_status())
    room = slot.on.cluster.room(reading, slot.place)

    assert quotas_have_status() == {"pods": 7, "requests.cpu": 500, "limits.memory": 2**30}
    assert len(room.nodes) + len(room.skipped) == 2
    assert all(node.pods > 0 for node in room.nodes)


def test_lists_are_read_page_by_page(slot: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        slot.make(SECRET, f"web-r{slot.release()}", number + 1)
    monkeypatch.setattr(kube, "LIST_LIMIT", 2)

    found = slot.on.api.objects(core(slot, "secrets"))

    ours = [item["metadata"]["name"] for item in found if "web-r" in item["metadata"]["name"]]
    assert sorted(ours) == [f"web-r{number}" for number in range(1, 6)]


def test_a_namespace_with_the_restricted_profile_takes_a_restricted_process(slot: Slot) -> None:
    number = slot.release(process(restricted=True))
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    patch = Request("PATCH", core(slot), label, "application/merge-patch+json")
    assert slot.on.api.send(patch).status == 200

    slot.make_workload(number)
    slot.scale("web--web-r1", 1)

    slot.until(lambda seen: seen.pods)
