"""Somebody else's object of one of our names fails a deployment, also when it appears late."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deployments.domain import reconcile
from deployments.domain.blockers import Blocker
from deployments.domain.messages import Message
from deployments.domain.observations import NodeRoom, Room, Seen
from deployments.domain.releases import Config, ReleaseCommand
from deployments.domain.states import State
from deployments.domain.step import Move
from deployments.domain.wanted import Attempt, Release, Wanted
from tests.domain.play import PLACE
from tests.domain.world import NOON, http

RELEASE = Release(2, 2, Config((http(),), ReleaseCommand(("migrate",))), "r/web@x")
ROOM = Room((NodeRoom("node-1", 100_000, 2**40, 110),))


@pytest.mark.parametrize("state", [State.ADMITTED, State.RELEASING, State.STARTING])
def test_it_fails_at_once_and_names_the_object(state: State) -> None:
    wanted = Wanted(PLACE, 1, (RELEASE,), before=Attempt(5, state, NOON, RELEASE))
    seen = Seen(NOON, room=ROOM, taken=("Deployment web--http-r2",))

    (change,) = reconcile.decide(wanted, seen).changes

    assert change == Move(
        5,
        state,
        State.FAILED,
        Blocker.STARTUP,
        Message(
            "Deployment web--http-r2 exists in the namespace and is not Pilothouse's, so it was"
            " not touched.",
            "web is not running.",
            "Remove or rename it, then deploy again.",
        ),
    )


@pytest.mark.parametrize("state", [State.RELEASING, State.STARTING])
def test_where_no_name_is_taken_the_stage_goes_its_way(state: State) -> None:
    wanted = Wanted(PLACE, 1, (RELEASE,), before=Attempt(5, state, NOON, RELEASE))
    seen = Seen(NOON, room=ROOM)

    assert reconcile.decide(wanted, seen).changes == ()
    assert reconcile.decide(wanted, replace(seen, taken=("Job x",))).changes != ()
