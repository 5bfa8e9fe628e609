"""The syntax of a cron schedule: five fields, exactly as Kubernetes reads them. No clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from deployments.domain.limits import SCHEDULE_LENGTH, Range

_PART = re.compile(r"(?:[*?]|([0-9A-Za-z]{1,4})(?:-([0-9A-Za-z]{1,4}))?)(?:/([0-9]{1,4}))?")


@dataclass(frozen=True)
class _Field:
    name: str
    allowed: Range
    names: Mapping[str, int] = field(default_factory=dict)


_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS = (
    _Field("minute", Range(0, 59)),
    _Field("hour", Range(0, 23)),
    _Field("day of the month", Range(1, 31)),
    _Field("month", Range(1, 12), {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Field("day of the week", Range(0, 6), {name: number for number, name in enumerate(_DAYS)}),
)


def schedule_problem(schedule: str) -> str | None:
    """Return what is wrong with a schedule, as the end of a sentence, or None."""
    if len(schedule) > SCHEDULE_LENGTH:
        return f"has at most {SCHEDULE_LENGTH} characters; this has {len(schedule)}"
    words = schedule.split(" ")
    if len(words) != len(_FIELDS) or "" in words:
        return "has five fields with one space between, such as 30 4 * * *"
    for word, expected in zip(words, _FIELDS, strict=True):
        if not all(_is_part(part, expected) for part in word.split(",")):
            return f"has no valid {expected.name}: {word!a} is not {_expectation(expected)}"
    return None


def _is_part(part: str, expected: _Field) -> bool:
    found = _PART.fullmatch(part)
    if found is None or (found[3] is not None and int(found[3]) == 0):
        return False
    numbers = [_number(text, expected) for text in (found[1], found[2]) if text is not None]
    known = [number for number in numbers if number is not None and number in expected.allowed]
    return len(known) == len(numbers) and known == sorted(known)


def _number(text: str, expected: _Field) -> int | None:
    if text.isdecimal():
        return int(text)
    return expected.names.get(text.lower())


def _expectation(expected: _Field) -> str:
    return f"*, a number {expected.allowed}, a range, a list or a step of them"
