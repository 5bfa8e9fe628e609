"""Each stage: when it is done, when it has failed, and when it waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from deployments.domain import clocks, reconcile, stage_clock, stages, tags
from deployments.domain.blockers import Blocker
from deployments.domain.clocks import Clock, Sighting
from deployments.domain.messages import Message
from deployments.domain.observations import NodeRoom, Resolution, Room
from deployments.domain.releases import Config, ReleaseCommand
from deployments.domain.states import State
from deployments.domain.step import Explain, Move
from deployments.domain.wanted import Attempt, Release, Verdict
from tests.domain.play import Play
from tests.domain.world import NOON, cron, http, job, worker

COMMAND = ReleaseCommand(("migrate",))


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def healthy(*processes: object) -> Play:
    play = Play()
    play.deploy(*processes)  # type: ignore[arg-type]
    play.until()
    return play


def change_of(play: Play) -> object:
    changes = reconcile.decide(play.wanted, play.seen()).changes
    return changes[-1] if changes else None


# --- pending ---


def unresolved(**more: object) -> Play:
    """Return a play whose only deployment does not know its digest."""
    play = Play()
    release = Release(1, 1, Config((http(),)), None, asked_for="r.example/web:9")
    play.wanted = replace(
        play.wanted,
        before=replace(Attempt(1, State.PENDING, NOON, release), **more),  # type: ignore[arg-type]
    )
    return play


def test_it_waits_for_the_digest() -> None:
    assert change_of(unresolved()) is None


def test_what_it_waited_for_is_cleared_while_the_tag_is_still_being_looked_up() -> None:
    assert change_of(unresolved(waits=True)) == Explain(1, State.PENDING, None)


def test_a_registry_that_keeps_the_tag_back_is_quoted_while_it_is_asked_again() -> None:
    silence = Resolution(unreachable="connection refused")

    found = change_of(unresolved(clocks=tags.after_asking((), silence, NOON)))

    said = (
        "The registry of r.example/web:9 is asked again; the last answer was: connection refused."
    )
    assert found == Explain(1, State.PENDING, None, Message(said))


def test_the_second_no_of_the_registry_fails_it() -> None:
    no = Resolution(refused="manifest unknown")
    running = tags.after_asking(tags.after_asking((), no, NOON), no, after(15))

    found = change_of(unresolved(clocks=running))

    assert found == Move(
        1,
        State.PENDING,
        State.FAILED,
        Blocker.IMAGE_PULL,
        Message(
            "The registry answered for r.example/web:9: manifest unknown.",
            "web is not running.",
            "Check the image's name and tag and the registry credentials, then deploy again.",
        ),
    )


def test_it_waits_behind_one_that_takes_over_traffic_and_starts_within_one_look() -> None:
    play = healthy()
    play.deploy()
    play.until_state(State.ACTIVATING)
    play.deploy()

    held = change_of(play)
    assert held == Explain(
        3,
        State.PENDING,
        Blocker.WAITING,
        Message("Waiting for r-2 to finish taking over traffic"),
    )
    while play.states[2][-1] is not State.HEALTHY:
        play.look()
        play.world.wait()
    assert play.states[3] == [State.PENDING]
    play.look()
    assert play.states[3][-1] is State.ADMITTED


def test_it_waits_until_the_release_command_of_an_ended_one_has_stopped() -> None:
    play = healthy()
    play.deploy(http(), command=COMMAND)
    while not any(pod.job for pod in play.world.pods.values()):
        play.look()
        play.world.wait()
    play.deploy()

    assert change_of(play) == Explain(
        3,
        State.PENDING,
        Blocker.WAITING,
        Message("Waiting for the release command of r-2 to stop"),
    )
    play.until()
    assert play.states[3][-1] is State.HEALTHY


def test_it_waits_for_traffic_to_return() -> None:
    play = healthy()
    play.deploy()
    play.until_state(State.DRAINING)
    play.cancel()
    play.deploy()

    assert change_of(play) == Explain(
        3, State.PENDING, Blocker.WAITING, Message("Waiting for traffic to return to r-1")
    )
    play.until()
    assert play.states[3][-1] is State.HEALTHY


def test_with_no_earlier_release_it_waits_until_nothing_takes_traffic() -> None:
    play = Play()
    play.deploy()
    play.until_state(State.DRAINING)
    play.cancel()
    play.deploy()

    assert change_of(play) == Explain(
        2, State.PENDING, Blocker.WAITING, Message("Waiting for r-1 to stop taking traffic")
    )
    play.until()
    assert play.states[2][-1] is State.HEALTHY


def test_one_with_a_verdict_is_waited_for_as_traffic_that_returns() -> None:
    play = healthy()
    play.deploy()
    play.until_state(State.DRAINING)
    last = play.wanted.last_past
    assert last is not None
    verdict = Verdict(Blocker.READINESS, Message("It fell."))
    play.wanted = replace(play.wanted, last_past=replace(last, verdict=verdict))

    held = stages.why_held(play.wanted, play.seen())

    assert held == Message("Waiting for traffic to return to r-1")


# --- admitted ---


def admitted(play: Play) -> Play:
    play.deploy()
    play.until_state(State.ADMITTED)
    return play


def test_a_name_that_somebody_elses_object_has_fails_it() -> None:
    play = admitted(Play())
    seen = replace(play.seen(), taken=("Service web", "Secret web-r1"))

    (move,) = reconcile.decide(play.wanted, seen).changes

    assert isinstance(move, Move)
    assert (move.to, move.blocker) == (State.FAILED, Blocker.STARTUP)
    assert move.message.what.startswith("Service web exists in the namespace and is not")


def test_no_room_fails_it_with_the_deficit() -> None:
    play = Play()
    play.world.room = Room((NodeRoom("node-1", 500, 2**30, 10),))
    play.deploy(http(cpu_request="2"))
    play.until_state(State.ADMITTED)

    move = change_of(play)

    assert isinstance(move, Move)
    assert move.blocker is Blocker.CAPACITY
    assert "needs 1.5 CPU more for 1 of 1 replicas" in move.message.what
    assert move.message.leaves == "web is not running."


def test_it_waits_while_the_room_is_not_known() -> None:
    play = admitted(Play())

    assert reconcile.decide(play.wanted, replace(play.seen(), room=None)).changes == ()


# --- releasing ---


def test_a_release_command_runs_before_any_process_starts() -> None:
    play = Play()
    play.deploy(http(), command=COMMAND)
    play.until_state(State.RELEASING)
    while play.states[1][-1] is State.RELEASING:
        assert play.world.running() == set()
        play.look()
        play.world.wait()

    assert play.states[1][-1] is State.STARTING


def test_a_release_command_that_fails_quotes_its_last_words_and_starts_nothing() -> None:
    play = healthy()
    play.world.failing_jobs.add("web--release-d2")
    play.deploy(http(), command=COMMAND)
    play.until()

    (move,) = [c for step in play.steps for c in step.changes if isinstance(c, Move) and c.blocker]
    assert move.blocker is Blocker.RELEASE_COMMAND
    assert str(move.message) == (
        "The release command exited with code 3. Its last words: no such table."
        " r-1 keeps serving. Fix the command and deploy again."
    )
    assert play.world.serves() == {1}


# --- starting ---


def test_starting_waits_for_every_process_and_counts_what_was_scaled_by_hand() -> None:
    play = Play()
    play.deploy(http(replicas=2), worker(replicas=2))
    play.until_state(State.STARTING)
    for _ in range(2):
        play.look()
        play.world.wait(0)
    play.world.scale_by_hand("web--worker-r1", 1)

    for _ in range(3):
        play.look()
        play.world.wait()

    assert play.states[1][-1] is State.QUALIFYING


@pytest.mark.parametrize("process", [cron(), job()])
def test_a_release_without_a_long_running_process_starts_and_qualifies_at_once(
    process: object,
) -> None:
    play = healthy(process)

    assert play.states[1][-1] is State.HEALTHY
    assert len(play.steps) <= 8


# --- qualifying ---


@pytest.mark.parametrize(("seconds", "ended"), [(299, False), (300, True)])
def test_qualifying_ends_after_five_minutes_in_the_stage(seconds: float, *, ended: bool) -> None:
    play = Play()
    play.world.never_ready.add(1)
    play.deploy(http(replicas=2))
    play.until_state(State.QUALIFYING)
    attempt = play.wanted.before
    assert attempt is not None
    entered = Clock(
        stage_clock.STAGE,
        play.world.now - timedelta(seconds=seconds),
        play.world.now,
        mark=State.QUALIFYING,
    )
    play.wanted = replace(play.wanted, before=replace(attempt, clocks=(entered,)))

    move = change_of(play)

    assert (move is not None) is ended
    if isinstance(move, Move):
        assert (move.to, move.blocker) == (State.FAILED, Blocker.READINESS)
        assert move.message.what.startswith("0 of 2 replicas stayed ready within 5 minutes")


def test_time_in_which_the_cluster_could_not_be_read_does_not_count() -> None:
    play = Play()
    play.world.never_ready.add(1)
    play.deploy()
    play.until_state(State.QUALIFYING)
    play.look()
    play.world.wait(3600)

    play.look()
    assert play.states[1][-1] is State.QUALIFYING


def test_a_check_that_never_passes_fails_it_with_what_it_heard() -> None:
    play = Play()
    play.world.answers_no.add(1)
    play.deploy()
    play.until()

    assert play.states[1][-2:] == [State.QUALIFYING, State.FAILED]
    (move,) = [c for step in play.steps for c in step.changes if isinstance(c, Move) and c.blocker]
    assert "answers with 500" in move.message.what


def test_qualifying_takes_the_stabilization_time_without_a_break() -> None:
    play = Play()
    play.deploy(http(stabilization_seconds=20))
    play.until_state(State.QUALIFYING)
    began = play.world.now
    play.until_state(State.ACTIVATING)

    assert play.world.now - began >= timedelta(seconds=20)


# --- activating and draining ---


def test_a_first_deployment_drains_for_one_stabilization_time() -> None:
    play = Play()
    play.deploy(http(stabilization_seconds=20, drain_seconds=500))
    play.until_state(State.DRAINING)
    began = play.world.now
    play.until_state(State.HEALTHY)

    assert timedelta(seconds=20) <= play.world.now - began < timedelta(seconds=40)


def test_the_previous_release_runs_for_its_own_drain_time_then_stops() -> None:
    play = healthy(http(drain_seconds=30))
    play.deploy(http(drain_seconds=500))
    play.until_state(State.DRAINING)
    began = play.world.now
    while 1 in play.world.running():
        play.look()
        play.world.wait()
    stopped = play.world.now
    while play.states[2][-1] is State.DRAINING:
        play.look()
        play.world.wait()

    assert timedelta(seconds=30) <= stopped - began < timedelta(seconds=40)
    assert not [pod for pod in play.world.pods.values() if pod.release == 1]


def test_a_spell_while_the_previous_release_stops_scales_it_up_again_at_once() -> None:
    play = healthy(http(drain_seconds=4))
    play.deploy()
    play.until_state(State.DRAINING)
    while 1 in play.world.running():
        play.look()
        play.world.wait()
    play.world.never_ready.add(2)
    play.world.wait()

    play.look()
    play.world.wait()

    assert 1 in play.world.running()


@pytest.mark.parametrize(("seconds", "over"), [(5.9, False), (6, True)])
def test_drain_time_is_over_at_its_last_second(seconds: float, *, over: bool) -> None:
    play = healthy()
    play.deploy()
    play.until_state(State.DRAINING)
    attempt = play.wanted.last_past
    assert attempt is not None
    running = clocks.run((), [Sighting("stage", mark=State.DRAINING)], play.world.now)
    attempt = replace(attempt, clocks=running)
    seen = replace(play.seen(), now=play.world.now + timedelta(seconds=seconds))

    assert stage_clock.drained(attempt, seen) is over


def test_a_stage_that_was_not_looked_at_yet_has_lasted_no_time() -> None:
    release = Release(1, 1, Config((http(),)), "r/web@x")
    attempt = Attempt(1, State.DRAINING, NOON, release, past=True)
    stale = Clock("stage", after(-900), after(-1), mark=State.ACTIVATING)

    seen = replace(Play().seen(), now=NOON)
    assert stage_clock.time_in_stage(replace(attempt, clocks=(stale,)), seen) == timedelta(0)
