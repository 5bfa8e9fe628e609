"""ReplicaSets: as many pods as wanted, the least useful deleted first, and how many are ready."""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.jsons import seconds_of, timestamp
from deployments.practice.world.controllers.podmaking import pod_from
from deployments.practice.world.hands import Hands
from deployments.practice.world.patience import Patience
from deployments.practice.world.view import (
    View,
    condition,
    created,
    is_going,
    is_over,
    is_ready,
    labels_of,
    matches,
)

Obj = dict[str, Any]


class ReplicaSets:
    """The controller; it remembers how long to wait after each refusal of a pod."""

    def __init__(self) -> None:
        self._patience = Patience()

    def reconcile(self, view: View, hands: Hands) -> None:
        for replicaset in view.all("replicasets"):
            try:
                self._sync(replicaset, view, hands)
            except ApiError:
                # Somebody wrote meanwhile: the next look decides again.
                continue

    def _sync(self, replicaset: Obj, view: View, hands: Hands) -> None:
        owned = view.owned("pods", replicaset)
        pods = [pod for pod in owned if not is_going(pod) and not is_over(pod)]
        failure = condition(replicaset, "ReplicaFailure")
        if not is_going(replicaset):
            refused = self._correct(replicaset, pods, view, hands)
            if refused is not None:
                failure = failure or _failure(refused, view.now)
            elif len(pods) >= replicaset["spec"]["replicas"]:
                failure = None
        status = _status(replicaset, pods, failure, view.now)
        hands.status("replicasets", replicaset, status)
        _wake_for_availability(replicaset, pods, view.now, hands)

    def _correct(
        self, replicaset: Obj, pods: list[Obj], view: View, hands: Hands
    ) -> ApiError | None:
        """Create or delete pods. Return the refusal that stopped it, None where all went well."""
        missing = replicaset["spec"]["replicas"] - len(pods)
        if missing > 0:
            return self._create(replicaset, missing, view.now, hands)
        for pod in sorted(pods, key=_usefulness)[: max(-missing, 0)]:
            hands.delete("pods", pod)
            message = f"Deleted pod: {pod['metadata']['name']}"
            hands.tell(replicaset, "Normal", "SuccessfulDelete", message)
        return None

    def _create(self, replicaset: Obj, count: int, now: float, hands: Hands) -> ApiError | None:
        uid = replicaset["metadata"]["uid"]
        if now < self._patience.until(uid):
            hands.again_at(self._patience.until(uid))
            return None
        for _ in range(count):
            pod = pod_from(replicaset, "replicasets", replicaset["spec"]["template"])
            try:
                made = hands.create("pods", pod)
            except ApiError as refusal:
                self._refused(replicaset, refusal, now, hands)
                return refusal
            message = f"Created pod: {made['metadata']['name']}"
            hands.tell(replicaset, "Normal", "SuccessfulCreate", message)
        self._patience.succeeded(uid)
        return None

    def _refused(self, replicaset: Obj, refusal: ApiError, now: float, hands: Hands) -> None:
        uid = replicaset["metadata"]["uid"]
        message = f"Error creating: {refusal.message}"
        hands.tell(replicaset, "Warning", "FailedCreate", message)
        hands.again_at(self._patience.refused(uid, now))


def _failure(refusal: ApiError, now: float) -> Obj:
    return {
        "type": "ReplicaFailure",
        "status": "True",
        "lastTransitionTime": timestamp(now),
        "reason": "FailedCreate",
        "message": refusal.message,
    }


def _status(replicaset: Obj, pods: list[Obj], failure: Obj | None, now: float) -> Obj:
    labels = replicaset["spec"]["template"]["metadata"].get("labels", {})
    ready = [pod for pod in pods if is_ready(pod)]
    numbers = {
        "fullyLabeledReplicas": sum(matches(labels, labels_of(pod)) for pod in pods),
        "readyReplicas": len(ready),
        "availableReplicas": sum(_available_at(replicaset, pod) <= now for pod in ready),
        "observedGeneration": replicaset["metadata"]["generation"],
    }
    found: Obj = {"replicas": len(pods)}
    found |= {key: value for key, value in numbers.items() if value}
    return found | ({"conditions": [failure]} if failure else {})


def _available_at(replicaset: Obj, pod: Obj) -> float:
    ready = condition(pod, "Ready")
    since = seconds_of(ready["lastTransitionTime"]) if ready else float("inf")
    seconds = replicaset["spec"].get("minReadySeconds", 0)
    return since + float(seconds) if seconds else 0.0


def _wake_for_availability(replicaset: Obj, pods: list[Obj], now: float, hands: Hands) -> None:
    for pod in pods:
        when = _available_at(replicaset, pod) if is_ready(pod) else 0.0
        if when > now:
            hands.again_at(when)


def _usefulness(pod: Obj) -> tuple[bool, bool, bool, float]:
    """Order pods by how little is lost: not placed, not running, not ready, newest first."""
    return (
        bool(pod["spec"].get("nodeName")),
        pod.get("status", {}).get("phase") == "Running",
        is_ready(pod),
        -created(pod),
    )
