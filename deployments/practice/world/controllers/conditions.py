"""Conditions of a status as the controllers of apps/v1 keep them: set, keep, remove.

Which ones is not decided here.
"""

from __future__ import annotations

from typing import Any

from deployments.practice.jsons import timestamp

Obj = dict[str, Any]


def get(conditions: list[Obj], kind: str) -> Obj | None:
    return next((c for c in conditions if c["type"] == kind), None)


def without(conditions: list[Obj], kind: str) -> list[Obj]:
    return [c for c in conditions if c["type"] != kind]


def make(kind: str, status: str, reason: str, message: str, now: float) -> Obj:
    at = timestamp(now)
    return {
        "type": kind,
        "status": status,
        "lastUpdateTime": at,
        "lastTransitionTime": at,
        "reason": reason,
        "message": message,
    }


def put(conditions: list[Obj], new: Obj) -> list[Obj]:
    """Set a condition: one of the same status and reason stays, message and all; the new one goes
    last.
    """
    old = get(conditions, new["type"])
    if old is not None and (old["status"], old["reason"]) == (new["status"], new["reason"]):
        return conditions
    if old is not None and old["status"] == new["status"]:
        new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
    return [*without(conditions, new["type"]), new]
