"""What a delete makes of an object: gone, or marked until somebody or a finalizer ends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deployments.practice.jsons import copy_json, seconds_of, timestamp

Object = dict[str, Any]

FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}
POD_GRACE_SECONDS = 30


@dataclass(frozen=True)
class Deletion:
    """How somebody deletes; `grace_seconds` None means what the object itself asks for."""

    plural: str
    propagation: str
    grace_seconds: int | None


def deletion_of(old: Object, wanted: Deletion, *, now: float) -> Object:
    """Return the object as it is after this delete; `is_over` says whether it is gone then."""
    new = copy_json(old)
    metadata = new["metadata"]
    _set_finalizers(metadata, wanted)
    grace = _grace_seconds(new, wanted)
    if "deletionTimestamp" not in metadata:
        if _stays(wanted.plural, new):
            _mark(metadata, grace, now)
    elif grace < metadata.get("deletionGracePeriodSeconds", 0):
        _shorten(metadata, grace)
    if wanted.plural == "namespaces":
        metadata.pop("deletionGracePeriodSeconds", None)
        new["status"] = {**new.get("status", {}), "phase": "Terminating"}
    return new


def _stays(plural: str, obj: Object) -> bool:
    """Whether it is seen being deleted; what goes at once goes as it was, pods excepted."""
    held = obj["metadata"].get("finalizers") or _is_namespace(plural, obj)
    return plural == "pods" or bool(held)


def is_over(plural: str, obj: Object) -> bool:
    """Whether nothing holds a deleted object any more: no finalizers, no grace period left."""
    metadata = obj["metadata"]
    if metadata.get("finalizers") or _is_namespace(plural, obj):
        return False
    return not metadata.get("deletionGracePeriodSeconds")


def _is_namespace(plural: str, obj: Object) -> bool:
    """Whether a namespace's controller has still to empty it."""
    return plural == "namespaces" and bool(obj.get("spec", {}).get("finalizers"))


def _set_finalizers(metadata: Object, wanted: Deletion) -> None:
    """Foreground and Orphan exclude each other; a later Background takes both away."""
    others = [f for f in metadata.get("finalizers", []) if f not in FINALIZERS.values()]
    if wanted.propagation in FINALIZERS:
        others.append(FINALIZERS[wanted.propagation])
    metadata.pop("finalizers", None)
    if others:
        metadata["finalizers"] = others


def _mark(metadata: Object, grace: int, now: float) -> None:
    metadata["deletionTimestamp"] = timestamp(now + grace)
    metadata["deletionGracePeriodSeconds"] = grace
    if metadata.get("generation"):
        metadata["generation"] += 1


def _shorten(metadata: Object, grace: int) -> None:
    earlier = metadata["deletionGracePeriodSeconds"] - grace
    ends = seconds_of(metadata["deletionTimestamp"]) - earlier
    metadata["deletionTimestamp"] = timestamp(ends)
    metadata["deletionGracePeriodSeconds"] = grace


def _grace_seconds(obj: Object, wanted: Deletion) -> int:
    if wanted.plural != "pods":
        return 0
    spec = obj.get("spec", {})
    ended = obj.get("status", {}).get("phase") in ("Succeeded", "Failed")
    if ended or not spec.get("nodeName"):
        return 0
    if wanted.grace_seconds is not None:
        return max(wanted.grace_seconds, 0)
    return int(spec.get("terminationGracePeriodSeconds", POD_GRACE_SECONDS))
