"""decide(wanted, seen) in a loop: walks to healthy, and what holds on every walk."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deployments.domain import reconcile
from deployments.domain.commands import Scale, Try, WriteFence, written
from deployments.domain.observations import ObjectKind, Ref
from deployments.domain.releases import Process, ReleaseCommand
from deployments.domain.states import USUAL_ROUTE, State
from tests.domain.play import Play
from tests.domain.world import cron, http, job, worker

COMMAND = ReleaseCommand(("migrate",))
KINDS: dict[str, tuple[Process, ...]] = {
    "http": (http(),),
    "three replicas": (http(replicas=3),),
    "worker": (worker(primary=True),),
    "worker with a port": (worker(primary=True, port=9000),),
    "cron": (cron(),),
    "job": (job(),),
    "all kinds": (http(), worker(), cron(), job()),
    "no time to drain": (http(stabilization_seconds=0, drain_seconds=0),),
}
SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
kinds = st.sampled_from(sorted(KINDS))


# --- walks ---


@pytest.mark.parametrize("kind", KINDS)
def test_every_process_kind_walks_its_route_to_healthy(kind: str) -> None:
    play = Play()
    play.deploy(*KINDS[kind])

    play.until()

    assert play.states[1] == list(USUAL_ROUTE)
    assert play.world.serves() == ({1} if KINDS[kind][0].port else set())


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_command_is_a_stage_of_its_own(kind: str) -> None:
    play = Play()
    play.deploy(*KINDS[kind], command=COMMAND)

    play.until()

    assert play.states[1] == [*USUAL_ROUTE[:2], State.RELEASING, *USUAL_ROUTE[2:]]


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_a_second_version_of_any_kind_takes_over_from_any_kind(first: str, second: str) -> None:
    play = Play()
    play.deploy(*KINDS[first])
    play.until()
    play.deploy(*KINDS[second])

    play.until()

    long_running = any(process.long_running for process in KINDS[second])
    assert play.states[2] == list(USUAL_ROUTE)
    assert play.world.running() == ({2} if long_running else set())
    assert play.world.serves() == ({2} if KINDS[second][0].port else set())


def test_first_only_the_old_release_answers_then_only_the_new_one() -> None:
    play = Play()
    play.deploy(http(replicas=3))
    play.until()
    play.deploy(http(replicas=3))
    served: list[set[int | None]] = []
    while not play.look().settled:
        served.append(play.world.serves())
        play.world.wait()

    first_new = served.index({2})
    assert served == [{1}] * first_new + [{2}] * (len(served) - first_new)


# --- what holds on every walk ---


def _watch(play: Play) -> list[bool]:
    """Return a list that gets, after every write, whether somebody serves."""
    serves: list[bool] = []
    run = play.world.run

    def watched(command: object, wanted: object) -> object:
        made = run(command, wanted)  # type: ignore[arg-type]
        serves.append(bool(play.world.serves()))
        return made

    play.world.run = watched  # type: ignore[assignment, method-assign]
    return serves


events = st.lists(
    st.one_of(
        st.tuples(st.just("look"), st.integers(1, 6)),
        st.tuples(st.just("die"), st.integers(0, 3)),
        st.tuples(st.just("deploy"), st.integers(0, 1)),
        st.tuples(st.just("cancel"), st.just(0)),
    ),
    max_size=25,
)


@SOME
@given(events)
def test_once_something_serves_somebody_always_serves_while_pods_behave(
    happened: list[tuple[str, int]],
) -> None:
    play = Play()
    play.deploy(http(replicas=2))
    play.until()
    serves = _watch(play)

    for event, number in happened:
        _let(play, event, number, "http")
        serves.append(bool(play.world.serves()))
    play.until()

    assert all(serves)


def _let(play: Play, event: str, number: int, kind: str) -> None:
    if event == "look":
        for _ in range(number):
            play.look()
            play.world.wait()
    elif event == "die":
        play.look(writes=number)
        play.world.wait()
    elif event == "deploy":
        play.deploy(*KINDS[kind], command=COMMAND if number else None)
    elif event == "cancel" and play.wanted.moving:
        if play.wanted.moving[-1].verdict is None:
            play.cancel()
    elif event == "break":
        play.world.never_ready.add(number)
    elif event == "mend":
        play.world.never_ready.clear()
    elif event == "delete":
        _delete_by_hand(play, number)


def _delete_by_hand(play: Play, number: int) -> None:
    keys = sorted(key for key in play.world.objects if key[0] is not ObjectKind.JOB)
    if keys:
        play.world.remove(*keys[number % len(keys)])


anything = st.lists(
    st.one_of(
        st.tuples(st.just("look"), st.integers(1, 12)),
        st.tuples(st.just("die"), st.integers(0, 3)),
        st.tuples(st.just("deploy"), st.integers(0, 1)),
        st.tuples(st.just("cancel"), st.just(0)),
        st.tuples(st.just("break"), st.integers(1, 4)),
        st.tuples(st.just("mend"), st.just(0)),
        st.tuples(st.just("delete"), st.integers(0, 9)),
    ),
    max_size=25,
)


@SOME
@given(anything, kinds)
def test_whatever_happens_it_comes_to_rest_with_one_release_running(
    happened: list[tuple[str, int]], kind: str
) -> None:
    play = Play()
    play.deploy(*KINDS[kind])
    for event, number in happened:
        _let(play, event, number, kind)
    play.world.never_ready.clear()

    play.until(looks=600)

    target = play.wanted.target
    assert not play.wanted.moving
    runs = target is not None and bool(target.config.long_running)
    assert play.world.running() == ({target.number} if runs and target is not None else set())
    serves = {target.number} if target is not None and target.config.has_port else set()
    assert play.world.serves() == serves


@SOME
@given(anything, kinds)
def test_a_decision_asked_for_twice_is_the_same_and_writes_each_object_once(
    happened: list[tuple[str, int]], kind: str
) -> None:
    play = Play()
    play.deploy(*KINDS[kind])
    for event, number in happened:
        _let(play, event, number, kind)
        seen = play.seen()

        step = reconcile.decide(play.wanted, seen)

        assert reconcile.decide(play.wanted, seen) == step
        writes = Counter(written(c) for c in step.commands if not isinstance(c, Try))
        assert all(count == 1 for count in writes.values()), writes


@SOME
@given(anything, kinds)
def test_every_end_is_reached_once_and_every_route_is_a_deployments_own(
    happened: list[tuple[str, int]], kind: str
) -> None:
    play = Play()
    play.deploy(*KINDS[kind])
    for event, number in happened:
        _let(play, event, number, kind)
    play.world.never_ready.clear()
    play.until(looks=600)

    for path in play.states.values():
        stages = [state for state in path if state in USUAL_ROUTE and state is not State.HEALTHY]
        assert stages == sorted(stages, key=list(State).index)
        assert len(path) == len(set(path))


@pytest.mark.parametrize("kind", ["http", "all kinds"])
@pytest.mark.parametrize("state", [s for s in USUAL_ROUTE if s is not State.HEALTHY])
@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_worker_that_dies_between_two_writes_of_any_stage_is_made_up_for(
    kind: str, state: State, writes: int
) -> None:
    play = Play()
    play.deploy(*KINDS[kind])
    play.until()
    play.deploy(*KINDS[kind])
    play.until_state_of(2, state)

    play.look(writes=writes)
    play.look(writes=writes + 1)
    play.world.wait()
    play.until()

    assert play.states[2] == list(USUAL_ROUTE)
    assert play.world.running() == {2}


# --- rest ---


def test_a_look_that_leaves_something_to_do_is_not_settled() -> None:
    play = Play()
    play.deploy()

    assert not play.look().settled
    play.until()
    assert play.look().settled
    play.world.never_ready.add(1)
    play.world.wait()
    assert not play.look().settled


def test_what_a_card_shows_is_the_serving_releases() -> None:
    play = Play()
    play.deploy(http(replicas=2))
    play.until()
    play.deploy(http(replicas=3))
    play.until_state_of(2, State.QUALIFYING)

    report = play.look().report
    assert (report.serving, report.ready, report.desired) == (1, 2, 2)
    play.until()
    report = play.look().report
    assert (report.serving, report.ready, report.desired) == (2, 3, 3)
    assert not report.rolling


def test_without_a_port_the_release_in_charge_serves() -> None:
    play = Play()
    play.deploy(worker(primary=True))
    assert play.look().report.serving is None
    play.until()

    assert play.look().report.serving == 1


def test_a_bare_fence_gives_way_to_a_write_that_carries_it() -> None:
    ref = Ref(ObjectKind.DEPLOYMENT, "web--http-r1", "u", "1")
    other = Ref(ObjectKind.DEPLOYMENT, "web--http-r2", "u", "1")

    found = reconcile.one_for_each_object([WriteFence(ref), WriteFence(other), Scale(ref, 1)])

    assert found == (Scale(ref, 1), WriteFence(other))
