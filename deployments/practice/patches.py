"""JSON patches (RFC 6902) and JSON merge patches (RFC 7386). Strategic ones are in `strategic`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deployments.practice import errors
from deployments.practice.jsons import Json, copy_json

Container = dict[str, Any] | list[Any]


def merge_patch(target: Json, patch: Json) -> Json:
    """Return `target` with `patch` merged in; null removes."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge_patch(result.get(name), value)
    return result


def json_patch(target: Json, operations: Json) -> Json:
    """Return `target` after all operations. Raises 422 when one of them fails."""
    document = {"": copy_json(target)}
    for operation in operations:
        try:
            _OPERATIONS[operation["op"]](document, operation)
        except (KeyError, IndexError, ValueError, TypeError):
            raise errors.rejected() from None
    return document[""]


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(text)
    # The document hangs below one more name, so that the root has a parent too.
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")]


def _parent(document: Container, path: Sequence[str]) -> tuple[Container, str]:
    node: Any = document
    for part in path[:-1]:
        node = node[_position(node, part)]
    return node, path[-1]


def _position(node: Json, part: str) -> Json:
    if isinstance(node, list):
        return int(part)
    return part


def _value(document: Container, pointer: str) -> Json:
    node, name = _parent(document, _pointer(pointer))
    return node[_position(node, name)]


def _add(document: Container, operation: Mapping[str, Any]) -> None:
    _put(document, operation["path"], copy_json(operation["value"]))


def _put(document: Container, pointer: str, value: Json) -> None:
    node, name = _parent(document, _pointer(pointer))
    if isinstance(node, dict):
        node[name] = value
    elif name == "-":
        node.append(value)
    elif 0 <= int(name) <= len(node):
        node.insert(int(name), value)
    else:
        raise IndexError(name)


def _remove(document: Container, operation: Mapping[str, Any]) -> None:
    node, name = _parent(document, _pointer(operation["path"]))
    del node[_position(node, name)]


def _replace(document: Container, operation: Mapping[str, Any]) -> None:
    node, name = _parent(document, _pointer(operation["path"]))
    # A name that is not there yet is added, as the real one does; an index must be there.
    node[_position(node, name)] = copy_json(operation["value"])


def _move(document: Container, operation: Mapping[str, Any]) -> None:
    value = _value(document, operation["from"])
    _remove(document, {"path": operation["from"]})
    _put(document, operation["path"], value)


def _copy(document: Container, operation: Mapping[str, Any]) -> None:
    _put(document, operation["path"], copy_json(_value(document, operation["from"])))


def _test(document: Container, operation: Mapping[str, Any]) -> None:
    if _value(document, operation["path"]) != operation["value"]:
        raise ValueError(operation["path"])


_OPERATIONS: Mapping[str, Callable[[Container, Mapping[str, Any]], None]] = {
    "add": _add,
    "copy": _copy,
    "move": _move,
    "remove": _remove,
    "replace": _replace,
    "test": _test,
}
