"""What a deployment that goes ahead ends, and what it waits behind."""

from __future__ import annotations

import pytest

from deployments.domain.states import FINAL, MOVING, State
from deployments.domain.succession import Open, Succession, succeed

BEFORE = sorted(MOVING - {State.ACTIVATING})


@pytest.mark.parametrize("state", [*BEFORE, State.AWAITING_APPROVAL])
def test_what_is_before_the_point_or_awaits_approval_ends(state: State) -> None:
    assert succeed(9, [Open(4, state, past=False)]) == Succession((4,), None)


@pytest.mark.parametrize("state", [State.ACTIVATING, State.DRAINING])
def test_what_is_past_the_point_finishes_first(state: State) -> None:
    assert succeed(9, [Open(4, state, past=True)]) == Succession((), 4)


@pytest.mark.parametrize("state", sorted(FINAL))
def test_what_has_ended_is_left_alone(state: State) -> None:
    assert succeed(9, [Open(4, state, past=False)]) == Succession((), None)


def test_several_end_in_order_and_one_is_waited_for() -> None:
    others = [
        Open(6, State.PENDING, past=False),
        Open(5, State.AWAITING_APPROVAL, past=False),
        Open(4, State.DRAINING, past=True),
    ]

    assert succeed(9, others) == Succession((5, 6), 4)


def test_a_newer_one_is_never_ended_by_an_older_one() -> None:
    assert succeed(4, [Open(9, State.PENDING, past=False)]) == Succession((), None)
