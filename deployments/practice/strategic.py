"""Strategic merge patches: like merge patches, but lists with a key are merged item by item."""

from __future__ import annotations

from typing import Any

from deployments.practice import errors, schema

Object = dict[str, Any]

DIRECTIVE = "$patch"
RETAIN = "$retainKeys"
ORDER = "$setElementOrder/"
REMOVE = "$deleteFromPrimitiveList/"


def strategic_patch(target: Object, patch: Object) -> Object:
    """Return `target` with `patch` merged in. Raises 400 for an item without its key."""
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


def _merge_field(result: Object, name: str, value: Any, names: list[str]) -> None:
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
    result = list(target)
    for item in patch:
        _merge_item(result, item, key, names)
    return result


def _merge_item(result: list[Any], item: Any, key: str, names: list[str]) -> None:
    if not isinstance(item, dict) or key not in item:
        raise errors.bad_request(f"map: {item} does not contain declared merge key: {key}")
    found = [n for n, present in enumerate(result) if present.get(key) == item[key]]
    if item.get(DIRECTIVE) == "delete":
        for index in reversed(found):
            del result[index]
    elif found:
        result[found[0]] = _merge(result[found[0]], item, names)
    else:
        result.append(_merge({}, item, names))
