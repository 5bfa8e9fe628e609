"""Changing a part of the settings: what is sent is laid over what is there, then judged whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from deployments.domain.documents import JsonObject, quoted
from deployments.domain.errors import Invalid, Problem
from deployments.domain.settings import Settings, parse

_PROCESS = re.compile(r"/processes/([0-9]+)")


def apply_change(current: JsonObject, change: object) -> Settings:
    """Return the settings after a change in part.

    Raises Invalid with every problem; pointers lead into `change`, not into the whole that it
    makes.
    """
    if not isinstance(change, dict):
        raise Invalid.field("", f"Settings are a JSON object; this is {quoted(change)}.")
    merged = merge(current, change)
    try:
        return parse(merged)
    except Invalid as invalid:
        raise Invalid(
            *(_as_sent(problem, merged, change) for problem in invalid.problems)
        ) from None


def merge(current: JsonObject, change: JsonObject) -> JsonObject:
    """Return the whole document that a change in part makes.

    A process is matched by its name, `{"name": "x", "remove": true}` takes it away, a new name
    adds one. Every other field is replaced, `release_command` field by field. Raises Invalid where
    the change itself makes no sense; whether the whole is valid says `parse`.
    """
    merged = {**current, **change}
    if isinstance(change.get("processes"), list):
        _check_processes(current["processes"], change["processes"])
        merged["processes"] = _merge_processes(current["processes"], change["processes"])
    if isinstance(change.get("release_command"), dict):
        merged["release_command"] = (current.get("release_command") or {}) | change[
            "release_command"
        ]
    return merged


def _merge_processes(current: list[JsonObject], sent: list[Any]) -> list[Any]:
    """Return the processes that were there in their order, then the new ones."""
    changes = {name: item for item in sent if (name := _name(item)) is not None}
    there = {process["name"] for process in current}
    kept = [process | changes.get(process["name"], {}) for process in current]
    new = [item for item in sent if _name(item) not in there]
    return [item for item in (*kept, *new) if not _removes(item)]


def _check_processes(current: list[JsonObject], sent: list[Any]) -> None:
    there = {process["name"] for process in current}
    problems = [
        Problem(f"/processes/{index}{pointer}", detail)
        for index, item in enumerate(sent)
        for pointer, detail in _problems_of(item, sent[:index], there)
    ]
    if problems:
        raise Invalid(*problems)


def _problems_of(item: object, before: list[Any], there: set[str]) -> list[tuple[str, str]]:
    name = _name(item)
    problems = []
    if name is not None and name in map(_name, before):
        problems.append(("/name", f"The change names {quoted(name)} twice."))
    if isinstance(item, dict) and item.get("remove", True) is not True:
        problems.append(("/remove", "remove is true or left out."))
    if _removes(item) and name not in there:
        problems.append(("/name", f"There is no process {quoted(name)} to remove."))
    return problems


def _name(item: object) -> str | None:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


def _removes(item: object) -> bool:
    return isinstance(item, dict) and item.get("remove") is True


def _as_sent(problem: Problem, merged: JsonObject, change: Mapping[str, Any]) -> Problem:
    """Return the problem with a pointer into the change; a process that it does not name stands
    for the whole list."""
    found = _PROCESS.match(problem.pointer)
    if found is None:
        return problem
    item = merged["processes"][int(found[1])]
    index = _index_in(change.get("processes"), item)
    if index is None:
        return Problem("/processes", problem.detail)
    return Problem(f"/processes/{index}{problem.pointer[found.end() :]}", problem.detail)


def _index_in(sent: object, item: object) -> int | None:
    if not isinstance(sent, list):
        return None
    for index, candidate in enumerate(sent):
        if candidate is item or (_name(item) is not None and _name(candidate) == _name(item)):
            return index
    return None
