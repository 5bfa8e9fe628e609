"""Recording a look: in one transaction, of the present generation only, and once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from deployments.actions import observe, record
from deployments.domain.actors import agent
from deployments.domain.blockers import Blocker
from deployments.domain.clocks import Clock
from deployments.domain.messages import Message
from deployments.domain.states import State
from deployments.domain.step import (
    Change,
    Explain,
    GiveUp,
    GoBack,
    Move,
    Report,
    Step,
    Ticking,
)
from deployments.models import CauseClock, Deployment, DeploymentJob, Observation, Release, Slot
from tests.factories import DIGEST, NOON, make_active, make_deployment, make_release, make_slot

pytestmark = pytest.mark.django_db

AGENT = agent("practice")
REPORT = Report(serving=None, ready=1, desired=2, rolling=False)


def step(*changes: Change, ticking: tuple[Ticking, ...] = (), **more: object) -> Step:
    made = Step((), changes, ticking, REPORT, settled=not changes)
    return replace(made, **more)  # type: ignore[arg-type]


def keep(slot: Slot, taken: Step, *, generation: int = 1, seconds: float = 0) -> bool:
    now = NOON + timedelta(seconds=seconds)
    return record.record(slot.pk, taken, generation=generation, now=now, actor=AGENT)


def test_a_look_moves_a_deployment_and_stores_what_it_saw() -> None:
    deployment = make_deployment()
    move = Move(deployment.pk, State.PENDING, State.ADMITTED)

    assert keep(deployment.slot, step(move))

    deployment.refresh_from_db()
    assert deployment.state == "admitted"
    seen = Observation.objects.get()
    assert (seen.generation, seen.ready, seen.desired, seen.observed_at) == (1, 1, 2, NOON)


def test_a_failure_carries_the_cause_blocker() -> None:
    deployment = make_deployment()
    failed = Move(
        deployment.pk, State.PENDING, State.FAILED, Blocker.IMAGE_PULL, Message("No such tag.")
    )

    keep(deployment.slot, step(failed))

    deployment.refresh_from_db()
    assert (deployment.state, deployment.blocker, deployment.cause) == (
        "failed",
        "image-pull",
        "blocker",
    )


def test_a_look_of_an_older_generation_changes_nothing() -> None:
    deployment = make_deployment()
    Slot.objects.update(generation=2)
    move = Move(deployment.pk, State.PENDING, State.ADMITTED)
    clock = Clock("stage", NOON, NOON)

    assert not keep(deployment.slot, step(move, ticking=(Ticking(deployment.pk, (clock,)),)))

    deployment.refresh_from_db()
    assert deployment.state == "pending"
    assert not Observation.objects.exists()
    assert not CauseClock.objects.exists()


def test_what_moved_meanwhile_is_dropped_and_the_rest_is_kept() -> None:
    slot = make_slot()
    gone = make_deployment(slot, state=State.DRAINING)
    other = make_deployment(slot)
    moves = (
        Move(gone.pk, State.ACTIVATING, State.DRAINING),
        Move(other.pk, State.PENDING, State.ADMITTED),
    )

    assert keep(slot, step(*moves))

    gone.refresh_from_db()
    other.refresh_from_db()
    assert (gone.state, other.state) == ("draining", "admitted")


def test_two_looks_at_once_move_a_deployment_once() -> None:
    deployment = make_deployment()
    move = step(Move(deployment.pk, State.PENDING, State.ADMITTED))

    keep(deployment.slot, move)
    keep(deployment.slot, move)

    assert list(deployment.events.values_list("to_state", flat=True)) == ["admitted"]


def test_a_verdict_a_reason_and_giving_up_are_recorded() -> None:
    slot = make_slot()
    active = make_active(slot)
    leaving = make_deployment(slot, state=State.DRAINING, previous=active)
    held = make_deployment(slot)
    verdict = GoBack(leaving.pk, State.DRAINING, Blocker.READINESS, Message("It fell."))
    waits = Explain(held.pk, State.PENDING, Blocker.WAITING, Message("Waiting for r-2"))
    keep(slot, step(verdict, waits))

    end = Move(leaving.pk, State.DRAINING, State.FAILED, Blocker.READINESS, Message("It fell."))
    keep(slot, step(GiveUp(leaving.pk, "Traffic stays on r-2.", end)))

    leaving.refresh_from_db()
    held.refresh_from_db()
    assert (leaving.state, leaving.verdict_what) == ("failed", "It fell.")
    assert leaving.way_back_given_up_at == NOON
    assert (held.blocker, held.what) == ("waiting", "Waiting for r-2")


# --- the observation ---


def version_of(slot: Slot) -> int:
    return Slot.objects.get(pk=slot.pk).card_version


def test_the_cards_version_rises_only_when_what_it_shows_has_changed() -> None:
    slot = make_deployment(state=State.HEALTHY).slot
    keep(slot, step())
    assert version_of(slot) == 1

    keep(slot, step(), seconds=15)
    assert version_of(slot) == 1
    assert Observation.objects.get().observed_at == NOON + timedelta(seconds=15)
    keep(slot, step(report=replace(REPORT, ready=2)), seconds=30)
    assert version_of(slot) == 2


def test_the_release_that_serves_is_kept_on_the_slot() -> None:
    slot = make_slot()
    active = make_active(slot)
    make_deployment(slot, state=State.HEALTHY, release=active)

    keep(slot, step(report=replace(REPORT, serving=active.number)))
    slot.refresh_from_db()
    assert slot.serving_release == active
    keep(slot, step(report=REPORT))
    slot.refresh_from_db()
    assert slot.serving_release is None


@pytest.mark.parametrize("settled", [True, False])
def test_whether_something_is_left_to_do_is_kept(*, settled: bool) -> None:
    slot = make_deployment(state=State.HEALTHY).slot
    Slot.objects.update(unsettled=settled)

    keep(slot, step(settled=settled))

    assert Slot.objects.get().unsettled is not settled


# --- clocks, Jobs, digests ---


def test_clocks_are_kept_run_on_and_go_with_their_cause() -> None:
    deployment = make_deployment()
    stage = Clock("stage", NOON, NOON, mark="pending")
    ready = Clock("ready", NOON, NOON, subject="pod-1", detail="x" * 500)
    observe.tick(deployment.pk, [stage, ready])
    later = replace(stage, last_seen=NOON + timedelta(seconds=2), unseen_seconds=1.5)

    observe.tick(deployment.pk, [later])

    row = CauseClock.objects.get()
    assert (row.cause, row.since, row.last_seen, row.unseen_seconds) == (
        "stage",
        NOON,
        NOON + timedelta(seconds=2),
        1.5,
    )


def test_many_clocks_cost_no_more_than_one(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    deployment = make_deployment()
    many = [Clock("ready", NOON, NOON, subject=f"pod-{index}") for index in range(100)]

    with django_assert_num_queries(2):
        observe.tick(deployment.pk, many)
    assert CauseClock.objects.count() == 100


def test_a_long_detail_is_cut() -> None:
    deployment = make_deployment()

    observe.tick(deployment.pk, [Clock("stage", NOON, NOON, detail="x" * 500)])

    assert len(CauseClock.objects.get().detail) == 300


def test_the_first_uid_of_a_job_counts() -> None:
    deployment = make_deployment()

    record.remember_jobs({(deployment.pk, "web--release-d1"): "first"})
    record.remember_jobs({(deployment.pk, "web--release-d1"): "second"})

    assert DeploymentJob.objects.get().uid == "first"


def test_a_digest_that_is_known_is_not_written_again() -> None:
    release = make_release(make_slot(), digest="")

    observe.remember_digest(release.pk, DIGEST)
    observe.remember_digest(release.pk, "sha256:" + "b" * 64)

    assert Release.objects.get().digest == DIGEST


def test_an_ended_deployment_is_not_explained_by_a_late_look() -> None:
    deployment = make_deployment(state=State.CANCELLED)

    keep(
        deployment.slot,
        step(Explain(deployment.pk, State.PENDING, Blocker.WAITING, Message("Waiting"))),
    )

    assert Deployment.objects.get().blocker == ""
