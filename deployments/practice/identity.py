"""An object's metadata: its name, uid, times and generation, and the preconditions on them."""

from __future__ import annotations

import secrets
import uuid
from typing import Any

from deployments.practice import errors
from deployments.practice.jsons import copy_json, meta, timestamp
from deployments.practice.kinds import Kind

Object = dict[str, Any]

# What the real one draws generated names from: no vowels, so no words.
SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
LONGEST_GENERATED_BASE = 58
KEPT_FROM_OLD = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def name(kind: Kind, new: Object) -> None:
    """Set kind, version, uid and, for a `generateName`, the name."""
    new["apiVersion"], new["kind"] = kind.api_version, kind.kind
    metadata = meta(new)
    metadata["uid"] = str(uuid.uuid4())
    _drop_empty(metadata)
    if not metadata.get("name") and metadata.get("generateName"):
        base = metadata["generateName"][:LONGEST_GENERATED_BASE]
        metadata["name"] = base + "".join(secrets.choice(SUFFIX_LETTERS) for _ in range(5))
    if not kind.namespaced:
        metadata.pop("namespace", None)


def begin(kind: Kind, new: Object, *, now: float) -> None:
    """Give a new object what only the server may give."""
    metadata = meta(new)
    for forbidden in ("deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"):
        metadata.pop(forbidden, None)
    metadata["creationTimestamp"] = timestamp(now)
    metadata.pop("generation", None)
    if kind.has_generation:
        metadata["generation"] = 1


def merged(kind: Kind, new: Object, old: Object, subresource: str) -> Object:
    """Return what an update may make of `old`: without its status, or nothing but its status."""
    if subresource == "status":
        changed = copy_json(old)
        changed["status"] = new.get("status", {})
        return changed
    new["apiVersion"], new["kind"] = kind.api_version, kind.kind
    if "status" in kind.subresources:
        new.pop("status", None)
        if "status" in old:
            new["status"] = copy_json(old["status"])
    _keep_system_fields(meta(new), old["metadata"])
    return new


def _keep_system_fields(metadata: Object, old: Object) -> None:
    for field in KEPT_FROM_OLD:
        metadata.pop(field, None)
        if field in old:
            metadata[field] = old[field]
    metadata["resourceVersion"] = old["resourceVersion"]
    _drop_empty(metadata)
    if "managedFields" not in metadata:
        metadata["managedFields"] = copy_json(old.get("managedFields", []))


def _drop_empty(metadata: Object) -> None:
    for field in ("labels", "annotations", "finalizers", "ownerReferences"):
        if not metadata.get(field):
            metadata.pop(field, None)


def raise_generation(new: Object, old: Object) -> None:
    """Count a change of what is wanted: anything but metadata and status."""
    if "generation" in old["metadata"] and _wanted(new) != _wanted(old):
        new["metadata"]["generation"] = old["metadata"]["generation"] + 1


def _wanted(obj: Object) -> Object:
    found = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    if obj["kind"] == "Pod":
        # The scheduler's word, not a change of what is wanted.
        found["spec"] = {**obj["spec"], "nodeName": ""}
    return found


def differs(new: Object, old: Object) -> bool:
    """Whether a write is worth a new revision; times in managed fields alone are not."""
    return _without_times(new) != _without_times(old)


def _without_times(obj: Object) -> Object:
    metadata = dict(obj["metadata"])
    entries = metadata.pop("managedFields", [])
    metadata["managedFields"] = [{**entry, "time": ""} for entry in entries]
    return {**obj, "metadata": metadata}


def check_preconditions(kind: Kind, given: Object, old: Object) -> None:
    """Refuse an update that was made for another object or an older one."""
    present = old["metadata"]
    if given.get("uid") and given["uid"] != present["uid"]:
        place = "/".join(filter(None, (present.get("namespace"), present["name"])))
        why = (
            f"StorageError: invalid object, Code: 4, Key: /registry/{kind.plural}/{place}, "
            f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: "
            f"{given['uid']}, UID in object meta: {present['uid']}"
        )
        raise errors.conflict(kind, present["name"], why)
    version = given.get("resourceVersion")
    if version and version != "0" and version != present["resourceVersion"]:
        raise errors.conflict(kind, present["name"])


def check_patched_uid(kind: Kind, patched: Object, live: Object) -> None:
    """Refuse a patch that was made for an object of the same name with another uid: 422."""
    given, present = patched.get("metadata", {}).get("uid"), live["metadata"]["uid"]
    if given and given != present:
        message = f'Invalid value: "{given}": field is immutable'
        cause = errors.Cause("FieldValueInvalid", message, "metadata.uid")
        # Twice: two layers of the real one find it.
        raise errors.invalid(kind, live["metadata"]["name"], [cause, cause])


def check_delete_preconditions(
    kind: Kind, old: Object, uid: str | None, version: str | None
) -> None:
    present = old["metadata"]
    if uid and uid != present["uid"]:
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record "
            f"({present['uid']}). The object might have been deleted and then recreated"
        )
        raise errors.stale_delete(kind, present["name"], why)
    if version and version != present["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the "
            f"ResourceVersion in record ({present['resourceVersion']}). "
            "The object might have been modified"
        )
        raise errors.stale_delete(kind, present["name"], why)


def namespace_terminating(kind: Kind, name: str, namespace: str) -> errors.ApiError:
    """Return the 403 of a create in a namespace that is being deleted."""
    cause = errors.Cause(
        "NamespaceTerminating", f"namespace {namespace} is being terminated", "metadata.namespace"
    )
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    return errors.forbidden(kind, name, why, [cause])
