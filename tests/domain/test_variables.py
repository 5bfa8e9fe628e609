"""Variables: which keys and values are taken, and that no sentence repeats a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.domain.errors import Invalid
from deployments.domain.variables import Variable, parse_variables


def variables(**sent: object) -> dict[str, Any]:
    return {"variables": sent}


def problems(document: object, stored: Mapping[str, int] | None = None) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as caught:
        parse_variables(document, stored=stored or {})
    return [(problem.pointer, problem.detail) for problem in caught.value.problems]


def test_plain_and_secret_variables_are_read() -> None:
    sent = variables(LEDGER_URL={"value": "http://ledger"}, KEY={"value": "x", "secret": True})

    assert parse_variables(sent, stored={}) == (
        Variable("LEDGER_URL", "http://ledger"),
        Variable("KEY", "x", secret=True),
    )


def test_a_secret_without_a_value_keeps_the_one_that_is_stored() -> None:
    [kept] = parse_variables(variables(KEY={"secret": True}), stored={"KEY": 4})

    assert kept.keeps_stored


def test_a_secret_without_a_value_is_refused_where_none_is_stored() -> None:
    assert problems(variables(KEY={"secret": True})) == [
        ("/variables/KEY/value", "KEY has no stored secret value to keep: send one.")
    ]


def test_a_plain_variable_needs_a_value() -> None:
    assert problems(variables(MODE={}), {"MODE": 3}) == [
        ("/variables/MODE/value", "value of MODE is missing.")
    ]


@pytest.mark.parametrize("key", ["A", "a", "_", "A_1", "a" * 128])
def test_an_identifier_is_a_key(key: str) -> None:
    assert parse_variables({"variables": {key: {"value": ""}}}, stored={})[0].key == key


@pytest.mark.parametrize("key", ["", "1A", "A-B", "A.B", "A B", "Ä", "A\n", "a" * 129, "a/b~c"])
def test_anything_else_is_no_key(key: str) -> None:
    [(pointer, _)] = problems({"variables": {key: {"value": ""}}})

    assert pointer == "/variables/" + key.replace("~", "~0").replace("/", "~1")


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("a" * 32_768, True),
        ("a" * 32_769, False),
        ("ü" * 16_385, False),
        ("a\0b", False),
        ("\ud800", False),
        ("${{ db.URL }}", False),
        ("$${{ literal", False),
        ("$(A) ${B}", True),
        (3, False),
        (None, False),
    ],
)
def test_a_value_is_a_text_of_limited_size(value: object, taken: bool) -> None:
    sent = variables(A={"value": value})

    if taken:
        assert parse_variables(sent, stored={})[0].value == value
    else:
        assert [pointer for pointer, _ in problems(sent)] == ["/variables/A/value"]


def test_kept_secrets_count_towards_the_whole() -> None:
    sent = {f"K{number}": {"value": "a" * 32_000} for number in range(16)}

    assert parse_variables({"variables": sent}, stored={})
    assert problems(variables(KEPT={"secret": True}, **sent), {"KEPT": 32_000}) == [
        ("/variables", "All variables together have at most 512 KiB.")
    ]


@pytest.mark.parametrize("document", [None, [], {}, {"variables": []}, {"variables": None}])
def test_a_body_without_variables_is_refused(document: object) -> None:
    assert problems(document)[0][0] in {"", "/variables"}


def test_every_problem_is_named_at_once() -> None:
    sent = {"variables": {"1": {}, "A": {"value": 1, "colour": 2}, "B": []}, "more": 1}

    assert sorted(pointer for pointer, _ in problems(sent)) == [
        "/more",
        "/variables/1",
        "/variables/A/colour",
        "/variables/A/value",
        "/variables/B",
    ]


@pytest.mark.parametrize(
    "document",
    [
        "s3cr3t",
        {"variables": "s3cr3t"},
        variables(KEY="s3cr3t"),
        variables(KEY={"value": 5317}),
        variables(KEY={"value": "x", "secret": "s3cr3t"}),
        variables(KEY={"value": ["s3cr3t"], "secret": True}),
    ],
)
def test_a_secret_in_the_wrong_place_is_not_repeated(document: object) -> None:
    told = str(problems(document))

    assert "s3cr3t" not in told
    assert "5317" not in told


@given(st.text(min_size=9, alphabet=st.characters(categories=["Lu", "Nd"])))
def test_no_sentence_and_no_representation_repeats_a_secret(secret: str) -> None:
    sent = variables(A={"value": f"{secret}\0", "secret": True})

    assert secret not in str(problems(sent))
    assert secret not in repr(Variable("A", secret, secret=True))
