"""When the registry is asked for a tag, and when its answer is a failure."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from deployments.domain import tags
from deployments.domain.clocks import Clock
from deployments.domain.deadlines import LIMITS
from deployments.domain.observations import Resolution
from tests.domain.world import NOON

NO = Resolution(refused="manifest unknown")
SILENCE = Resolution(unreachable="timed out")


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def answered(*answers: tuple[float, Resolution]) -> tuple[Clock, ...]:
    running: tuple[Clock, ...] = ()
    for second, answer in answers:
        running = tags.after_asking(running, answer, after(second))
    return running


def test_it_is_asked_at_once_and_then_every_15_seconds() -> None:
    assert tags.ask_now((), after(0))
    assert not tags.ask_now(answered((0, NO)), after(14.9))
    assert tags.ask_now(answered((0, NO)), after(15))


@pytest.mark.parametrize(("second", "for_good"), [(14.9, None), (15, "manifest unknown")])
def test_the_second_no_counts_15_seconds_after_the_first(
    second: float, for_good: str | None
) -> None:
    running = answered((0, NO), (second, NO))

    assert tags.refused_for_good(running, LIMITS) == for_good


def test_one_no_is_not_enough_however_long_ago() -> None:
    assert tags.refused_for_good(answered((0, NO)), LIMITS) is None


def test_silence_has_three_minutes() -> None:
    looks = [(15.0 * index, SILENCE) for index in range(13)]

    assert tags.unreachable_for_good(answered(*looks[:-1]), LIMITS) is None
    assert tags.unreachable_for_good(answered(*looks), LIMITS) == "timed out"


def test_time_in_which_nobody_asked_does_not_count() -> None:
    running = answered((0, SILENCE), (600, SILENCE))

    assert tags.unreachable_for_good(running, LIMITS) is None


def test_a_slow_registry_is_still_asked_without_a_break() -> None:
    looks = [(40.0 * index, SILENCE) for index in range(6)]

    assert tags.unreachable_for_good(answered(*looks), LIMITS) == "timed out"


def test_no_and_silence_by_turns_fail_as_well() -> None:
    running = answered((0, NO), (15, SILENCE), (30, NO))

    assert tags.refused_for_good(running, LIMITS) == "manifest unknown"


def test_a_look_that_asked_nobody_changes_nothing_and_a_digest_ends_it() -> None:
    running = answered((0, NO))

    assert tags.after_asking(running, None, after(2)) == running
    assert tags.after_asking(running, Resolution(digest="sha256:1"), after(15)) == ()
