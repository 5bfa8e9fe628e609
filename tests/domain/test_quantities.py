"""CPU and memory: read as Kubernetes reads them, said as a person says them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.domain.quantities import cpu_words, memory_words, millicores, parse, whole


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2", "2"),
        ("500m", "0.5"),
        ("1.5", "1.5"),
        ("64Mi", str(64 * 2**20)),
        ("1.5Gi", str(3 * 2**29)),
        ("1k", "1000"),
        ("2Pi", str(2 * 2**50)),
        ("0", "0"),
    ],
)
def test_a_quantity_is_read(text: str, number: str) -> None:
    assert parse(text) == Decimal(number)


@pytest.mark.parametrize(
    "text",
    ["", "-1", "+1", "1 Gi", "1gi", "1e3", ".5", "1.", "m", "\N{ARABIC-INDIC DIGIT ONE}", "1Gi\n"],
)
def test_anything_else_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        parse(text)


def test_amounts_are_rounded_up() -> None:
    assert millicores("0.0001") == 1
    assert millicores("250m") == 250
    assert whole("0.5") == 1
    assert whole("1.5Ki") == 1536


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "0 CPU"),
        (1, "0.001 CPU"),
        (250, "0.25 CPU"),
        (1000, "1 CPU"),
        (1500, "1.5 CPU"),
        (2010, "2.1 CPU"),
        (100_000, "100 CPU"),
    ],
)
def test_cpu_is_said_in_cores_and_never_too_little(amount: int, words: str) -> None:
    assert cpu_words(amount) == words


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (768 * 2**20, "768 MiB"),
        (2**31, "2 GiB"),
        (2**31 + 1, "2.1 GiB"),
    ],
)
def test_memory_is_said_in_the_largest_unit_and_never_too_little(amount: int, words: str) -> None:
    assert memory_words(amount) == words


@given(st.integers(min_value=0, max_value=10**9))
def test_whoever_adds_what_is_named_has_enough(amount: int) -> None:
    named = cpu_words(amount).removesuffix(" CPU")

    assert millicores(named) >= amount
