"""Reading a JSON object that somebody sent: field by field, keeping every problem found.

What the fields mean is in `settings` and `variables`; here are only their types and ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from deployments.domain.errors import Problem
from deployments.domain.limits import Range

JsonObject = dict[str, Any]

REFERENCE = "${{"
LONGEST_QUOTE = 60


def escaped(name: str) -> str:
    """Return a field's name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def quoted(value: object) -> str:
    """Return what was sent as a sentence repeats it, cut where it is long."""
    text = ascii(value) if isinstance(value, str) else _json_word(value)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def _json_word(value: object) -> str:
    """Return a value that is no text in JSON's words; a list or an object only as what it is."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case list():
            return "a list"
        case _:
            return "an object"


def unquoted(value: object) -> str:
    """Return what kind of thing was sent without repeating it: it may be a secret."""
    match value:
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case _:
            return _json_word(value)


def text_problem(text: str) -> str | None:
    """Return why a text cannot be stored or handed to a container, as the end of a sentence."""
    if "\0" in text:
        return "contains a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "is not valid Unicode"
    return None


@dataclass(frozen=True)
class Reader:
    """One JSON object. `owner` names it in sentences, empty for the whole document; `say` puts a
    wrong value into words.

    Every method returns the field's value, or what stands for it after it has noted a problem, so
    that reading goes on and all problems are found.
    """

    fields: Mapping[str, Any]
    pointer: str
    owner: str
    problems: list[Problem]
    say: Callable[[object], str] = quoted

    def note(self, name: str, detail: str) -> None:
        """Keep a problem of one field."""
        self.problems.append(Problem(f"{self.pointer}/{escaped(name)}", detail))

    def named(self, name: str) -> str:
        """Return the field as a sentence names it: `port of http`."""
        return f"{name} of {self.owner}" if self.owner else name

    def only(self, known: Collection[str]) -> None:
        """Note every field that is not known."""
        for name in self.fields:
            if name not in known:
                self.note(name, f"{self.named(quoted(name))} is not a field that there is.")

    def whole_number(self, name: str, default: int, allowed: Range) -> int:
        """Return a whole number in a range; absent is the default."""
        value = self.fields.get(name, default)
        if _is_whole(value) and value in allowed:
            return int(value)
        self.note(
            name,
            f"{self.named(name)} is a whole number {allowed}; this is {self.say(value)}.",
        )
        return default

    def whole_number_or_none(self, name: str, allowed: Range) -> int | None:
        """Return a whole number in a range; absent and null are None."""
        if self.fields.get(name) is None:
            return None
        return self.whole_number(name, allowed.lowest, allowed)

    def flag(self, name: str) -> bool:
        """Return true or false; absent is false."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            self.note(name, f"{self.named(name)} is true or false; this is {self.say(value)}.")
        return value is True

    def text(self, name: str) -> str:
        """Return a text that has to be there; empty after a problem."""
        value = self.fields.get(name)
        if isinstance(value, str):
            return value
        what = "is missing" if name not in self.fields else f"is a text; this is {self.say(value)}"
        self.note(name, f"{self.named(name)} {what}.")
        return ""

    def text_or_none(self, name: str, longest: int) -> str | None:
        """Return a text of limited length; absent and null are None."""
        if self.fields.get(name) is None:
            return None
        text = self.text(name)
        if len(text) > longest:
            self.note(
                name,
                f"{self.named(name)} has at most {longest} characters; this has {len(text)}.",
            )
            return None
        return text or None

    def items(self, name: str) -> list[Any]:
        """Return a list; absent is empty."""
        value = self.fields.get(name, [])
        if isinstance(value, list):
            return value
        self.note(name, f"{self.named(name)} is a list; this is {self.say(value)}.")
        return []

    def inner(self, name: str, value: object, *, pointer: str, owner: str) -> Reader | None:
        """Return the reader of an object inside this one, None after noting that it is none."""
        if isinstance(value, dict):
            return Reader(value, self.pointer + pointer, owner, self.problems, self.say)
        self.problems.append(
            Problem(self.pointer + pointer, f"{name} is an object; this is {self.say(value)}.")
        )
        return None


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
