"""Server-side apply: who wants which fields, what a conflict is, what disappears.

Everything here is pure: the live object and the wanted one in, the merged one out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from deployments.practice import errors, schema
from deployments.practice.fields import (
    FieldPath,
    FieldSet,
    as_text,
    fields_of,
    key_element,
    leaves,
)
from deployments.practice.jsons import Json, copy_json, timestamp
from deployments.practice.ownership import Owned, Owner, owned, set_owned

Object = dict[str, Any]


def apply(
    live: Object | None, wanted: Object, *, manager: str, force: bool, subresource: str, now: float
) -> Object:
    """Return the object that an apply makes, with its managed fields.

    Fields of the same manager that are no longer wanted disappear unless others own them. Raises
    409 when a value would change that somebody else owns, unless `force`, which takes it over.
    """
    present = live if live is not None else _skeleton(wanted)
    merged: Object = _merge(present, wanted, [])
    mine = Owner(manager, "Apply", subresource, wanted["apiVersion"], timestamp(now))
    owners = owned(present)
    asked = fields_of(wanted)
    others = {o: paths for o, paths in owners.items() if o.identity != mine.identity}
    others = _settle(others, _changed(present, merged) & asked, force=force)
    before = next((p for o, p in owners.items() if o.identity == mine.identity), frozenset())
    for path in _abandoned(before - asked, [asked, *others.values()]):
        _remove(merged, path)
    merged["metadata"].pop("managedFields", None)
    set_owned(merged, [*others.items(), (_same_time(mine, owners, asked), asked)])
    return merged


def refuse_duplicates(wanted: Object) -> None:
    """Raise the 500 of a keyed list that has two items of one key."""
    items = Counter(path for path, _ in leaves(wanted) if path[-1].startswith("k:"))
    twice = [path for path, count in items.items() if count > 1]
    if twice:
        *above, key = twice[0]
        metadata = wanted["metadata"]
        message = (
            f"failed to create typed patch object ({metadata.get('namespace', '')}/"
            f"{metadata.get('name', '')}; {wanted['apiVersion']}, Kind={wanted['kind']}): "
            f"{as_text(tuple(above))}: duplicate entries for key {as_text((key,))}"
        )
        raise errors.ApiError(500, "", message)


def _skeleton(wanted: Object) -> Object:
    metadata = wanted.get("metadata", {})
    kept = {name: metadata[name] for name in ("name", "namespace") if name in metadata}
    return {"apiVersion": wanted["apiVersion"], "kind": wanted["kind"], "metadata": kept}


def _same_time(mine: Owner, owners: Owned, asked: FieldSet) -> Owner:
    """Keep the entry as it was when nothing changed, so that no write is needed."""
    for owner, paths in owners.items():
        if owner.identity == mine.identity and paths == asked:
            return owner
    return mine


def _changed(before: Object, after: Object) -> FieldSet:
    old, new = dict(leaves(before)), dict(leaves(after))
    return frozenset(path for path, value in new.items() if old.get(path, _MISSING) != value)


_MISSING = object()


def _settle(others: Owned, changed: FieldSet, *, force: bool) -> Owned:
    """Return the others' fields after this apply. Raises 409 for conflicts without `force`."""
    conflicts = {owner: paths & changed for owner, paths in others.items() if paths & changed}
    if conflicts and not force:
        raise _conflict(conflicts)
    return {owner: paths - changed for owner, paths in others.items()}


def _conflict(conflicts: Mapping[Owner, FieldSet]) -> errors.ApiError:
    causes = [
        errors.Cause("FieldManagerConflict", f"conflict with {_name(owner)}", as_text(path))
        for owner, paths in conflicts.items()
        for path in _in_order(paths)
    ]
    if len(causes) == 1:
        return errors.apply_conflict(causes, f"{causes[0].message}: {causes[0].field}")
    lines = []
    for owner, paths in sorted(conflicts.items(), key=lambda pair: pair[0].manager):
        lines.append(f"conflicts with {_name(owner)}:")
        lines.extend(f"- {as_text(path)}" for path in _in_order(paths))
    return errors.apply_conflict(causes, "\n".join(lines))


def _in_order(paths: FieldSet) -> list[FieldPath]:
    return sorted(paths, key=lambda path: (len(path), path))


def _name(owner: Owner) -> str:
    through = f' with subresource "{owner.subresource}"' if owner.subresource else ""
    using = "" if owner.operation == "Apply" else f" using {owner.api_version}"
    return f'"{owner.manager}"{through}{using}'


def _abandoned(paths: FieldSet, held: Iterable[FieldSet]) -> FieldSet:
    """Return what goes because nobody owns it any more; what contains somebody's field stays.

    Where nothing of an object is owned any more it goes as a whole, with the defaults in it: a
    probe that is no longer wanted leaves no `periodSeconds` behind. Maps lose their entries only.
    """
    kept = {path[:n] for paths_ in held for path in paths_ for n in range(1, len(path) + 1)}
    return frozenset(_highest(path, kept) for path in paths if path not in kept)


def _highest(path: FieldPath, kept: set[FieldPath]) -> FieldPath:
    """Return the shortest part of a path that contains nothing kept, below the top level."""
    for length in range(2, len(path)):
        part = path[:length]
        if part not in kept and not schema.is_map(part[-1].removeprefix("f:")):
            return part
    return path


def _merge(live: Json, wanted: Json, names: list[str]) -> Json:
    if isinstance(wanted, dict) and not schema.is_atomic(names):
        result = dict(live) if isinstance(live, dict) else {}
        for name, value in wanted.items():
            result[name] = _merge(result.get(name), value, [*names, name])
        return result
    if isinstance(wanted, list) and schema.is_set(names):
        present = live or []
        return present + [item for item in wanted if item not in present]
    keys = schema.keys_of(names) if isinstance(wanted, list) else None
    if keys:
        return _merge_list(live or [], wanted, keys, names)
    return copy_json(wanted)


def _merge_list(
    live: list[Any], wanted: list[Any], keys: tuple[str, ...], names: list[str]
) -> list[Any]:
    """Merge by key; wanted items come in the wanted order, others keep their place before them."""
    by_key = {schema.key_values(item, keys): item for item in live}
    asked = {schema.key_values(item, keys): item for item in wanted}
    merged = {key: _merge(by_key.get(key), item, names) for key, item in asked.items()}
    order = list(by_key) if set(asked) <= set(by_key) else []
    if order and [key for key in order if key in asked] == list(asked):
        return [merged.get(key, by_key[key]) for key in order]
    rest = [item for key, item in by_key.items() if key not in asked]
    return rest + list(merged.values())


def _remove(obj: Json, path: FieldPath) -> None:
    """Remove one field or item, and what is empty because of it."""
    *above, last = path
    nodes = [obj]
    for element in above:
        below = _step(nodes[-1], element)
        if below is None:
            return
        nodes.append(below)
    _delete(nodes[-1], last)
    for node, element in zip(reversed(nodes[:-1]), reversed(above), strict=True):
        if _step(node, element) in ({}, []) and element.startswith("f:"):
            _delete(node, element)


def _step(node: Json, element: str) -> Json:
    kind, name = element.split(":", 1)
    if kind == "f":
        return node.get(name) if isinstance(node, dict) else None
    return next((item for item in node or [] if _is(item, element)), None)


def _is(item: Json, element: str) -> bool:
    kind, text = element.split(":", 1)
    value = json.loads(text)
    if kind == "v":
        return bool(item == value)
    return key_element(item, tuple(value)) == element


def _delete(node: Json, element: str) -> None:
    kind, name = element.split(":", 1)
    if kind == "f":
        node.pop(name, None)
    else:
        node[:] = [item for item in node if not _is(item, element)]
