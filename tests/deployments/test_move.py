"""The one function that writes a state: the row, the event, the slot, and who was first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from deployments.actions import explain
from deployments.actions.move import move
from deployments.actions.succeed import previous_release
from deployments.domain.actors import agent, person
from deployments.domain.blockers import Blocker
from deployments.domain.errors import IllegalMove, StaleState
from deployments.domain.messages import Message
from deployments.domain.releases import Config, ReleaseCommand
from deployments.domain.states import Cause, State
from deployments.models import Deployment, DeploymentEvent, Release, Slot
from tests.factories import (
    NOON,
    default_config,
    make_active,
    make_deployment,
    make_release,
    make_slot,
)

pytestmark = pytest.mark.django_db

AGENT = agent("practice")
SAID = Message("It fell.", "r-1 keeps serving.", "Deploy again.")


def go(deployment: Deployment, expected: State, to: State, **more: object) -> Deployment:
    return move(deployment.pk, expected=expected, to=to, now=NOON, actor=AGENT, **more)  # type: ignore[arg-type]


def fence_of(slot: Slot) -> int:
    return Slot.objects.get(pk=slot.pk).fence


def go_to_healthy(slot: Slot) -> Deployment:
    deployment = make_deployment(slot, state=State.DRAINING)
    return go(deployment, State.DRAINING, State.HEALTHY)


def test_a_move_writes_the_row_and_one_event() -> None:
    deployment = make_deployment()

    later = NOON + timedelta(minutes=1)
    move(deployment.pk, expected=State.PENDING, to=State.ADMITTED, now=later, actor=AGENT)

    deployment.refresh_from_db()
    assert (deployment.state, deployment.state_since, deployment.version) == ("admitted", later, 2)
    assert deployment.ended_at is None
    event = DeploymentEvent.objects.get()
    assert (event.number, event.kind, event.at) == (1, "move", later)
    assert (event.from_state, event.to_state) == ("pending", "admitted")
    assert (event.actor_kind, event.actor_name) == ("agent", "practice")


def test_an_end_carries_blocker_cause_and_message() -> None:
    deployment = make_deployment(state=State.STARTING)

    go(
        deployment,
        State.STARTING,
        State.FAILED,
        blocker=Blocker.STARTUP,
        message=SAID,
        cause=Cause.BLOCKER,
    )

    deployment.refresh_from_db()
    assert (deployment.blocker, deployment.cause, deployment.ended_at) == (
        "startup",
        "blocker",
        NOON,
    )
    assert (deployment.what, deployment.leaves, deployment.do) == (SAID.what, SAID.leaves, SAID.do)
    event = DeploymentEvent.objects.get()
    assert (event.blocker, event.cause, event.message) == ("startup", "blocker", str(SAID))


def test_going_on_clears_the_blocker() -> None:
    deployment = make_deployment()
    explain.explain(
        deployment.pk,
        state=State.PENDING,
        blocker=Blocker.WAITING,
        message=Message("Waiting"),
        now=NOON,
        actor=AGENT,
    )

    moved = go(deployment, State.PENDING, State.ADMITTED)

    assert (moved.blocker, moved.what) == ("", "")


def test_whoever_comes_second_is_told_and_changes_nothing() -> None:
    deployment = make_deployment(state=State.ADMITTED)

    with pytest.raises(StaleState, match=r"This deployment is already Deploying: Admitted\."):
        go(deployment, State.PENDING, State.ADMITTED)

    assert not DeploymentEvent.objects.exists()


def test_the_deployments_own_route_decides() -> None:
    with pytest.raises(IllegalMove):
        go(make_deployment(state=State.ADMITTED), State.ADMITTED, State.RELEASING)

    config = Config(default_config().processes, ReleaseCommand(("migrate",)))
    slot = make_slot()
    own = make_deployment(slot, state=State.ADMITTED, release=make_release(slot, config=config))
    with pytest.raises(IllegalMove):
        go(own, State.ADMITTED, State.STARTING)
    assert go(own, State.ADMITTED, State.RELEASING).state == "releasing"


def test_entering_activating_passes_the_point_and_fixes_the_previous_release() -> None:
    slot = make_slot()
    active = make_active(slot)
    deployment = make_deployment(slot, state=State.QUALIFYING)
    fence = fence_of(slot)

    go(deployment, State.QUALIFYING, State.ACTIVATING)

    deployment.refresh_from_db()
    assert deployment.past_point_of_no_return
    assert deployment.previous_release == active
    assert fence_of(slot) == fence + 1


@pytest.mark.parametrize(
    ("start", "to", "raised"),
    [
        (State.PENDING, State.ADMITTED, 0),
        (State.PENDING, State.CANCELLED, 0),
        (State.ACTIVATING, State.DRAINING, 0),
        (State.DRAINING, State.HEALTHY, 1),
        (State.DRAINING, State.CANCELLED, 1),
        (State.ACTIVATING, State.CANCELLED, 1),
    ],
)
def test_the_fence_rises_with_activating_and_any_end_past_the_point(
    start: State, to: State, raised: int
) -> None:
    deployment = make_deployment(state=start)

    go(deployment, start, to)

    assert fence_of(deployment.slot) == raised


def test_every_move_leaves_the_slot_to_be_looked_at_soon() -> None:
    deployment = make_deployment(state=State.PENDING)

    go(deployment, State.PENDING, State.CANCELLED)

    assert Slot.objects.get().unsettled


# --- becoming the active release ---


def test_healthy_makes_the_release_active_and_retires_the_one_before() -> None:
    slot = make_slot()
    first = go_to_healthy(slot).release
    second = go_to_healthy(slot).release

    slot.refresh_from_db()
    assert slot.active_release == second
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.healthy_at, first.retired_at, first.removed_at) == (NOON, NOON, None)
    assert (second.healthy_at, second.retired_at) == (NOON, None)


def test_three_retired_releases_are_kept() -> None:
    slot = make_slot()
    for hour in range(6):
        deployment = make_deployment(slot, state=State.DRAINING)
        move(
            deployment.pk,
            expected=State.DRAINING,
            to=State.HEALTHY,
            now=NOON + timedelta(hours=hour),
            actor=AGENT,
        )

    removed = Release.objects.filter(removed_at__isnull=False)
    assert sorted(removed.values_list("number", flat=True)) == [1, 2]


def test_a_retired_release_that_an_open_deployment_names_is_not_removed() -> None:
    slot = make_slot()
    oldest = go_to_healthy(slot).release
    for _ in range(3):
        go_to_healthy(slot)
    make_deployment(slot, state=State.PENDING, release=oldest)

    go_to_healthy(slot)

    oldest.refresh_from_db()
    assert oldest.removed_at is None


# --- what it would go back to ---


def test_the_previous_release_is_the_active_one() -> None:
    slot = make_slot()
    assert previous_release(slot) is None
    active = make_active(slot)

    assert previous_release(slot) == active


def test_after_a_way_back_that_was_given_up_it_is_the_release_that_traffic_stayed_on() -> None:
    slot = make_slot()
    active = make_active(slot)
    stayed = make_deployment(slot, state=State.CANCELLED, past=True, previous=active)
    explain.give_up_way_back(stayed.pk, leaves="Traffic stays on r-2.", now=NOON, actor=AGENT)
    assert previous_release(slot) == stayed.release

    make_deployment(slot, state=State.FAILED, past=True, previous=stayed.release)

    assert previous_release(slot) == stayed.release


def test_after_one_that_went_back_it_is_the_active_one_again() -> None:
    slot = make_slot()
    active = make_active(slot)
    make_deployment(slot, state=State.FAILED, past=True, previous=active)

    assert previous_release(slot) == active


# --- the verdict ---


def give_verdict(deployment: Deployment) -> None:
    explain.go_back(
        deployment.pk,
        expected=State(deployment.state),
        blocker=Blocker.READINESS,
        message=SAID,
        now=NOON,
        actor=AGENT,
    )


def test_a_verdict_is_written_raises_the_fence_and_is_shown() -> None:
    deployment = make_deployment(state=State.DRAINING)

    give_verdict(deployment)

    deployment.refresh_from_db()
    assert (deployment.verdict_blocker, deployment.verdict_what) == ("readiness", SAID.what)
    assert (deployment.blocker, deployment.what, deployment.version) == ("readiness", SAID.what, 2)
    assert fence_of(deployment.slot) == 1
    assert DeploymentEvent.objects.get().kind == "blocker"


def test_a_second_verdict_is_refused() -> None:
    deployment = make_deployment(state=State.DRAINING)
    give_verdict(deployment)

    with pytest.raises(StaleState):
        give_verdict(deployment)


@pytest.mark.parametrize("to", [State.HEALTHY, State.CANCELLED])
def test_after_a_verdict_only_failed_is_possible(to: State) -> None:
    slot = make_slot()
    active = make_active(slot)
    deployment = make_deployment(slot, state=State.DRAINING, previous=active)
    give_verdict(deployment)

    with pytest.raises(StaleState, match=r"r-2 is already going back to r-1\."):
        go(deployment, State.DRAINING, to)
    with_blocker = {"blocker": Blocker.READINESS, "message": SAID}
    assert go(deployment, State.DRAINING, State.FAILED, **with_blocker).state == "failed"


def test_giving_up_is_written_once_and_also_on_an_ended_row() -> None:
    deployment = make_deployment(state=State.CANCELLED, past=True)

    for minute in (1, 2):
        explain.give_up_way_back(
            deployment.pk,
            leaves="Traffic stays on r-5.",
            now=NOON + timedelta(minutes=minute),
            actor=AGENT,
        )

    deployment.refresh_from_db()
    assert deployment.way_back_given_up_at == NOON + timedelta(minutes=1)
    assert deployment.leaves == "Traffic stays on r-5."
    assert DeploymentEvent.objects.count() == 1


# --- explaining ---


def say(deployment: Deployment, blocker: Blocker | None, what: str) -> bool:
    return explain.explain(
        deployment.pk,
        state=State.PENDING,
        blocker=blocker,
        message=Message(what),
        now=NOON,
        actor=person("ana"),
    )


def test_an_event_where_the_blocker_changes_a_changed_message_alone_raises_the_version() -> None:
    deployment = make_deployment()

    assert say(deployment, Blocker.WAITING, "Waiting for r-1")
    assert not say(deployment, Blocker.WAITING, "Waiting for r-1")
    assert say(deployment, Blocker.WAITING, "Waiting for r-2")
    assert say(deployment, None, "")

    deployment.refresh_from_db()
    assert deployment.version == 4
    assert list(DeploymentEvent.objects.values_list("number", "blocker")) == [
        (1, "waiting"),
        (2, ""),
    ]


def test_what_moved_on_meanwhile_is_not_explained() -> None:
    deployment = make_deployment(state=State.ADMITTED)

    assert not say(deployment, Blocker.WAITING, "Waiting for r-1")
