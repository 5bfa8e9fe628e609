"""The scheduler: which node a pod goes to, or why none takes it.

Affinity, spreading and preemption are not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.jsons import copy_json, timestamp
from deployments.practice.world.hands import Hands
from deployments.practice.world.quantities import amount, asked
from deployments.practice.world.view import View, condition, is_going, is_over, labels_of

Obj = dict[str, Any]
Room = dict[str, Decimal]

UNRESOLVABLE = "Preemption is not helpful for scheduling."
NO_VICTIMS = "No preemption victims found for incoming pod."
RETRY_EVERY = 300.0
BLOCKING = ("NoSchedule", "NoExecute")


class Scheduler:
    """Binds pods to nodes, the emptiest first; it remembers what it last said about each pod."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, float]] = {}

    def reconcile(self, view: View, hands: Hands) -> None:
        waiting = [pod for pod in view.all("pods") if _waits(pod)]
        if not waiting:
            return
        nodes = {node["metadata"]["name"]: node for node in view.all("nodes")}
        rooms = {name: room_on(node, view.pods_on(name)) for name, node in nodes.items()}
        for pod in waiting:
            try:
                self._place(pod, nodes, rooms, view.now, hands)
            except ApiError:
                # Changed meanwhile: the next look decides again.
                continue

    def _place(
        self, pod: Obj, nodes: dict[str, Obj], rooms: dict[str, Room], now: float, hands: Hands
    ) -> None:
        wanted = asked(pod) | {"pods": Decimal(1)}
        refusals = {name: refusal(pod, wanted, nodes[name], rooms[name]) for name in nodes}
        fitting = [name for name, why in refusals.items() if not why]
        if not fitting:
            self._say_why(pod, explanation(refusals, wanted, nodes), now, hands)
            return
        chosen = max(sorted(fitting), key=lambda name: _emptiness(rooms[name], nodes[name]))
        _bind(pod, chosen, now, hands)
        _take(rooms[chosen], wanted)

    def _say_why(self, pod: Obj, message: str, now: float, hands: Hands) -> None:
        uid = pod["metadata"]["uid"]
        said, at = self._said.get(uid, ("", 0.0))
        if said == message and now < at + RETRY_EVERY:
            return
        self._said[uid] = (message, now)
        hands.tell(pod, "Warning", "FailedScheduling", message)
        status = copy_json(pod["status"])
        status["conditions"] = _scheduled(pod, "False", now, "Unschedulable", message)
        hands.status("pods", pod, status)


def _waits(pod: Obj) -> bool:
    placed = pod["spec"].get("nodeName") or pod["spec"].get("schedulingGates")
    return not (placed or is_going(pod) or is_over(pod))


def _bind(pod: Obj, node: str, now: float, hands: Hands) -> None:
    bound = hands.change("pods", pod, spec={**pod["spec"], "nodeName": node})
    status = copy_json(bound["status"])
    status["conditions"] = _scheduled(bound, "True", now)
    hands.status("pods", bound, status)
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    hands.tell(pod, "Normal", "Scheduled", f"Successfully assigned {name} to {node}")


def _scheduled(pod: Obj, status: str, now: float, reason: str = "", message: str = "") -> list[Obj]:
    old = condition(pod, "PodScheduled")
    since = timestamp(now)
    if old is not None and old["status"] == status:
        since = old["lastTransitionTime"]
    new = {"type": "PodScheduled", "status": status, "lastProbeTime": None}
    new |= {"lastTransitionTime": since}
    new |= {"reason": reason, "message": message} if reason else {}
    others = pod["status"].get("conditions", [])
    return [*(c for c in others if c["type"] != "PodScheduled"), new]


# Room


def room_on(node: Obj, pods: Iterable[Obj]) -> Room:
    """Return what is free on a node.

    Pods that are going still count, those that are over do not.
    """
    room = {k: amount(v) for k, v in node["status"].get("allocatable", {}).items()}
    for pod in pods:
        if not is_over(pod):
            _take(room, asked(pod) | {"pods": Decimal(1)})
    return room


def _take(room: Room, wanted: Room) -> None:
    for resource, value in wanted.items():
        room[resource] = room.get(resource, Decimal(0)) - value


def _emptiness(room: Room, node: Obj) -> tuple[Decimal, Decimal]:
    allocatable = node["status"]["allocatable"]
    shares = [room[r] / amount(allocatable[r]) for r in ("cpu", "memory") if r in allocatable]
    return sum(shares, Decimal(0)), room.get("pods", Decimal(0))


def refusal(pod: Obj, wanted: Room, node: Obj, room: Room) -> list[str]:
    """Return why a node does not take a pod, in the scheduler's words; empty where it does."""
    if node["spec"].get("unschedulable"):
        return ["node(s) were unschedulable"]
    if any(not _tolerates(pod, taint) for taint in node["spec"].get("taints") or []):
        return ["node(s) had untolerated taint(s)"]
    selector = pod["spec"].get("nodeSelector") or {}
    labels = labels_of(node)
    if any(labels.get(key) != value for key, value in selector.items()):
        return ["node(s) didn't match Pod's node affinity/selector"]
    short = sorted(r for r, v in wanted.items() if v > room.get(r, Decimal(0)) and v)
    return ["Too many pods" if r == "pods" else f"Insufficient {r}" for r in short]


def _tolerates(pod: Obj, taint: Obj) -> bool:
    if taint["effect"] not in BLOCKING:
        return True
    return any(_matches(t, taint) for t in pod["spec"].get("tolerations") or [])


def _matches(toleration: Obj, taint: Obj) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    key = toleration.get("key")
    if toleration.get("operator") == "Exists":
        return key in (None, "", taint["key"])
    return bool(key == taint["key"] and toleration.get("value", "") == taint.get("value", ""))


def explanation(refusals: dict[str, list[str]], wanted: Room, nodes: dict[str, Obj]) -> str:
    """Return the sentence of 1.34 for a pod that no node takes."""
    if not nodes:
        return "no nodes available to schedule pods"
    total = len(nodes)
    causes = Counter(why for found in refusals.values() for why in found)
    listed = ", ".join(sorted(f"{count} {why}" for why, count in causes.items()))
    ends = Counter(_preemption(refusals[n], wanted, nodes[n]) for n in nodes)
    ended = ", ".join(sorted(f"{count} {why}" for why, count in ends.items()))
    return (
        f"0/{total} nodes are available: {listed}. no new claims to deallocate, "
        f"preemption: 0/{total} nodes are available: {ended}"
    )


def _preemption(refused: list[str], wanted: Room, node: Obj) -> str:
    """Whether removing other pods could help: not where the whole node is too small."""
    allocatable = node["status"].get("allocatable", {})
    if any(not why.startswith(("Insufficient", "Too many")) for why in refused):
        return UNRESOLVABLE
    too_small = any(v > amount(allocatable.get(r, 0)) for r, v in wanted.items())
    return UNRESOLVABLE if too_small else NO_VICTIMS
