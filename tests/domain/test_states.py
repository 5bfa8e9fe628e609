"""The thirteen states against the manual's table, and what may follow what."""

from __future__ import annotations

import pytest

from deployments.domain.errors import IllegalMove
from deployments.domain.states import (
    FINAL,
    MOVING,
    OPEN,
    STOP_FIRST_ROUTE,
    USUAL_ROUTE,
    State,
    check_move,
    label,
    next_stage,
    passes_point_of_no_return,
    route_of,
)

LABELS = [
    ("awaiting-approval", "Waiting for approval"),
    ("pending", "Deploying: Pending"),
    ("admitted", "Deploying: Admitted"),
    ("releasing", "Deploying: Release command"),
    ("starting", "Deploying: Starting"),
    ("qualifying", "Deploying: Qualifying"),
    ("activating", "Deploying: Activating"),
    ("draining", "Deploying: Draining"),
    ("healthy", "Healthy"),
    ("failed", "Failed: readiness"),
    ("rejected", "Rejected"),
    ("cancelled", "Cancelled"),
    ("superseded", "Superseded"),
]
WITH_COMMAND = route_of(release_command=True, stop_first=False)
STOP_FIRST_WITH_COMMAND = route_of(release_command=True, stop_first=True)
ROUTES = [USUAL_ROUTE, STOP_FIRST_ROUTE, WITH_COMMAND, STOP_FIRST_WITH_COMMAND]


def test_there_are_thirteen_states_in_the_order_of_the_manual_with_its_labels() -> None:
    assert [(s.value, label(s, "readiness")) for s in State] == LABELS


def test_a_held_deployment_reads_waiting() -> None:
    assert label(State.PENDING, "waiting") == "Waiting"


def test_five_states_are_final_and_seven_are_moving() -> None:
    assert {s.value for s in FINAL} == {
        "healthy",
        "failed",
        "rejected",
        "cancelled",
        "superseded",
    }
    assert len(MOVING) == 7
    assert {State.AWAITING_APPROVAL} == OPEN - MOVING


@pytest.mark.parametrize(
    ("release_command", "stop_first", "stages"),
    [
        (False, False, "pending admitted starting qualifying activating draining healthy"),
        (True, False, "pending admitted releasing starting qualifying activating draining healthy"),
        (False, True, "pending admitted draining starting qualifying activating healthy"),
        (True, True, "pending admitted releasing draining starting qualifying activating healthy"),
    ],
)
def test_a_deployment_has_a_route_of_its_own(
    release_command: bool, stop_first: bool, stages: str
) -> None:
    route = route_of(release_command=release_command, stop_first=stop_first)

    assert " ".join(route) == stages


@pytest.mark.parametrize("route", ROUTES)
def test_only_the_next_stage_of_the_route_and_an_end_may_follow(route: tuple[State, ...]) -> None:
    for start in (*route[:-1],):
        past = State.ACTIVATING in route[: route.index(start) + 1]
        allowed = {to for to in State if _may(start, to, route, past=past)}

        ends = {State.FAILED, State.CANCELLED} | (set() if past else {State.SUPERSEDED})
        assert allowed == ends | {next_stage(route, start)}


@pytest.mark.parametrize("start", sorted(FINAL))
def test_a_final_state_is_never_left(start: State) -> None:
    assert not any(
        _may(start, to, USUAL_ROUTE, past=past) for to in State for past in (True, False)
    )


def test_an_approval_leads_to_pending_or_to_an_end_but_never_to_failed() -> None:
    allowed = {to for to in State if _may(State.AWAITING_APPROVAL, to, USUAL_ROUTE, past=False)}

    assert allowed == {State.PENDING, State.REJECTED, State.CANCELLED, State.SUPERSEDED}


def test_nothing_is_superseded_past_the_point_of_no_return() -> None:
    with pytest.raises(IllegalMove, match="not superseded"):
        check_move(
            State.DRAINING, State.SUPERSEDED, route=USUAL_ROUTE, past_point_of_no_return=True
        )


def test_the_draining_of_stop_first_may_still_be_superseded() -> None:
    check_move(
        State.DRAINING, State.SUPERSEDED, route=STOP_FIRST_ROUTE, past_point_of_no_return=False
    )


def test_a_stage_that_is_not_on_the_route_has_no_next() -> None:
    with pytest.raises(IllegalMove, match="Nothing follows releasing"):
        next_stage(USUAL_ROUTE, State.RELEASING)
    with pytest.raises(IllegalMove, match="Nothing follows healthy"):
        next_stage(USUAL_ROUTE, State.HEALTHY)


def test_only_activating_passes_the_point_of_no_return() -> None:
    assert [s for s in State if passes_point_of_no_return(s)] == [State.ACTIVATING]


def _may(start: State, to: State, route: tuple[State, ...], *, past: bool) -> bool:
    try:
        check_move(start, to, route=route, past_point_of_no_return=past)
    except IllegalMove:
        return False
    return True
