"""What pages show, as values: colours, stages, fingerprints. No database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from deployments.domain.messages import Message
from deployments.domain.states import MOVING, State, route_of
from deployments.reads import stages
from deployments.reads.cards import (
    WHILE_MOVING,
    WHILE_SETTLED,
    Attempt,
    Card,
    Control,
    Image,
    Place,
    Progress,
    Serving,
    Sign,
    Tone,
    lifecycle_tone,
    state_tone,
)

NOON = datetime(2026, 12, 7, 12, tzinfo=UTC)
ROUTE = route_of(release_command=False, stop_first=False)
READY = Serving("Ready", confirmed=True, ready=2, desired=2, release="r-1")


def after(seconds: int) -> datetime:
    return NOON + timedelta(seconds=seconds)


def attempt(state: State) -> Attempt:
    return Attempt(
        id=7,
        release="r-2",
        replaces="r-1",
        state=state,
        sign=Sign("any", Tone.MOVING),
        since=NOON,
        created_at=NOON,
        by="engineer",
        reason="",
        image=Image("sample:2"),
        message=Message("Something happened."),
    )


def card(state: State, serving: Serving = READY) -> Card:
    return Card(Place("shop", "staging", "web"), attempt(state), serving, Control(allowed=True))


@pytest.mark.parametrize("state", sorted(MOVING))
def test_a_moving_deployment_is_blue_and_amber_while_something_holds_it(state: State) -> None:
    assert state_tone(state, "") is Tone.MOVING
    assert state_tone(state, "stalled") is Tone.WAITING


def test_what_is_unconfirmed_is_never_green_and_says_so() -> None:
    unconfirmed = replace(READY, confirmed=False)

    assert unconfirmed.sign == Sign("Ready, unconfirmed", Tone.IDLE)
    assert READY.sign == Sign("Ready", Tone.GOOD)
    assert lifecycle_tone("Failed", confirmed=True) is Tone.BAD


def test_an_image_is_shown_with_the_ends_of_its_digest() -> None:
    image = Image("sample:2", "sha256:9f2c" + "0" * 56 + "41aa")

    assert image.short_digest == "sha256:9f2c…41aa"
    assert Image("sample:2").short_digest == ""


def test_a_card_asks_often_only_while_something_moves() -> None:
    assert card(State.STARTING).every == WHILE_MOVING
    assert card(State.HEALTHY).every == WHILE_SETTLED
    assert card(State.HEALTHY, replace(READY, lifecycle="UpdateInProgress")).every == WHILE_MOVING


def test_a_card_that_shows_something_else_has_another_fingerprint() -> None:
    shown = card(State.STARTING)

    assert shown.seen == card(State.STARTING).seen
    assert shown.seen != card(State.QUALIFYING).seen
    assert shown.seen != card(State.STARTING, replace(READY, ready=1)).seen


def test_the_arrow_of_a_card_goes_when_the_deployment_has_ended() -> None:
    assert attempt(State.STARTING).replacing == "r-1"
    assert attempt(State.FAILED).replacing == ""


def test_a_stage_that_was_left_took_until_the_next_move() -> None:
    moves = [(State.PENDING, NOON), (State.ADMITTED, after(4)), (State.STARTING, after(6))]

    rows = stages.rows_from_moves(ROUTE, moves, blocker="")

    assert [row.spent for row in rows[:2]] == [timedelta(seconds=4), timedelta(seconds=2)]
    assert (rows[2].progress, rows[2].since) == (Progress.NOW, after(6))
    assert {row.progress for row in rows[3:]} == {Progress.AHEAD}


def test_the_stage_in_which_a_deployment_failed_is_red_and_what_came_before_is_not() -> None:
    moves = [(State.PENDING, NOON), (State.ADMITTED, after(4)), (State.FAILED, after(5))]

    rows = stages.rows_from_moves(ROUTE, moves, blocker="capacity")

    assert [row.tone for row in rows[:3]] == [Tone.GOOD, Tone.BAD, Tone.IDLE]
    assert rows[1].progress is Progress.ENDED


def test_a_healthy_deployment_has_every_stage_behind_it() -> None:
    moves = [(state, after(number)) for number, state in enumerate(ROUTE)]

    rows = stages.rows_from_moves(ROUTE, moves, blocker="")

    assert {row.progress for row in rows} == {Progress.DONE}
    assert len(rows) == 6


def test_a_cards_bar_has_as_many_parts_as_its_own_route_has_stages() -> None:
    with_command = route_of(release_command=True, stop_first=False)

    rows = stages.rows_of(with_command, state=State.RELEASING, since=NOON, blocker="")

    assert len(rows) == 7
    assert [row.reached for row in rows] == [True] * 3 + [False] * 4


def test_what_has_no_replicas_is_not_counted() -> None:
    nightly = Serving("Ready", confirmed=True, ready=0, desired=0, release="r-1")

    assert nightly.summary == "r-1 serves"
