"""The five fields of a cron schedule, as robfig/cron reads them.

When a job is started is the controller's matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
FIELDS = 5
YEARS_AHEAD = 5


class NotASchedule(ValueError):
    """The text is no schedule."""


@dataclass(frozen=True)
class Schedule:
    """Which minutes, hours, days of the month, months and days of the week (0 is Sunday)."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def on(self, day: datetime) -> bool:
        """Whether it fires on this day at all: with both day fields set, either is enough."""
        by_day = day.day in self.days
        by_weekday = (day.weekday() + 1) % 7 in self.weekdays
        both = by_day and by_weekday if self.any_day or self.any_weekday else by_day or by_weekday
        return day.month in self.months and both

    def after(self, moment: datetime) -> datetime | None:
        """Return the next time after `moment`, None when there is none within five years."""
        found = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        end = found + timedelta(days=366 * YEARS_AHEAD)
        while found < end:
            if not self.on(found):
                found = (found + timedelta(days=1)).replace(hour=0, minute=0)
            elif found.hour not in self.hours:
                found = (found + timedelta(hours=1)).replace(minute=0)
            elif found.minute not in self.minutes:
                found += timedelta(minutes=1)
            else:
                return found
        return None


@lru_cache(maxsize=256)
def parse(text: str) -> Schedule:
    """Read a schedule. Raises NotASchedule."""
    fields = NICKNAMES.get(text.strip(), text).split()
    if len(fields) != FIELDS:
        raise NotASchedule(f"expected exactly 5 fields, found {len(fields)}: {text}")
    names = ((), (), (), MONTHS, DAYS)
    minutes, hours, days, months, weekdays = (
        _field(*each) for each in zip(fields, BOUNDS, names, strict=True)
    )
    any_day, any_weekday = fields[2][0] in "*?", fields[4][0] in "*?"
    return Schedule(minutes, hours, days, months, weekdays, any_day, any_weekday)


def _field(text: str, bounds: tuple[int, int], names: tuple[str, ...]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        found |= set(_range(part, bounds, names))
    return frozenset(found)


def _range(part: str, bounds: tuple[int, int], names: tuple[str, ...]) -> range:
    span, _, step = part.partition("/")
    low, high = bounds
    if span not in ("*", "?"):
        first, _, last = span.partition("-")
        low = _number(first, bounds, names)
        high = _number(last, bounds, names) if last else (high if step else low)
    width = _number(step, (1, bounds[1] + 1), ()) if step else 1
    if low > high:
        raise NotASchedule(f"beginning of range ({low}) beyond end of range ({high}): {part}")
    return range(low, high + 1, width)


def _number(text: str, bounds: tuple[int, int], names: tuple[str, ...]) -> int:
    if text.lower() in names:
        return names.index(text.lower()) + (1 if names is MONTHS else 0)
    if not text.isdigit():
        raise NotASchedule(f"failed to parse int from {text}")
    found = int(text)
    if names is DAYS and found == len(DAYS):
        found = 0
    if not bounds[0] <= found <= bounds[1]:
        raise NotASchedule(f"{text} is not between {bounds[0]} and {bounds[1]}")
    return found
