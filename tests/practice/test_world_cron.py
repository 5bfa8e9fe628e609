"""Schedules of CronJobs."""

from __future__ import annotations

from datetime import datetime

import pytest

from deployments.practice.world.cron import NotASchedule, parse

MONDAY = datetime(2026, 3, 2, 12, 0, 30)  # noqa: DTZ001 - zones are the caller's matter


@pytest.mark.parametrize(
    ("schedule", "following"),
    [
        pytest.param("* * * * *", "2026-03-02 12:01", id="every minute"),
        pytest.param("*/15 * * * *", "2026-03-02 12:15", id="quarters"),
        pytest.param("0 0 * * *", "2026-03-03 00:00", id="midnight"),
        pytest.param("30 4 1 * *", "2026-04-01 04:30", id="first of the month"),
        pytest.param("0 9 * * mon-fri", "2026-03-03 09:00", id="working days"),
        pytest.param("0 0 * * 7", "2026-03-08 00:00", id="seven is Sunday too"),
        pytest.param("0 0 13 * fri", "2026-03-06 00:00", id="either day field is enough"),
        pytest.param("0 0 29 feb *", "2028-02-29 00:00", id="leap day"),
        pytest.param("@hourly", "2026-03-02 13:00", id="nickname"),
        pytest.param("5,10 8-10/2 * * *", "2026-03-03 08:05", id="lists and steps"),
    ],
)
def test_the_next_time(schedule: str, following: str) -> None:
    assert str(parse(schedule).after(MONDAY))[:16] == following


def test_a_day_that_never_comes_has_no_next_time() -> None:
    assert parse("0 0 30 feb *").after(MONDAY) is None


@pytest.mark.parametrize("text", ["", "* * * *", "61 * * * *", "a * * * *", "5-1 * * * *"])
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(NotASchedule):
        parse(text)
