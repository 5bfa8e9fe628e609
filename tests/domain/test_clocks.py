"""Clocks run while the cluster can be seen, stand still while not, and go with their cause."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from deployments.domain import clocks
from deployments.domain.clocks import Clock, Sighting
from deployments.domain.deadlines import LONGEST_GAP
from tests.domain.world import NOON

UNREADY = Sighting("unready")


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def seen_at(*seconds: float, sighting: Sighting = UNREADY) -> tuple[Clock, ...]:
    running: tuple[Clock, ...] = ()
    for second in seconds:
        running = clocks.run(running, [sighting], after(second))
    return running


def test_a_clock_begins_when_its_cause_is_first_seen() -> None:
    running = seen_at(0)

    assert clocks.ran_for(running, "unready", after(0)) == timedelta(0)
    assert clocks.ran_for(running, "something else", after(9)) == timedelta(0)


def test_it_runs_on_from_look_to_look() -> None:
    assert clocks.ran_for(seen_at(0, 10, 20), "unready", after(20)) == timedelta(seconds=20)


def test_a_gap_as_long_as_allowed_counts_and_a_longer_one_does_not() -> None:
    longest = LONGEST_GAP.total_seconds()

    assert clocks.ran_for(seen_at(0, longest), "unready", after(longest)) == LONGEST_GAP
    running = seen_at(0, 10, 10 + longest + 1, 12 + longest)
    assert clocks.ran_for(running, "unready", after(12 + longest)) == timedelta(seconds=11)


def test_it_goes_with_its_cause_and_begins_anew() -> None:
    gone = clocks.run(seen_at(0, 10), [], after(12))
    again = clocks.run(gone, [UNREADY], after(14))

    assert gone == ()
    assert clocks.ran_for(again, "unready", after(14)) == timedelta(0)


def test_another_mark_is_a_break() -> None:
    first = seen_at(0, 10, sighting=Sighting("ready", "pod-1", mark="12:00"))
    running = clocks.run(first, [Sighting("ready", "pod-1", mark="12:05")], after(12))

    assert running[0].seen_for(after(12)) == timedelta(0)


def test_subjects_have_clocks_of_their_own() -> None:
    running = clocks.run(
        seen_at(0, sighting=Sighting("ready", "a")),
        [Sighting("ready", "a"), Sighting("ready", "b")],
        after(4),
    )

    assert [clock.seen_for(after(4)).total_seconds() for clock in running] == [4, 0]


def test_the_newest_word_stays_and_silence_keeps_the_last_one() -> None:
    running = clocks.run(seen_at(0), [Sighting("unready", detail="refused")], after(2))
    running = clocks.run(running, [UNREADY], after(4))

    assert running[0].detail == "refused"


def test_a_late_look_does_not_turn_time_back() -> None:
    running = clocks.run(seen_at(0, 10), [UNREADY], after(4))

    assert running[0].last_seen == after(10)
    assert running[0].unseen_seconds == 0


def test_how_long_it_lasted_ends_with_the_last_sighting() -> None:
    assert seen_at(0, 10)[0].lasted == timedelta(seconds=10)


@given(st.lists(st.floats(min_value=0, max_value=100), min_size=1, max_size=20))
def test_a_clock_never_runs_faster_than_time(gaps: list[float]) -> None:
    moments = [sum(gaps[: index + 1]) for index in range(len(gaps))]
    running = seen_at(*moments)

    assert timedelta(0) <= running[0].lasted <= timedelta(seconds=moments[-1] - moments[0] + 0.001)
