"""Schedules of cron jobs: five fields, with the words of the library that the real one uses."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
# name of the values that may be written as words, lowest, highest
_FIELDS: tuple[tuple[dict[str, int], int, int], ...] = (
    ({}, 0, 59),
    ({}, 0, 23),
    ({}, 1, 31),
    ({name: number + 1 for number, name in enumerate(MONTHS)}, 1, 12),
    ({name: number for number, name in enumerate(DAYS)}, 0, 6),
)
DESCRIPTORS = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)


def check_schedule(text: str) -> str:
    """Return what is wrong with a schedule, an empty text when nothing is."""
    if text.startswith("@"):
        known = text in DESCRIPTORS or text.startswith("@every ")
        return "" if known else f"unrecognized descriptor: {text}"
    fields = text.split()
    if len(fields) != len(_FIELDS):
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    try:
        for field, limits in zip(fields, _FIELDS, strict=True):
            for part in field.split(","):
                _check_range(part, *limits)
    except ValueError as error:
        return str(error)
    return ""


def _check_range(part: str, names: dict[str, int], lowest: int, highest: int) -> None:
    span, slash, step = part.partition("/")
    begin, dash, end = span.partition("-")
    if begin in ("*", "?"):
        first, last = lowest, highest
    else:
        first = _number(begin, names)
        last = _number(end, names) if dash else highest if slash else first
    if slash and _number(step, {}) == 0:
        raise ValueError(f"step of range should be a positive number: {part}")
    if first < lowest:
        raise ValueError(f"beginning of range ({first}) below minimum ({lowest}): {part}")
    if last > highest:
        raise ValueError(f"end of range ({last}) above maximum ({highest}): {part}")
    if first > last:
        raise ValueError(f"beginning of range ({first}) beyond end of range ({last}): {part}")


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    try:
        found = int(text)
    except ValueError:
        why = f'strconv.Atoi: parsing "{text}": invalid syntax'
        raise ValueError(f"failed to parse int from {text}: {why}") from None
    if found < 0:
        raise ValueError(f"negative number ({found}) not allowed: {text}")
    return found


def check_time_zone(name: str) -> str:
    """Return what is wrong with a time zone's name, an empty text when nothing is."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return f"unknown time zone {name}"
    return ""
