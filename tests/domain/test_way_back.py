"""When traffic has to leave a release again, how it goes back, and when that is given up."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from deployments.domain import readiness, reconcile, way_back
from deployments.domain.blockers import Blocker
from deployments.domain.clocks import Clock
from deployments.domain.commands import Delete, PointTraffic, Scale, WriteFence
from deployments.domain.observations import ObjectKind, ServiceSeen
from deployments.domain.states import State
from deployments.domain.step import GiveUp, GoBack, Move
from tests.domain.play import Play
from tests.domain.world import http, job, worker


def second_version(*processes: object, state: State = State.DRAINING) -> Play:
    """Return a slot whose r-2 has come this far while r-1 is the active release."""
    play = Play()
    play.deploy(*processes)  # type: ignore[arg-type]
    play.until()
    play.deploy(*processes)  # type: ignore[arg-type]
    play.until_state(state)
    return play


def with_clock(play: Play, cause: str, seconds: float, *, mark: str = "") -> Play:
    """Let a cause have been seen for so long on the deployment that passed the point last."""
    attempt, now = play.wanted.last_past, play.world.now
    assert attempt is not None
    clock = Clock(cause, now - timedelta(seconds=seconds), now, mark=mark, detail="Forbidden")
    others = tuple(c for c in attempt.clocks if c.cause != cause)
    play.wanted = replace(play.wanted, last_past=replace(attempt, clocks=(*others, clock)))
    return play


def changes_of(play: Play) -> tuple[object, ...]:
    return reconcile.decide(play.wanted, play.seen()).changes


def changes(play: Play, kind: type) -> list[object]:
    return [change for step in play.steps for change in step.changes if isinstance(change, kind)]


# --- the verdict ---


@pytest.mark.parametrize(("seconds", "goes_back"), [(29.9, False), (30, True)])
@pytest.mark.parametrize("state", [State.ACTIVATING, State.DRAINING])
def test_thirty_seconds_unready_are_a_verdict(
    state: State, seconds: float, *, goes_back: bool
) -> None:
    play = second_version(state=state)
    play.world.never_ready.add(2)
    play.world.wait()
    with_clock(play, readiness.UNREADY, seconds)

    found = changes_of(play)

    assert any(isinstance(change, GoBack) for change in found) is goes_back
    if goes_back:
        (verdict,) = found
        assert isinstance(verdict, GoBack)
        assert verdict.blocker is Blocker.READINESS
        assert verdict.message.leaves == "Traffic goes back to r-1."


@pytest.mark.parametrize(("seconds", "goes_back"), [(119.9, False), (120, True)])
@pytest.mark.parametrize(
    ("cause", "says"),
    [
        (
            way_back.SWITCH_REFUSED,
            "Kubernetes refused to switch the traffic for 2 minutes: Forbidden.",
        ),
        (
            way_back.SWITCHED_WITHOUT_EFFECT,
            "Traffic was switched to r-2 and did not arrive there within 2 minutes.",
        ),
    ],
)
def test_two_minutes_of_refusals_or_without_effect_are_a_verdict(
    cause: str, says: str, seconds: float, *, goes_back: bool
) -> None:
    play = second_version(state=State.ACTIVATING)
    if cause == way_back.SWITCHED_WITHOUT_EFFECT:
        play.look()
        play.world.wait(0)
        play.look()
    with_clock(play, cause, seconds, mark="r-2" if cause == way_back.SWITCH_REFUSED else "")
    seen = replace(play.seen(), endpoints=())

    found = reconcile.decide(play.wanted, seen).changes

    assert any(isinstance(change, GoBack) for change in found) is goes_back
    if goes_back:
        (verdict,) = found
        assert isinstance(verdict, GoBack)
        assert verdict.blocker is Blocker.ROUTE_ACTIVATION
        assert verdict.message.what == says


def test_one_refusal_long_ago_is_none() -> None:
    play = second_version(state=State.ACTIVATING)
    with_clock(play, way_back.SWITCH_REFUSED, 0, mark="r-2")
    seen = replace(play.seen(), now=play.world.now + timedelta(minutes=10))

    assert not any(
        isinstance(change, GoBack) for change in reconcile.decide(play.wanted, seen).changes
    )


def test_refusals_of_the_switch_there_do_not_count_for_the_switch_back() -> None:
    play = second_version(state=State.ACTIVATING)
    with_clock(play, way_back.SWITCH_REFUSED, 500, mark="r-9")

    (ticking,) = reconcile.decide(play.wanted, play.seen()).ticking

    assert way_back.SWITCH_REFUSED not in {clock.cause for clock in ticking.clocks}


def test_a_switch_that_is_refused_for_two_minutes_fails_the_deployment() -> None:
    play = second_version(state=State.ACTIVATING)
    play.world.refused = (PointTraffic,)
    began = play.world.now

    play.until()

    assert play.states[2][-1] is State.FAILED
    assert play.ended[-1].verdict is not None
    assert play.ended[-1].verdict.blocker is Blocker.ROUTE_ACTIVATION
    assert play.world.now - began < timedelta(minutes=3)
    assert play.world.serves() == {1}


def test_fences_that_are_refused_hold_the_switch_up_just_as_well() -> None:
    play = second_version(state=State.ACTIVATING)
    play.world.refused = (WriteFence,)

    for _ in range(80):
        play.look()
        play.world.wait()

    assert play.states[2][-1] is State.FAILED


# --- going back ---


@pytest.mark.parametrize("process", [http(), worker(primary=True), http(replicas=3)])
@pytest.mark.parametrize("state", [State.ACTIVATING, State.DRAINING])
def test_what_turns_unready_goes_back_and_fails(process: object, state: State) -> None:
    play = second_version(process, state=state)
    play.world.never_ready.add(2)

    play.until()

    assert play.states[2][-1] is State.FAILED
    (move,) = [c for c in changes(play, Move) if isinstance(c, Move) and c.to is State.FAILED]
    assert move.blocker is Blocker.READINESS
    assert move.message.leaves == "r-1 keeps serving."
    assert play.world.running() == {1}
    assert not [name for name in play.world.names() if name.endswith("-r2")]


def test_after_a_verdict_it_goes_back_even_if_the_release_recovers_meanwhile() -> None:
    play = second_version()
    play.world.never_ready.add(2)
    while not changes(play, GoBack):
        play.look()
        play.world.wait()
    play.world.never_ready.clear()

    play.until()

    assert play.states[2][-1] is State.FAILED
    assert len(changes(play, GoBack)) == 1
    assert play.world.serves() == {1}


@pytest.mark.parametrize("state", [State.ACTIVATING, State.DRAINING])
@pytest.mark.parametrize("process", [http(), worker(primary=True)])
def test_a_cancel_past_the_point_moves_traffic_before_any_pod_stops(
    process: object, state: State
) -> None:
    play = second_version(process, state=state)
    play.cancel()
    last_pods = 0
    while not play.look().settled:
        new = [p for p in play.world.pods.values() if p.release == 2 and not p.deleting]
        if play.world.serves() == {2}:
            assert new
        last_pods = len(new)
        play.world.wait()

    assert last_pods == 0
    assert play.states[2][-1] is State.CANCELLED
    assert play.world.running() == {1}


def test_without_an_earlier_release_nothing_serves_and_nothing_is_left() -> None:
    play = Play()
    play.deploy(http(), job())
    play.until_state(State.DRAINING)
    play.world.never_ready.add(1)

    play.until()

    assert play.states[1][-1] is State.FAILED
    assert play.world.serves() == set()
    assert {name for name in play.world.names() if not name.endswith("-d1")} <= {
        "web",
        "Secret web-r1",
    }


def test_once_traffic_is_back_an_unready_previous_release_does_not_bring_the_other_back() -> None:
    play = second_version()
    play.cancel()
    play.until()
    play.world.never_ready.add(1)
    for _ in range(300):
        play.world.wait()
        step = play.look()
        assert step.commands == ()
        assert step.changes == ()

    assert play.wanted.last_past is not None
    assert not play.wanted.last_past.given_up
    play.world.never_ready.clear()
    play.until()
    assert play.world.serves() == {1}


def test_going_back_from_a_release_with_a_port_to_one_without() -> None:
    play = Play()
    play.deploy(worker(primary=True))
    play.until()
    play.deploy(http())
    play.until_state(State.DRAINING)
    assert play.world.serves() == {2}

    play.cancel()
    play.until()

    assert play.world.serves() == set()
    assert play.world.running() == {1}


def test_going_back_from_a_release_without_a_port_to_one_with() -> None:
    play = Play()
    play.deploy(http())
    play.until()
    play.deploy(worker(primary=True))
    play.until_state(State.DRAINING)
    assert play.world.serves() == set()

    play.cancel()
    play.until()

    assert play.world.serves() == {1}


# --- giving up ---


def gone_back_without_a_previous_release_that_comes_up(*, verdict: bool = False) -> Play:
    """Return a slot where r-2 must go back while r-1, already stopped, never becomes ready."""
    play = second_version()
    while play.world.running() != {2}:
        play.look()
        play.world.wait()
    play.world.never_ready |= {1, 2} if verdict else {1}
    if not verdict:
        play.cancel()
    return play


def test_a_previous_release_that_never_becomes_ready_is_given_up_after_five_minutes() -> None:
    play = gone_back_without_a_previous_release_that_comes_up()
    began = play.world.now
    while not changes(play, GiveUp):
        play.look()
        play.world.wait()

    assert timedelta(minutes=5) <= play.world.now - began < timedelta(minutes=5, seconds=30)
    play.until()
    assert play.world.serves() == {2}
    assert play.world.running() == {2}
    (given_up,) = changes(play, GiveUp)
    assert isinstance(given_up, GiveUp)
    assert given_up.leaves.startswith("r-1 did not become ready in time")


def test_with_a_verdict_giving_up_ends_the_deployment_as_failed_with_its_pods_running() -> None:
    play = gone_back_without_a_previous_release_that_comes_up(verdict=True)

    for _ in range(300):
        play.look()
        play.world.wait()

    assert play.states[2][-1] is State.FAILED
    assert play.wanted.last_past is not None
    assert play.wanted.last_past.given_up
    assert play.world.running() == {2}


def test_nothing_is_held_by_a_way_back_that_was_given_up_and_it_is_the_next_ones_previous() -> None:
    play = gone_back_without_a_previous_release_that_comes_up()
    play.until()
    play.deploy()
    play.until_state(State.DRAINING)

    assert play.wanted.last_past is not None
    previous = play.wanted.last_past.previous
    assert previous is not None
    assert previous.number == 2
    play.until()
    assert play.states[3][-1] is State.HEALTHY
    assert not [name for name in play.world.names() if name.endswith("-r2")]
    assert "web--http-r1" in play.world.names()


def test_what_fails_after_a_way_back_was_given_up_goes_back_to_that_release() -> None:
    play = gone_back_without_a_previous_release_that_comes_up()
    play.until()
    play.deploy()
    play.until_state(State.DRAINING)
    play.world.never_ready.add(3)
    play.until()
    assert play.world.serves() == {2}

    play.deploy()
    play.until()

    assert play.states[4][-1] is State.HEALTHY
    assert play.world.running() == {4}


def test_a_switch_back_that_is_refused_for_two_minutes_is_given_up() -> None:
    play = second_version()
    play.cancel()
    play.world.refused = (PointTraffic,)
    while not changes(play, GiveUp):
        play.look()
        play.world.wait()
    play.world.refused = ()

    play.until()

    (given_up,) = changes(play, GiveUp)
    assert isinstance(given_up, GiveUp)
    assert given_up.leaves.startswith("Traffic could not be switched back to r-1")
    assert play.world.serves() == {2}


def test_without_an_earlier_release_a_refused_switch_is_given_up_too() -> None:
    play = Play()
    play.deploy()
    play.until_state(State.DRAINING)
    play.cancel()
    play.world.refused = (PointTraffic,)

    for _ in range(80):
        play.look()
        play.world.wait()

    assert changes(play, GiveUp)
    assert play.world.serves() == {1}


def test_a_deployment_that_moves_goes_back_by_verdict_only() -> None:
    play = second_version()
    play.world.never_ready.add(2)
    play.until()

    first_write = next(
        index
        for index, step in enumerate(play.steps)
        if any(isinstance(change, GoBack) for change in step.changes)
    )
    after = [command for step in play.steps[first_write + 1 :] for command in step.commands]
    assert any(isinstance(command, Delete | Scale) for command in after)
    assert (ObjectKind.SERVICE, "web") in play.world.objects


def test_a_repair_that_is_refused_after_the_way_back_is_over_gives_nothing_up() -> None:
    play = second_version()
    play.cancel()
    play.until()
    key = (ObjectKind.SERVICE, "web")
    found = play.world.objects[key]
    assert isinstance(found, ServiceSeen)
    play.world.objects[key] = replace(found, ports=())
    play.world.refused = (PointTraffic, WriteFence)

    for _ in range(90):
        play.look()
        play.world.wait()

    assert changes(play, GiveUp) == []
    assert play.world.running() == {1}


def test_what_the_next_one_may_go_back_to_is_stopped_but_not_removed_while_it_drains() -> None:
    play = gone_back_without_a_previous_release_that_comes_up()
    play.until()
    play.deploy()
    play.until_state(State.DRAINING)
    while 2 in play.world.running():
        play.look()
        play.world.wait()

    assert play.states[3][-1] is State.DRAINING
    assert (ObjectKind.DEPLOYMENT, "web--http-r2") in play.world.objects
