"""How stored objects look on the wire: lists, single objects, and events under both groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deployments.practice.kinds import EVENTS_V1, Kind

Object = dict[str, Any]

# newer name: stored name
EVENT_FIELDS = {
    "note": "message",
    "regarding": "involvedObject",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "reportingController": "reportingComponent",
}


def outgoing(kind: Kind, obj: Object) -> Object:
    """Return an object as a client of this kind's group sees it."""
    if kind is not EVENTS_V1:
        return obj
    stored = {old: new for new, old in EVENT_FIELDS.items()}
    renamed = {stored.get(name, name): value for name, value in obj.items()}
    return {**renamed, "apiVersion": kind.api_version}


def incoming(kind: Kind, obj: Object) -> Object:
    """Return an object as it is stored."""
    if kind is not EVENTS_V1:
        return obj
    renamed = {EVENT_FIELDS.get(name, name): value for name, value in obj.items()}
    return {**renamed, "apiVersion": "v1"}


def as_list(kind: Kind, items: Sequence[Object], metadata: Object) -> Object:
    """Return a list; its items carry no kind of their own, as the real one's do not."""
    bare = [
        {k: v for k, v in outgoing(kind, obj).items() if k not in ("apiVersion", "kind")}
        for obj in items
    ]
    return {
        "kind": f"{kind.kind}List",
        "apiVersion": kind.api_version,
        "metadata": metadata,
        "items": bare,
    }
