"""What pydantic finds wrong with a request, in our own sentences and with JSON pointers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ninja.errors import ValidationErrorContext

from deployments.domain.documents import escaped, quoted
from deployments.domain.errors import Invalid, Problem

Found = Mapping[str, Any]


def invalid_from(contexts: Iterable[ValidationErrorContext[Any]]) -> Invalid:
    """Return everything that is wrong with a request, whichever part of it was wrong."""
    return Invalid(*(_problem(context, found) for context in contexts for found in _found(context)))


def _found(context: ValidationErrorContext[Any]) -> Iterable[Found]:
    return context.pydantic_validation_error.errors(include_url=False)


def _problem(context: ValidationErrorContext[Any], found: Found) -> Problem:
    # The first part of the place is the name of the Python argument, which nobody sent.
    parts = [str(part) for part in found["loc"][1:]]
    pointer = "".join(f"/{escaped(part)}" for part in parts)
    return Problem(pointer, _sentence(parts[-1] if parts else "", found))


def _sentence(name: str, found: Found) -> str:
    say = _SENTENCES.get(found["type"])
    if say is None:
        return f"{name} is not valid: {found['msg']}." if name else f"{found['msg']}."
    return say(name or "The body", found)


def _missing(name: str, _found: Found) -> str:
    return f"{name} is missing."


def _unknown(name: str, _found: Found) -> str:
    return f"{quoted(name)} is not a field that there is."


def _own(_name: str, found: Found) -> str:
    return str(found["ctx"]["error"])


def _is(what: str) -> Callable[[str, Found], str]:
    return lambda name, found: f"{name} is {what}; this is {quoted(found['input'])}."


def _is_one_of(name: str, found: Found) -> str:
    known = found["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
    return f"{name} is one of {known}; this is {quoted(found['input'])}."


def _at_least(name: str, found: Found) -> str:
    return f"{name} is at least {found['ctx']['ge']}; this is {quoted(found['input'])}."


def _at_most(name: str, found: Found) -> str:
    return f"{name} is at most {found['ctx']['le']}; this is {quoted(found['input'])}."


_MOMENT = "a time such as 2026-05-10T08:00:00Z"

_SENTENCES: Mapping[str, Callable[[str, Found], str]] = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "value_error": _own,
    "string_type": _is("a text"),
    "string_unicode": _is("valid Unicode"),
    "bool_type": _is("true or false"),
    "int_type": _is("a whole number"),
    "int_parsing": _is("a whole number"),
    "enum": _is_one_of,
    "literal_error": _is_one_of,
    "greater_than_equal": _at_least,
    "less_than_equal": _at_most,
    "model_type": _is("an object"),
    "model_attributes_type": _is("an object"),
    "dict_type": _is("an object"),
    "datetime_type": _is(_MOMENT),
    "datetime_parsing": _is(_MOMENT),
    "datetime_from_date_parsing": _is(_MOMENT),
    "datetime_object_invalid": _is(_MOMENT),
    "timezone_aware": _is(_MOMENT),
}
