"""Quantities as the API server gives them back: `0.5` as `500m`, `1024Mi` as `1Gi`."""

from __future__ import annotations

import re
from decimal import Decimal

from deployments.practice.jsons import Json

_FORM = re.compile(
    r"^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$"
)
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
KIBI = 1024
_SMALLEST = Decimal("1e-9")


def amount(value: Json) -> Decimal:
    """Return a quantity in its base unit: `500m` is 0.5, `1Ki` is 1024. Raises ValueError."""
    number, suffix = _parts(value)
    if suffix in _BINARY:
        return number * Decimal(1024) ** (_BINARY.index(suffix) + 1)
    if suffix in _DECIMAL:
        return number * Decimal(1000) ** (_DECIMAL.index(suffix) - 3)
    return number * Decimal(10) ** int(suffix[1:])


def canonical(value: Json) -> str:
    """Return the form that the API server answers with. Raises ValueError."""
    _, suffix = _parts(value)
    exact = amount(value)
    if suffix in _BINARY and abs(exact) >= KIBI and exact == int(exact):
        return _shortened(int(exact), KIBI, ("", *_BINARY))
    return _shortened(int(exact / _SMALLEST), 1000, _DECIMAL)


def _parts(value: Json) -> tuple[Decimal, str]:
    found = _FORM.match(str(value))
    if found is None:
        raise ValueError(str(value))
    return Decimal(found[1]), found[2] or ""


def _shortened(number: int, base: int, suffixes: tuple[str, ...]) -> str:
    """Write a whole number with the largest suffix that leaves no fraction."""
    if number == 0:
        return "0"
    step = 0
    while number % base == 0 and step < len(suffixes) - 1:
        number //= base
        step += 1
    return f"{number}{suffixes[step]}"
