"""Foreign text made harmless."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.domain.text import clean, clean_end, last_line, one_line

BAD = "\ufffd"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x00b\x07c\x7f\x9b", f"a{BAD}b{BAD}c{BAD}{BAD}"),
        ("\u202egnp.exe\u2066", f"{BAD}gnp.exe{BAD}"),
        ("zero\u200bwidth\ufeff", f"zero{BAD}width{BAD}"),
        ("line\u2028break", f"line{BAD}break"),
        ("over\rwritten\r\nline\ttab", "over\nwritten\nline tab"),
        ("naïve 日本 \N{ROCKET}", "naïve 日本 \N{ROCKET}"),
        ("lone \ud800 half", f"lone {BAD} half"),
    ],
)
def test_what_hides_is_replaced(text: str, shown: str) -> None:
    assert clean(text, 100) == shown


def test_a_long_text_is_cut_at_its_end_or_at_its_beginning() -> None:
    assert clean("abcdef", 4) == "abc…"
    assert clean_end("abcdef", 4) == "…def"
    assert clean("abcd", 4) == clean_end("abcd", 4) == "abcd"


def test_one_line_is_one_line() -> None:
    assert one_line(" a\n\n b\t\x1b[1mc \r\n", 100) == "a b c"


def test_the_last_line_is_the_last_that_says_something() -> None:
    assert last_line("starting\nno such table\n \n") == "no such table"
    assert last_line("\n \n") == ""


@given(st.text(max_size=300), st.integers(1, 50))
def test_nothing_is_longer_than_it_may_be(text: str, longest: int) -> None:
    for shown in (clean(text, longest), clean_end(text, longest), one_line(text, longest)):
        assert len(shown) <= longest


@pytest.mark.parametrize("piece", ["\x1b[", "\x1b]0;", "\x1b[31m", "a", "\x00", "\x1b[0;"])
def test_megabytes_cost_no_time(piece: str) -> None:
    text = piece * 2_000_000
    began = time.perf_counter()

    clean(text, 1000)
    clean_end(text, 1000)
    one_line(text, 1000)

    assert time.perf_counter() - began < 1
