"""Rows → the values that the agent decides from."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from deployments.actions import explain, observe
from deployments.actions.move import move
from deployments.domain.actors import agent
from deployments.domain.blockers import Blocker
from deployments.domain.clocks import Clock
from deployments.domain.messages import Message
from deployments.domain.states import State
from deployments.domain.step import Report
from deployments.models import Environment, Slot
from deployments.reads import snapshots
from deployments.reads.snapshots import SlotSnapshot
from tests.factories import (
    DIGEST,
    NOON,
    make_active,
    make_cluster,
    make_deployment,
    make_environment,
    make_installation,
    make_release,
    make_slot,
)

pytestmark = pytest.mark.django_db

AGENT = agent("practice")


@pytest.fixture(autouse=True)
def installation() -> str:
    return make_installation().token


@pytest.fixture
def slot() -> Slot:
    return make_slot()


def snapshot_of(slot: Slot) -> SlotSnapshot:
    cluster_id = slot.environment.cluster_id
    assert cluster_id is not None
    (found,) = snapshots.slots_of(cluster_id, NOON)
    return found


def test_a_slot_in_which_nothing_was_ever_deployed_is_none() -> None:
    environment = make_slot().environment
    assert environment.cluster_id is not None

    assert snapshots.slots_of(environment.cluster_id, NOON) == []


def test_what_moves_before_and_past_the_point_stand_apart(slot: Slot, installation: str) -> None:
    active = make_active(slot)
    past = make_deployment(slot, state=State.DRAINING, previous=active)
    before = make_deployment(slot, state=State.PENDING)

    wanted = snapshot_of(slot).wanted

    assert wanted.last_past is not None
    assert wanted.before is not None
    assert (wanted.last_past.id, wanted.before.id) == (past.pk, before.pk)
    assert (wanted.last_past.previous, wanted.active) == (wanted.release(1), wanted.release(1))
    assert wanted.target == wanted.release(2)
    assert [release.number for release in wanted.releases] == [1, 2, 3]
    assert wanted.place.installation == installation
    assert (wanted.place.service, wanted.place.slot) == ("web", slot.pk)


def test_a_release_says_what_runs_and_what_was_asked_for(slot: Slot) -> None:
    make_deployment(slot, release=make_release(slot, digest=""))
    assert snapshot_of(slot).wanted.releases[0].image is None

    slot.releases.update(digest=DIGEST)
    (release,) = snapshot_of(slot).wanted.releases
    assert release.image == f"registry.example/shop/web@{DIGEST}"
    assert release.asked_for == "registry.example/shop/web:1"


def test_only_the_last_that_passed_the_point_counts_among_the_ended(slot: Slot) -> None:
    make_deployment(slot, state=State.HEALTHY)
    last = make_deployment(slot, state=State.CANCELLED, past=True)
    make_deployment(slot, state=State.CANCELLED)

    wanted = snapshot_of(slot).wanted

    assert wanted.last_past is not None
    assert wanted.last_past.id == last.pk
    assert wanted.going_back == wanted.last_past
    assert wanted.last_healthy == 0


def test_what_ended_badly_is_remembered_for_a_week(slot: Slot) -> None:
    recent = make_deployment(slot, state=State.CANCELLED)
    make_deployment(slot, state=State.HEALTHY)
    old = make_deployment(slot, state=State.FAILED)
    type(old).objects.filter(pk=old.pk).update(ended_at=NOON - timedelta(days=7))

    assert snapshot_of(slot).wanted.ended == {recent.pk}


def test_a_verdict_clocks_jobs_and_what_is_shown_are_read_back(slot: Slot) -> None:
    make_active(slot)
    past = make_deployment(slot, state=State.DRAINING)
    held = make_deployment(slot)
    message = Message("It fell.", "Traffic goes back.", "Deploy again.")
    explain.go_back(
        past.pk,
        expected=State.DRAINING,
        blocker=Blocker.READINESS,
        message=message,
        now=NOON,
        actor=AGENT,
    )
    explain.explain(
        held.pk,
        state=State.PENDING,
        blocker=Blocker.WAITING,
        message=Message("Waiting"),
        now=NOON,
        actor=AGENT,
    )
    clock = Clock("ready", NOON, NOON, "pod-1", "12:00", "fine", 1.5)
    observe.tick(past.pk, [clock])
    observe.remember_job(past.pk, name="web--seed-d2", uid="u1")

    wanted = snapshot_of(slot).wanted

    assert wanted.last_past is not None
    assert wanted.last_past.verdict is not None
    assert wanted.last_past.verdict.message == message
    assert wanted.last_past.clocks == (clock,)
    assert wanted.last_past.job_uids == {"web--seed-d2": "u1"}
    assert wanted.before is not None
    assert wanted.before.waits


def test_retired_releases_that_are_kept_are_there_and_removed_ones_are_not(slot: Slot) -> None:
    kept = make_release(slot, healthy_at=NOON)
    removed = make_release(slot, healthy_at=NOON)
    slot.releases.filter(pk=removed.pk).update(removed_at=NOON)
    make_release(slot)
    make_deployment(slot, state=State.HEALTHY, release=make_active(slot))

    assert [r.number for r in snapshot_of(slot).wanted.releases] == [kept.number, 4]


# --- when it is due ---


@pytest.mark.parametrize(("seconds", "due"), [(14.9, False), (15, True)])
def test_a_settled_slot_is_due_after_fifteen_seconds(
    seconds: float, slot: Slot, *, due: bool
) -> None:
    make_deployment(slot, state=State.HEALTHY)
    report = Report(None, 1, 1, rolling=False)
    observe.observe(slot.pk, generation=1, report=report, settled=True, now=NOON)

    assert snapshot_of(slot).is_due(NOON + timedelta(seconds=seconds)) is due


def test_a_slot_that_was_never_seen_moves_or_is_unsettled_is_due(slot: Slot) -> None:
    make_deployment(slot, state=State.HEALTHY)
    assert snapshot_of(slot).is_due(NOON)
    report = Report(None, 1, 1, rolling=False)
    observe.observe(slot.pk, generation=1, report=report, settled=False, now=NOON)
    assert snapshot_of(slot).is_due(NOON)
    observe.observe(slot.pk, generation=1, report=report, settled=True, now=NOON)
    make_deployment(slot)

    assert snapshot_of(slot).is_due(NOON)


# --- whether it is still as it was ---


def test_a_snapshot_stands_until_a_state_or_the_fence_changes(slot: Slot) -> None:
    deployment = make_deployment(slot)
    snapshot = snapshot_of(slot)
    assert snapshots.still_as(snapshot)

    move(deployment.pk, expected=State.PENDING, to=State.ADMITTED, now=NOON, actor=AGENT)
    assert not snapshots.still_as(snapshot)
    snapshot = snapshot_of(slot)
    Slot.objects.update(fence=9)
    assert not snapshots.still_as(snapshot)


def test_a_deployment_that_came_meanwhile_is_noticed(slot: Slot) -> None:
    make_deployment(slot, state=State.HEALTHY)
    snapshot = snapshot_of(slot)

    make_deployment(slot)

    assert not snapshots.still_as(snapshot)


# --- cost, and clusters ---


def _fill(environment: Environment, count: int) -> None:
    for index in range(count):
        slot = make_slot(environment, f"service-{environment.pk}-{index}")
        active = make_active(slot)
        past = make_deployment(slot, state=State.DRAINING, previous=active)
        make_deployment(slot, state=State.PENDING)
        make_deployment(slot, state=State.FAILED)
        observe.tick(past.pk, [Clock("stage", NOON, NOON)])
        observe.remember_job(past.pk, name="x", uid="u")


@pytest.mark.parametrize("count", [1, 20])
def test_the_queries_are_the_same_few_whatever_the_number_of_slots(
    count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    environment = make_environment()
    _fill(environment, count)
    assert environment.cluster_id is not None

    with django_assert_num_queries(7):
        found = snapshots.slots_of(environment.cluster_id, NOON)

    assert len(found) == count


def test_another_clusters_slots_are_not_there(slot: Slot) -> None:
    make_deployment(slot)

    assert snapshots.slots_of(make_cluster().pk, NOON) == []


def test_only_clusters_that_environments_stand_on_are_looked_at(slot: Slot) -> None:
    make_cluster()

    assert snapshots.clusters_to_look_at() == [slot.environment.cluster_id]


@pytest.mark.parametrize(("seconds", "due"), [(14.9, False), (15, True)])
def test_a_quiet_cluster_is_asked_every_fifteen_seconds_whether_it_answers(
    seconds: float, slot: Slot, *, due: bool
) -> None:
    cluster = slot.environment.cluster
    assert cluster is not None
    assert snapshots.heartbeat_is_due(cluster.pk, NOON)
    type(cluster).objects.update(heartbeat_at=NOON)

    assert snapshots.heartbeat_is_due(cluster.pk, NOON + timedelta(seconds=seconds)) is due
