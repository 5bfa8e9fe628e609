"""What a Deployment says about itself: counts, and the conditions Available, Progressing and
ReplicaFailure.
"""

from __future__ import annotations

from typing import Any

from deployments.practice.jsons import seconds_of, timestamp
from deployments.practice.world.controllers import conditions as words
from deployments.practice.world.controllers.strategy import unavailable

Obj = dict[str, Any]

DONE = "NewReplicaSetAvailable"
TIMED_OUT = "ProgressDeadlineExceeded"


def status_of(deployment: Obj, sets: list[Obj], newest: Obj | None, now: float) -> Obj:
    """Return the status with its counts and Available; other conditions stay as they are."""
    counts = _counts(sets)
    wanted = sum(s["spec"]["replicas"] for s in sets)
    numbers = {
        "observedGeneration": deployment["metadata"]["generation"],
        "replicas": counts["replicas"],
        "updatedReplicas": _count(newest, "replicas"),
        "readyReplicas": counts["readyReplicas"],
        "availableReplicas": counts["availableReplicas"],
        "unavailableReplicas": max(wanted - counts["availableReplicas"], 0),
    }
    found = {key: value for key, value in numbers.items() if value}
    conditions = deployment.get("status", {}).get("conditions", [])
    found["conditions"] = words.put(conditions, _available(deployment, counts, now))
    return found


def _counts(sets: list[Obj]) -> dict[str, int]:
    names = ("replicas", "readyReplicas", "availableReplicas")
    return {name: sum(_count(s, name) for s in sets) for name in names}


def _count(replicaset: Obj | None, name: str) -> int:
    if replicaset is None:
        return 0
    found: int = replicaset.get("status", {}).get(name, 0)
    return found


def _available(deployment: Obj, counts: dict[str, int], now: float) -> Obj:
    least = deployment["spec"]["replicas"] - unavailable(deployment)
    if counts["availableReplicas"] >= least:
        message = "Deployment has minimum availability."
        return words.make("Available", "True", "MinimumReplicasAvailable", message, now)
    message = "Deployment does not have minimum availability."
    return words.make("Available", "False", "MinimumReplicasUnavailable", message, now)


def with_condition(deployment: Obj, said: tuple[str, str, str], now: float) -> Obj:
    """Return the present status with another condition Progressing (status, reason, message)."""
    status: Obj = deployment.get("status", {})
    new = words.make("Progressing", *said, now)
    return {**status, "conditions": words.put(status.get("conditions", []), new)}


def announce(deployment: Obj, status: Obj, sets: list[Obj], newest: Obj, now: float) -> Obj:
    """Add Progressing and ReplicaFailure to a freshly counted status."""
    conditions = _progress(deployment, status, newest, now)
    failure = _failure(sets, newest)
    if failure is None:
        conditions = words.without(conditions, "ReplicaFailure")
    else:
        failure = {**failure, "lastUpdateTime": timestamp(now)}
        conditions = words.put(conditions, failure)
    return {**status, "conditions": conditions}


def _progress(deployment: Obj, status: Obj, newest: Obj, now: float) -> list[Obj]:
    conditions: list[Obj] = status["conditions"]
    present = words.get(conditions, "Progressing")
    done = present is not None and present["reason"] == DONE
    if done and status.get("replicas", 0) == status.get("updatedReplicas", 0):
        return conditions
    name = newest["metadata"]["name"]
    if _is_complete(deployment, status):
        message = f'ReplicaSet "{name}" has successfully progressed.'
        return words.put(conditions, words.make("Progressing", "True", DONE, message, now))
    if _has_progressed(deployment, status):
        return _moved_on(conditions, present, f'ReplicaSet "{name}" is progressing.', now)
    if _has_timed_out(deployment, present, now):
        message = f'ReplicaSet "{name}" has timed out progressing.'
        return words.put(conditions, words.make("Progressing", "False", TIMED_OUT, message, now))
    return conditions


def _moved_on(conditions: list[Obj], present: Obj | None, message: str, now: float) -> list[Obj]:
    new = words.make("Progressing", "True", "ReplicaSetUpdated", message, now)
    if present is not None and present["status"] == "True":
        new["lastTransitionTime"] = present["lastTransitionTime"]
    return [*words.without(conditions, "Progressing"), new]


def _is_complete(deployment: Obj, status: Obj) -> bool:
    wanted = deployment["spec"]["replicas"]
    names = ("updatedReplicas", "replicas", "availableReplicas")
    return all(status.get(name, 0) == wanted for name in names)


def _has_progressed(deployment: Obj, status: Obj) -> bool:
    before = deployment.get("status", {})
    more = ("updatedReplicas", "readyReplicas", "availableReplicas")
    if any(status.get(name, 0) > before.get(name, 0) for name in more):
        return True
    return _old_ones(status) < _old_ones(before)


def _old_ones(status: Obj) -> int:
    found: int = status.get("replicas", 0) - status.get("updatedReplicas", 0)
    return found


def _has_timed_out(deployment: Obj, present: Obj | None, now: float) -> bool:
    deadline = deployment["spec"].get("progressDeadlineSeconds", 600)
    if present is None or present["reason"] in (DONE, TIMED_OUT):
        return False
    return now > seconds_of(present["lastUpdateTime"]) + float(deadline)


def _failure(sets: list[Obj], newest: Obj) -> Obj | None:
    ordered = [newest, *(s for s in sets if s is not newest)]
    for replicaset in ordered:
        found = words.get(replicaset.get("status", {}).get("conditions", []), "ReplicaFailure")
        if found is not None and found["status"] == "True":
            return found
    return None
