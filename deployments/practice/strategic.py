"""Strategic merge patches: like merge patches, but lists with a key are merged item by item."""

from __future__ import annotations

from typing import Any

from deployments.practice import errors, schema
from deployments.practice.jsons import Json

Object = dict[str, Any]

DIRECTIVE = "$patch"
RETAIN = "$retainKeys"
ORDER = "$setElementOrder/"
REMOVE = "$deleteFromPrimitiveList/"


def strategic_patch(target: Object, patch: Object) -> Object:
    """Return `target` with `patch` merged in. Raises 500 for an item without its key."""
    return _merge(target, patch, [])


def _merge(target: Object, patch: Object, names: list[str]) -> Object:
    directive = patch.get(DIRECTIVE)
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != DIRECTIVE}
    if directive == "delete":
        return {}
    result = dict(target)
    if RETAIN in patch:
        result = {name: value for name, value in result.items() if name in patch[RETAIN]}
    for name, value in patch.items():
        _merge_field(result, name, value, names)
    return result


def _merge_field(result: Object, name: str, value: Json, names: list[str]) -> None:
    if name in (RETAIN, DIRECTIVE) or name.startswith(ORDER):
        return
    if name.startswith(REMOVE):
        field = name.removeprefix(REMOVE)
        result[field] = [item for item in result.get(field, []) if item not in value]
    elif value is None:
        result.pop(name, None)
    elif isinstance(value, dict):
        before = result.get(name)
        result[name] = _merge(before if isinstance(before, dict) else {}, value, [*names, name])
    elif isinstance(value, list):
        result[name] = _merge_list(result.get(name) or [], value, [*names, name])
    else:
        result[name] = value


def _merge_list(target: list[Any], patch: list[Any], names: list[str]) -> list[Any]:
    if schema.is_set(names):
        return target + [item for item in patch if item not in target]
    key = schema.merge_key(names)
    if key is None:
        return patch
    if {DIRECTIVE: "replace"} in patch:
        return [item for item in patch if item != {DIRECTIVE: "replace"}]
    for item in patch:
        _check_key(item, key)
    gone = {item[key] for item in patch if item.get(DIRECTIVE) == "delete"}
    present = {item.get(key): item for item in target if item.get(key) not in gone}
    wanted = {item[key]: item for item in patch if item[key] not in gone}
    merged = {k: _merge(present.get(k, {}), item, names) for k, item in wanted.items()}
    return [merged.get(k, present.get(k)) for k in _order(list(wanted), list(present))]


def _check_key(item: Json, key: str) -> None:
    if not isinstance(item, dict) or key not in item:
        shown = " ".join(f"{name}:{value}" for name, value in dict(item).items())
        message = f"map: map[{shown}] does not contain declared merge key: {key}"
        raise errors.ApiError(500, "", message)


def _order(wanted: list[Any], present: list[Any]) -> list[Any]:
    """Return all keys: new ones before what is there, as the real one orders them."""
    others = [key for key in present if key not in wanted]
    ordered: list[Any] = []
    for key in wanted:
        while others and key in present and present.index(others[0]) < present.index(key):
            ordered.append(others.pop(0))
        ordered.append(key)
    return ordered + others
