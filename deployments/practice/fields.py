"""Sets of field paths, and their text form in `metadata.managedFields` (FieldsV1).

A path is a tuple of elements: `f:name` of an object, `k:{...}` of a keyed list, `v:"..."` of a set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from deployments.practice import schema
from deployments.practice.jsons import Json

FieldPath = tuple[str, ...]
FieldSet = frozenset[FieldPath]

# Nobody owns what says which object it is, or what only the server writes.
UNOWNED_METADATA = frozenset(
    {
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
        "selfLink",
        "clusterName",
    }
)


def fields_of(obj: dict[str, Any]) -> FieldSet:
    """Return every field of an object that somebody can own."""
    return frozenset(path for path, _ in leaves(obj))


def leaves(obj: dict[str, Any]) -> Iterator[tuple[FieldPath, Any]]:
    """Yield (path, value) of each field; items of keyed lists come as a path of their own."""
    for name, value in obj.items():
        if name in ("apiVersion", "kind"):
            continue
        owned = _owned_metadata(value) if name == "metadata" else value
        if owned or name != "metadata":
            yield from _leaves(owned, (f"f:{name}",), [name])


def _owned_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name not in UNOWNED_METADATA}


def _leaves(value: Json, path: FieldPath, names: list[str]) -> Iterator[tuple[FieldPath, Any]]:
    if isinstance(value, dict) and value and not schema.is_atomic(names):
        for name, item in value.items():
            yield from _leaves(item, (*path, f"f:{name}"), [*names, name])
    elif isinstance(value, list) and value and schema.is_set(names):
        for item in value:
            yield (*path, "v:" + json.dumps(item)), item
    elif isinstance(value, list) and value and (keys := schema.keys_of(names)):
        for item in value:
            yield from _items(item, (*path, key_element(item, keys)), names)
    else:
        yield path, value


def _items(item: Json, path: FieldPath, names: list[str]) -> Iterator[tuple[FieldPath, Any]]:
    yield path, None
    for name, value in item.items():
        yield from _leaves(value, (*path, f"f:{name}"), [*names, name])


def key_element(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    values = dict(zip(sorted(keys), schema.key_values(item, sorted(keys)), strict=True))
    return "k:" + json.dumps(values, separators=(",", ":"))


def as_fields_v1(paths: Iterable[FieldPath]) -> dict[str, Any]:
    """Return the nested form; a path that also has longer ones below it is marked with `.`."""
    root: dict[str, Any] = {}
    members = sorted(paths)
    for path in members:
        node = root
        for element in path:
            node = node.setdefault(element, {})
    for path in members:
        node = root
        for element in path:
            node = node[element]
        if node:
            node["."] = {}
    return root


def from_fields_v1(fields: dict[str, Any]) -> FieldSet:
    return frozenset(_members(fields, ()))


def _members(node: dict[str, Any], path: FieldPath) -> Iterator[FieldPath]:
    if path and (not node or "." in node):
        yield path
    for element, below in node.items():
        if element != ".":
            yield from _members(below, (*path, element))


def as_text(path: FieldPath) -> str:
    """Return a path as messages write it: `.spec.containers[name="web"].image`."""
    return "".join(_element_text(element) for element in path)


def _element_text(element: str) -> str:
    kind, rest = element.split(":", 1)
    if kind == "f":
        return f".{rest}"
    if kind == "v":
        return f"[={rest}]"
    return "[" + ",".join(f"{k}={json.dumps(v)}" for k, v in json.loads(rest).items()) + "]"
