"""The variables of a service: what may be sent, judged whole. Encrypting secrets is not here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from deployments.domain import limits
from deployments.domain.documents import REFERENCE, Reader, quoted, text_problem, unquoted
from deployments.domain.errors import Invalid, Problem
from deployments.domain.process_settings import REFERENCES_LATER

FIELDS = ("value", "secret")

_KEY = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{limits.VARIABLE_KEY_LENGTH - 1}}}")


@dataclass(frozen=True)
class Variable:
    """One variable as it was sent. `value` None: the secret that is stored stays."""

    key: str
    value: str | None = field(repr=False)
    secret: bool = False

    @property
    def keeps_stored(self) -> bool:
        """Whether the stored secret value stays."""
        return self.value is None


def parse_variables(document: object, *, stored: Mapping[str, int]) -> tuple[Variable, ...]:
    """Return all variables of `{"variables": {KEY: {"value": …, "secret": …}}}`.

    `stored` has the keys of the stored secrets with the size of each value in bytes: a secret
    sent without a value keeps its own. Raises Invalid with every problem at once.
    """
    problems: list[Problem] = []
    sent = _sent(document, problems)
    found = tuple(
        _read(Reader(sent, "/variables", "", problems, unquoted), key, stored) for key in sent
    )
    _check_sizes(found, stored, problems)
    if problems:
        raise Invalid(*problems)
    return found


def _sent(document: object, problems: list[Problem]) -> dict[str, object]:
    if not isinstance(document, dict):
        raise Invalid.field("", f"Variables are a JSON object; this is {unquoted(document)}.")
    Reader(document, "", "", problems).only(("variables",))
    sent = document.get("variables")
    if not isinstance(sent, dict):
        what = unquoted(sent) if "variables" in document else "missing"
        problems.append(
            Problem("/variables", f"variables is an object of key and value; this is {what}.")
        )
        raise Invalid(*problems)
    return sent


def _read(reader: Reader, key: str, stored: Mapping[str, int]) -> Variable:
    if not _KEY.fullmatch(key):
        reader.note(
            key,
            f"A variable's key has 1 to {limits.VARIABLE_KEY_LENGTH} letters, digits and _ and"
            f" does not begin with a digit; this is {quoted(key)}.",
        )
        return Variable(key, "")
    inner = reader.inner(key, reader.fields[key], pointer=f"/{key}", owner=key)
    return Variable(key, "") if inner is None else _read_variable(inner, key, stored)


def _read_variable(reader: Reader, key: str, stored: Mapping[str, int]) -> Variable:
    reader.only(FIELDS)
    secret = reader.flag("secret")
    if secret and reader.fields.get("value") is None:
        if key not in stored:
            reader.note("value", f"{key} has no stored secret value to keep: send one.")
        return Variable(key, None, secret=True)
    value = reader.text("value")
    problem = _value_problem(value)
    if problem:
        reader.note("value", problem if problem[0].isupper() else f"{key} {problem}.")
    return Variable(key, value, secret=secret)


def _value_problem(value: str) -> str | None:
    """Return what is wrong with a value: a whole sentence, or the end of one in lower case. The
    value may be a secret, so it is never quoted."""
    if text_problem(value):
        return text_problem(value)
    if len(value.encode()) > limits.VARIABLE_VALUE_BYTES:
        return f"has at most {limits.VARIABLE_VALUE_BYTES // limits.KIB} KiB"
    return REFERENCES_LATER if REFERENCE in value else None


def _check_sizes(
    found: tuple[Variable, ...], stored: Mapping[str, int], problems: list[Problem]
) -> None:
    if len(found) > limits.VARIABLES:
        detail = f"A service has at most {limits.VARIABLES} variables; these are {len(found)}."
        problems.append(Problem("/variables", detail))
    if sum(_size(variable, stored) for variable in found) > limits.VARIABLES_BYTES:
        whole = limits.VARIABLES_BYTES // limits.KIB
        problems.append(Problem("/variables", f"All variables together have at most {whole} KiB."))


def _size(variable: Variable, stored: Mapping[str, int]) -> int:
    value = variable.value
    size = (
        stored.get(variable.key, 0) if value is None else len(value.encode(errors="surrogatepass"))
    )
    return len(variable.key) + size
