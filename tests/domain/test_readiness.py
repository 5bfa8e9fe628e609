"""Who is ready, for how long, and whether a spell of unreadiness is open."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from deployments.domain import clocks, readiness
from deployments.domain.observations import (
    Answer,
    CheckResult,
    Meta,
    ObjectKind,
    Pod,
    Ref,
    Seen,
    Workload,
)
from deployments.domain.releases import Config, Process
from deployments.domain.states import State
from deployments.domain.wanted import Attempt, Release, Wanted
from tests.domain.play import PLACE
from tests.domain.world import NOON, cron, http, worker


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def pod(name: str, *, ready: bool = True, **more: object) -> Pod:
    made = Pod(name, name, 2, "http", node="node-1", phase="Running", ready=ready)
    return replace(made, **{"ready_changed": NOON, **more})  # type: ignore[arg-type]


def attempt(state: State = State.DRAINING, *processes: Process) -> Attempt:
    release = Release(2, 2, Config(processes or (http(),)), "r/web@2")
    past = state in {State.ACTIVATING, State.DRAINING}
    return Attempt(5, state, NOON, release, past=past)


def looked(one: Attempt, *looks: tuple[float, Seen]) -> Attempt:
    """Return the attempt with its clocks as these looks leave them."""
    for second, seen in looks:
        now = replace(seen, now=after(second))
        one = replace(one, clocks=clocks.run(one.clocks, readiness.sightings(one, now), now.now))
    return one


def seen(*pods: Pod, **more: object) -> Seen:
    return replace(Seen(NOON, pods=pods), **more)  # type: ignore[arg-type]


# --- staying ready ---


@pytest.mark.parametrize(("second", "stayed"), [(3.9, 0), (4, 1)])
def test_a_replica_has_stayed_ready_after_its_stabilization_time(
    second: float, stayed: int
) -> None:
    one = looked(attempt(State.QUALIFYING), (0, seen(pod("a"))), (second, seen(pod("a"))))

    now = replace(seen(pod("a")), now=after(second))
    assert readiness.stayed_ready(one, now, one.clocks) == stayed


def test_a_pod_that_was_unready_between_two_looks_begins_anew() -> None:
    again = pod("a", ready_changed=after(3))
    one = looked(attempt(State.QUALIFYING), (0, seen(pod("a"))), (4, seen(again)))

    assert readiness.stayed_ready(one, replace(seen(again), now=after(4)), one.clocks) == 0


def test_another_pod_does_not_inherit_the_time() -> None:
    one = looked(attempt(State.QUALIFYING), (0, seen(pod("a"))), (4, seen(pod("b"))))

    assert readiness.stayed_ready(one, replace(seen(pod("b")), now=after(4)), one.clocks) == 0


def test_a_stopping_pod_is_not_ready_for_long() -> None:
    stopping = pod("a", deletion_due=after(30))

    assert readiness.ready_pods(attempt().release, seen(stopping)) == ()


# --- a spell ---


def test_no_replica_ready_is_a_spell() -> None:
    assert readiness.why_unready(attempt(), seen(pod("a", ready=False))) == "no replica is ready"
    assert readiness.why_unready(attempt(), seen()) == "no replica is ready"


def test_one_that_has_been_ready_and_is_not_opens_a_spell() -> None:
    one = looked(attempt(), (0, seen(pod("a"), pod("b"))))

    assert readiness.why_unready(one, seen(pod("a"), pod("b", ready=False))) == "b is not ready"


def test_one_that_was_added_by_scaling_counts_once_it_has_been_ready() -> None:
    one = looked(attempt(), (0, seen(pod("a"))))

    assert readiness.why_unready(one, seen(pod("a"), pod("new", ready=False))) is None


@pytest.mark.parametrize(
    "fallen",
    [
        pytest.param(pod("b", ready=False, node="node-2"), id="lost with its node"),
        pytest.param(pod("b", ready=False, phase="Failed"), id="evicted"),
        pytest.param(pod("b", ready=False, deletion_due=NOON), id="deleted"),
    ],
)
def test_a_pod_that_is_lost_does_not_count_while_another_is_ready(fallen: Pod) -> None:
    one = looked(attempt(), (0, seen(pod("a"), pod("b"))))
    silent = frozenset({"node-2"})

    assert readiness.why_unready(one, seen(pod("a"), fallen, silent_nodes=silent)) is None
    assert readiness.why_unready(one, seen(fallen, silent_nodes=silent)) == "no replica is ready"


def test_a_release_without_a_long_running_process_is_never_unready() -> None:
    assert readiness.why_unready(attempt(State.DRAINING, cron()), seen()) is None


def test_the_agents_own_check_opens_a_spell_in_draining_only() -> None:
    no = CheckResult(Answer.NO, "answers with 500")

    assert readiness.why_unready(attempt(), seen(pod("a"), check=no)) == "answers with 500"
    assert readiness.why_unready(attempt(State.ACTIVATING), seen(pod("a"), check=no)) is None


def test_neither_yes_nor_no_leaves_a_spell_as_it_was() -> None:
    no = seen(pod("a"), check=CheckResult(Answer.NO, "answers with 500"))
    neither = seen(pod("a"), check=CheckResult(Answer.UNKNOWN))

    assert readiness.why_unready(attempt(), neither) is None
    assert readiness.why_unready(looked(attempt(), (0, no)), neither) == "answers with 500"
    healed = looked(attempt(), (0, no), (2, seen(pod("a"), check=CheckResult(Answer.YES))))
    assert readiness.why_unready(healed, neither) is None


def test_a_spell_has_a_clock_past_the_point_of_no_return_only() -> None:
    unready = seen(pod("a", ready=False))

    past = looked(attempt(), (0, unready), (10, unready))
    before = looked(attempt(State.QUALIFYING), (0, unready), (10, unready))

    assert clocks.ran_for(past.clocks, readiness.UNREADY, after(10)) == timedelta(seconds=10)
    assert clocks.find(before.clocks, readiness.UNREADY) is None


# --- the check ---


@pytest.mark.parametrize(
    ("state", "process", "wanted"),
    [
        (State.QUALIFYING, http(), ("http", 80, "/")),
        (State.DRAINING, http(readiness_path="/up"), ("http", 80, "/up")),
        (State.QUALIFYING, worker(primary=True, port=9000), ("tcp", 9000, "/")),
        (State.QUALIFYING, worker(primary=True), None),
        (State.STARTING, http(), None),
        (State.ACTIVATING, http(), None),
    ],
)
def test_the_check_that_a_stage_owes(
    state: State, process: Process, wanted: tuple[str, int, str] | None
) -> None:
    one = attempt(state, process)
    past = {"last_past": one} if one.past else {"before": one}

    check = readiness.check_wanted(Wanted(PLACE, 1, (one.release,), **past))  # type: ignore[arg-type]

    assert (check and (check.kind, check.port, check.path)) == wanted
    assert check is None or check.service == "web-r2"


@pytest.mark.parametrize(("replicas", "times"), [(1, 1), (3, 3), (10, 10), (11, 10)])
def test_it_is_asked_as_often_as_there_are_replicas_up_to_ten_times(
    replicas: int, times: int
) -> None:
    one = attempt(State.QUALIFYING, http(replicas=replicas))

    check = readiness.check_wanted(Wanted(PLACE, 1, (one.release,), before=one))

    assert check is not None
    assert check.times == times


@pytest.mark.parametrize(
    ("answer", "passes"), [(Answer.YES, True), (Answer.NO, False), (Answer.UNKNOWN, False)]
)
def test_qualifying_needs_a_yes(answer: Answer, *, passes: bool) -> None:
    one = attempt(State.QUALIFYING)

    assert readiness.check_passes(one, seen(check=CheckResult(answer))) is passes
    assert not readiness.check_passes(one, seen())


def test_without_a_port_there_is_no_check_to_pass() -> None:
    assert readiness.check_passes(attempt(State.QUALIFYING, worker(primary=True)), seen())


# --- how many, and stopped ---


def _workload(replicas: int, *, settled: bool = True) -> Workload:
    labels = {"pilothouse.dev/release": "r-2", "pilothouse.dev/process": "http"}
    meta = Meta(Ref(ObjectKind.DEPLOYMENT, "web--http-r2", "u", "1"), labels)
    return Workload(meta, replicas, settled=settled)


@pytest.mark.parametrize(("live", "desired"), [(5, 5), (1, 1), (0, 3)])
def test_what_somebody_scaled_by_hand_counts_as_desired_unless_it_is_zero(
    live: int, desired: int
) -> None:
    one = attempt(State.QUALIFYING, http(replicas=3))

    assert readiness.desired(one.release, seen(workloads=(_workload(live),))) == desired
    assert readiness.desired(one.release, seen()) == 3


@pytest.mark.parametrize(
    ("found", "stopped"),
    [
        (pod("a"), False),
        (pod("a", phase="Failed"), True),
        (pod("a", phase="Succeeded"), True),
        (pod("a", deletion_due=NOON), False),
        (pod("a", deletion_due=NOON - timedelta(minutes=5)), False),
        (pod("a", deletion_due=NOON - timedelta(minutes=5, seconds=1)), True),
        (pod("a", node="node-2", deletion_due=NOON), False),
        (pod("a", node="node-2", deletion_due=NOON - timedelta(seconds=1)), True),
        (pod("a", node="node-2"), False),
    ],
)
def test_when_a_pod_counts_as_stopped(found: Pod, *, stopped: bool) -> None:
    look = seen(found, silent_nodes=frozenset({"node-2"}))

    assert readiness.has_stopped(found, look) is stopped


def test_a_release_has_stopped_when_no_pod_is_left_and_none_is_about_to_be_made() -> None:
    assert readiness.all_stopped(2, seen())
    assert readiness.all_stopped(2, seen(pod("a", job="web--seed-d5"), workloads=(_workload(0),)))
    assert not readiness.all_stopped(2, seen(pod("a")))
    assert not readiness.all_stopped(2, seen(workloads=(_workload(1),)))
    assert not readiness.all_stopped(2, seen(workloads=(_workload(0, settled=False),)))
