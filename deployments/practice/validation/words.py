"""Formats of names, labels and ports, with the sentences that the real API server says."""

from __future__ import annotations

import json
import re

from deployments.practice.errors import Cause
from deployments.practice.jsons import Json

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_SERVICE = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_VALUE = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
ENV_WORDS = (
    "a valid environment variable name must consist only of printable ASCII characters "
    "other than '='"
)
LONGEST_LABEL = 63
LONGEST_PORT_NAME = 15
HIGHEST_PORT = 65535
_PORT_NAME = re.compile(r"^[-a-z0-9]+$")

SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN}')"
)
LABEL_WORDS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    f"for validation is '{_LABEL}')"
)
SERVICE_WORDS = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_SERVICE}')"
)
VALUE_WORDS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    f"or '12345', regex used for validation is '{_VALUE}')"
)
QUALIFIED_WORDS = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_QUALIFIED}')"
)
CONFIG_KEY_WORDS = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    f"'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
)


def invalid(field: str, value: Json, why: str) -> Cause:
    """Return the cause of a wrong value; text is quoted as the real one does."""
    return Cause("FieldValueInvalid", f"Invalid value: {quoted(value)}: {why}", field)


def required(field: str, why: str = "") -> Cause:
    return Cause("FieldValueRequired", f"Required value{': ' + why if why else ''}", field)


def duplicate(field: str, value: Json) -> Cause:
    return Cause("FieldValueDuplicate", f"Duplicate value: {quoted(value)}", field)


def not_supported(field: str, value: Json, supported: list[str]) -> Cause:
    words = ", ".join(f'"{word}"' for word in supported)
    message = f"Unsupported value: {quoted(value)}: supported values: {words}"
    return Cause("FieldValueNotSupported", message, field)


def forbidden(field: str, why: str) -> Cause:
    return Cause("FieldValueForbidden", f"Forbidden: {why}", field)


def quoted(value: Json) -> str:
    """Write a value as messages do: as JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def at_least_zero(field: str, value: Json) -> list[Cause]:
    if isinstance(value, int) and value < 0:
        return [invalid(field, value, "must be greater than or equal to 0")]
    return []


def _matching(pattern: str, words: str, longest: int, text: str) -> list[str]:
    wrong = []
    if len(text) > longest:
        wrong.append(f"must be no more than {longest} characters")
    if not re.fullmatch(pattern, text):
        wrong.append(words)
    return wrong


def subdomain(text: str) -> list[str]:
    """Return what is wrong with a usual object name, an empty list when nothing is."""
    return _matching(_SUBDOMAIN, SUBDOMAIN_WORDS, 253, text)


def label(text: str) -> list[str]:
    """Return what is wrong with a namespace's or container's name."""
    return _matching(_LABEL, LABEL_WORDS, 63, text)


def service_name(text: str) -> list[str]:
    return _matching(_SERVICE, SERVICE_WORDS, 63, text)


def label_value(text: str) -> list[str]:
    return _matching(_VALUE, VALUE_WORDS, 63, text)


def config_key(text: str) -> list[str]:
    return _matching(_CONFIG_KEY, CONFIG_KEY_WORDS, 253, text)


def qualified(text: str) -> list[str]:
    """Return what is wrong with the key of a label or annotation."""
    prefix, slash, name = text.rpartition("/")
    wrong: list[str] = []
    if slash:
        wrong = [f"prefix part {words}" for words in subdomain(prefix)] if prefix else []
        if not prefix:
            wrong.append("prefix part must be non-empty")
    if not name:
        wrong.append("name part must be non-empty")
    if len(name) > LONGEST_LABEL:
        wrong.append("name part must be no more than 63 characters")
    if not re.fullmatch(_QUALIFIED, name):
        wrong.append(QUALIFIED_WORDS)
    return wrong


def env_name(text: str) -> list[str]:
    if text and all(" " <= letter <= "~" and letter != "=" for letter in text):
        return []
    return [ENV_WORDS]


def port_name(text: str) -> list[str]:
    """Return what is wrong with the name of a container's port."""
    wrong = []
    if len(text) > LONGEST_PORT_NAME:
        wrong.append("must be no more than 15 characters")
    if not _PORT_NAME.match(text):
        wrong.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        wrong.append("must contain at least one letter (a-z)")
    if "--" in text:
        wrong.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        wrong.append("must not begin or end with a hyphen")
    return wrong


def port_number(field: str, value: Json) -> list[Cause]:
    if not isinstance(value, int) or not 1 <= value <= HIGHEST_PORT:
        return [invalid(field, value, "must be between 1 and 65535, inclusive")]
    return []
