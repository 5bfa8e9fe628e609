"""Who owns which field: the entries of `metadata.managedFields`, kept at each write.

How a server-side apply merges and finds conflicts is in `apply`; here is what any write records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from deployments.practice.fields import (
    FieldSet,
    as_fields_v1,
    fields_of,
    from_fields_v1,
    leaves,
)
from deployments.practice.jsons import timestamp

Object = dict[str, Any]

DEFAULT_MANAGER = "kube-controller-manager"


@dataclass(frozen=True)
class Owner:
    """One manager's entry, without its fields."""

    manager: str
    operation: str
    subresource: str
    api_version: str
    time: str

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.manager, self.operation, self.subresource


Owned = dict[Owner, FieldSet]


def owned(obj: Object) -> Owned:
    """Return every entry of the object with the fields that it owns."""
    entries = obj.get("metadata", {}).get("managedFields", [])
    return {_owner(entry): from_fields_v1(entry.get("fieldsV1", {})) for entry in entries if entry}


def _owner(entry: Object) -> Owner:
    return Owner(
        entry.get("manager", ""),
        entry.get("operation", "Update"),
        entry.get("subresource", ""),
        entry.get("apiVersion", ""),
        entry.get("time", ""),
    )


def set_owned(obj: Object, owners: Iterable[tuple[Owner, FieldSet]]) -> None:
    """Write the entries; one that owns nothing any more disappears."""
    kept = sorted(
        ((owner, paths) for owner, paths in owners if paths),
        key=lambda pair: (pair[0].operation, pair[0].time, pair[0].manager),
    )
    obj["metadata"]["managedFields"] = [_entry(owner, paths) for owner, paths in kept]


def _entry(owner: Owner, paths: FieldSet) -> Object:
    entry = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": owner.api_version,
        "time": owner.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": as_fields_v1(paths),
    }
    if owner.subresource:
        entry["subresource"] = owner.subresource
    return entry


def record(
    new: Object,
    old: Object | None,
    *,
    manager: str,
    operation: str,
    subresource: str = "",
    now: float,
) -> None:
    """Give what this write changed to its manager and take it from all others.

    An apply has already written its entry, so nothing is left to do for it.
    """
    if operation == "Apply":
        return
    if old is not None and new["metadata"].get("managedFields") == [{}]:
        # What the API documents as the way to reset all ownership.
        new["metadata"]["managedFields"] = []
        return
    owners = owned(old) if old is not None else {}
    changed, gone = changes(new, old)
    if subresource != "status":
        changed = frozenset(path for path in changed if path[0] != "f:status")
    if not changed and not gone:
        set_owned(new, owners.items())
        return
    name = manager or DEFAULT_MANAGER
    mine = Owner(name, "Update", subresource, new["apiVersion"], timestamp(now))
    set_owned(new, _after(owners, mine, changed, gone).items())


def _after(owners: Owned, mine: Owner, changed: FieldSet, gone: FieldSet) -> Owned:
    result: Owned = {}
    kept: FieldSet = frozenset()
    for owner, paths in owners.items():
        if owner.identity == mine.identity:
            kept = paths
        else:
            result[owner] = paths - changed - gone
    result[mine] = (kept | changed) - gone
    return result


def changes(new: Object, old: Object | None) -> tuple[FieldSet, FieldSet]:
    """Return the fields whose value is new or different, and those that are gone."""
    if old is None:
        return fields_of(new), frozenset()
    before, after = dict(leaves(old)), dict(leaves(new))
    changed = frozenset(
        path for path, value in after.items() if path not in before or before[path] != value
    )
    return changed, frozenset(before.keys() - after.keys())
