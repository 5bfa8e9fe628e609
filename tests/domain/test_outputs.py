"""Whose output is kept, when it is asked for, and how much of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deployments.domain import outputs, reconcile
from deployments.domain.commands import Delete, Errand, KeepOutput, Scale, WriteFence, written
from deployments.domain.observations import Container, Pod, Seen, Termination
from deployments.domain.outputs import MOST_BYTES, MOST_PODS, Source
from deployments.domain.releases import ReleaseCommand
from deployments.domain.states import State
from deployments.domain.step import Move
from tests.domain.play import Play
from tests.domain.world import http, worker

RUNNING = Container("http", running=True)
CRASHED = Container("http", "CrashLoopBackOff", restarts=3, ended=Termination(7, "Error"))
COMMAND = ReleaseCommand(("migrate",))


def healthy() -> Play:
    play = Play()
    play.deploy()
    play.until()
    return play


def starting(*processes: object, over: Play | None = None) -> Play:
    """Return a play whose newest deployment has its pods, each with one container."""
    play = over or healthy()
    number = play.deploy(*processes)  # type: ignore[arg-type]
    play.world.never_ready.add(number)
    play.until_state_of(number, State.QUALIFYING)
    return play


def seen(play: Play, container: Container = RUNNING) -> Seen:
    """Return what is seen, every pod with this container."""
    found = play.seen()
    return replace(found, pods=tuple(replace(p, containers=(container,)) for p in found.pods))


def asked(play: Play, container: Container = RUNNING) -> tuple[Errand, ...]:
    return reconcile.decide(play.wanted, seen(play, container)).commands


def kept(commands: tuple[Errand, ...]) -> list[KeepOutput]:
    return [command for command in commands if isinstance(command, KeepOutput)]


# --- when it is asked for ---


def test_it_is_asked_for_before_the_pods_of_a_cancelled_deployment_go() -> None:
    play = starting()
    play.cancel()
    play.look()  # the fence is written

    commands = asked(play)

    assert commands[0] == KeepOutput(deployment=2, release=2)
    assert any(isinstance(command, Delete) for command in commands[1:])


def test_it_is_asked_for_once_for_all_workloads_of_a_superseded_one() -> None:
    play = starting(http(), worker())
    play.deploy()
    play.look()

    commands = asked(play, CRASHED)

    assert kept(commands) == [KeepOutput(2, 2)]
    assert sum(isinstance(command, Delete) for command in commands) >= 2


def test_no_step_names_anything_twice_and_asking_again_changes_nothing() -> None:
    play = starting(http(), worker())
    play.deploy()
    play.look()

    commands = asked(play)

    assert kept(commands)
    assert len({written(command) for command in commands}) == len(commands)
    assert asked(play) == commands


def test_it_is_not_asked_for_while_nothing_may_be_removed_yet() -> None:
    play = starting()
    play.cancel()

    commands = asked(play)

    assert any(isinstance(command, WriteFence) for command in commands)
    assert kept(commands) == []


def test_once_the_pods_are_gone_nothing_more_is_asked_for() -> None:
    play = starting()
    play.cancel()

    play.until()

    assert asked(play) == ()
    assert play.look().settled


def test_a_previous_release_that_stops_is_no_failure() -> None:
    play = healthy()
    play.deploy()
    stopped = False

    while play.states[2][-1] is not State.HEALTHY:
        commands = asked(play)
        stopped = stopped or any(isinstance(c, Scale) and c.replicas == 0 for c in commands)
        assert kept(commands) == []
        play.look()
        play.world.wait()

    assert stopped


def test_what_goes_back_is_kept_before_it_stops() -> None:
    play = healthy()
    play.deploy()
    play.until_state_of(2, State.DRAINING)
    play.world.answers_no.add(2)
    while play.world.running() != {1} or play.wanted.moving:
        before = asked(play)
        play.look()
        if any(isinstance(c, Delete) and c.ref.name == "web--http-r2" for c in before):
            break
        play.world.wait()

    assert kept(before) == [KeepOutput(2, 2)]


def test_pods_without_a_container_that_ever_ran_have_nothing_to_keep() -> None:
    play = starting()
    play.cancel()
    play.look()

    commands = asked(play, Container("http", "ImagePullBackOff", "not found"))

    assert kept(commands) == []
    assert any(isinstance(c, Delete) and c.ref.name == "web--http-r2" for c in commands)


def test_a_failed_release_commands_output_is_kept_in_the_look_that_fails_it() -> None:
    play = healthy()
    play.world.failing_jobs.add("web--release-d2")
    play.deploy(http(), command=COMMAND)

    while not any(isinstance(change, Move) and change.to is State.FAILED for change in _next(play)):
        play.look()
        play.world.wait()

    ended = Container("release", ended=Termination(3, "Error"))
    assert kept(asked(play, ended)) == [KeepOutput(2, 2)]


def _next(play: Play) -> tuple[object, ...]:
    return reconcile.decide(play.wanted, play.seen()).changes


def test_a_running_release_commands_output_is_kept_before_its_job_goes() -> None:
    play = healthy()
    play.deploy(http(), command=COMMAND)
    while not any(pod.job for pod in play.world.pods.values()):
        play.look()
        play.world.wait()
    play.cancel()

    commands = asked(play, Container("release", running=True))

    assert commands[0] == KeepOutput(2, 2)
    assert any(isinstance(c, Delete) and c.ref.name == "web--release-d2" for c in commands)


# --- whose it is ---


def test_only_the_releases_own_pods_on_nodes_that_answer_are_read() -> None:
    found = (
        Pod("mine", "1", 2, "http", node="node-1"),
        Pod("another release's", "2", 1, "http", node="node-1"),
        Pod("a cron job's", "3", 2, "nightly", node="node-1", job="web--nightly-r2-1"),
        Pod("out of reach", "4", 2, "http", node="node-2"),
    )
    looked = replace(healthy().seen(), pods=found, silent_nodes=frozenset({"node-2"}))

    pods = outputs.pods_of(KeepOutput(2, 2), looked)

    assert [pod.name for pod in pods] == ["mine"]


def test_the_pods_that_restarted_most_come_first_and_five_are_enough() -> None:
    pods = [
        Pod(f"web-{n}", f"{n}", 2, "http", containers=(replace(RUNNING, restarts=n),))
        for n in range(8)
    ]

    names = list(dict.fromkeys(source.pod for source in outputs.sources(pods)))

    assert names == [f"web-{n}" for n in range(7, 7 - MOST_PODS, -1)]


@pytest.mark.parametrize(
    ("container", "previous"),
    [
        pytest.param(RUNNING, [False], id="its first run"),
        pytest.param(replace(RUNNING, restarts=1), [True, False], id="it runs again"),
        pytest.param(CRASHED, [True], id="it waits: its present output is the previous one's"),
        pytest.param(replace(CRASHED, restarts=0), [True], id="it waits to be started again"),
        pytest.param(Container("http", ended=Termination(1)), [False], id="it has ended"),
        pytest.param(Container("http", "ContainerCreating"), [], id="it never ran"),
    ],
)
def test_the_run_before_is_read_where_there_was_one(
    container: Container, previous: list[bool]
) -> None:
    found = outputs.sources([Pod("web-1", "1", 2, "http", containers=(container,))])

    assert found == tuple(Source("web-1", "http", before) for before in previous)


# --- how much ---


def test_the_end_is_what_is_kept() -> None:
    said = b"begin\n" + b"x" * (2 * MOST_BYTES) + b"\nno route to ledger\n"

    kept_text = outputs.cleaned(said)

    assert kept_text.endswith("\nno route to ledger\n")
    assert "begin" not in kept_text
    assert len(kept_text.encode()) <= MOST_BYTES


@pytest.mark.parametrize("letter", ["é", "語", "🜁"])
def test_the_limit_counts_bytes_and_cuts_no_character(letter: str) -> None:
    kept_text = outputs.cleaned((letter * MOST_BYTES).encode())

    assert MOST_BYTES - 8 < len(kept_text.encode()) <= MOST_BYTES
    assert set(kept_text) == {"…", letter}


def test_what_could_disguise_a_line_is_taken_out() -> None:
    said = "\x1b[31mred\x1b[0m\r\nnul\x00 \u202eflip\n".encode() + b"\xff\n"

    assert outputs.cleaned(said) == "red\nnul\ufffd \ufffdflip\n\ufffd\n"
