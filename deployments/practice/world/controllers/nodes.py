"""The two nodes: how they are described, and what happens when one falls silent.

What runs on them is kubelet's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.jsons import copy_json, seconds_of, timestamp
from deployments.practice.world.hands import Hands
from deployments.practice.world.view import View, condition, is_going, is_over, is_true

Obj = dict[str, Any]

# Each with the network of its pods; the node itself is .1.
NETWORKS: Mapping[str, str] = {"node-1": "10.244.0", "node-2": "10.244.1"}
CAPACITY = {"cpu": "2", "memory": "8Gi", "pods": "110", "ephemeral-storage": "50Gi"}
SILENT_AFTER = 20.0
HEARTBEAT_EVERY = 300.0
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
CALM = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}
READY = ("KubeletReady", "kubelet is posting ready status")
UNKNOWN = ("NodeStatusUnknown", "Kubelet stopped posting node status.")


def new_node(name: str, now: float) -> Obj:
    """Return a node as its kubelet registers it."""
    arch = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    beta = {"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux"}
    return {
        "metadata": {
            "name": name,
            "labels": {**beta, **arch, "kubernetes.io/hostname": name},
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": {
            "podCIDR": f"{NETWORKS[name]}.0/24",
            "podCIDRs": [f"{NETWORKS[name]}.0/24"],
        },
        "status": status_of(name, now),
    }


def status_of(name: str, now: float) -> Obj:
    """Return what a node says of itself when all is well."""
    address = f"{NETWORKS[name]}.1"
    return {
        "capacity": dict(CAPACITY),
        "allocatable": dict(CAPACITY),
        "conditions": healthy_conditions(now),
        "addresses": [
            {"type": "InternalIP", "address": address},
            {"type": "Hostname", "address": name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "practice",
            "containerRuntimeVersion": "containerd://1.6.20",
            "kernelVersion": "6.1.0-practice",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.34.4",
            "machineID": "practice",
            "operatingSystem": "linux",
            "osImage": "Practice cluster",
            "systemUUID": "practice",
        },
    }


def healthy_conditions(now: float) -> list[Obj]:
    found = [_said(kind, "False", said, now) for kind, said in CALM.items()]
    return [*found, _said("Ready", "True", READY, now)]


def _said(kind: str, status: str, said: tuple[str, str], now: float) -> Obj:
    at = timestamp(now)
    return {
        "type": kind,
        "status": status,
        "lastHeartbeatTime": at,
        "lastTransitionTime": at,
        "reason": said[0],
        "message": said[1],
    }


def post(node: Obj, now: float, hands: Hands) -> None:
    """Write the node's conditions as its kubelet does: at a change, and every five minutes."""
    conditions = node.get("status", {}).get("conditions", [])
    ready = condition(node, "Ready")
    fresh = ready is not None and now < seconds_of(ready["lastHeartbeatTime"]) + HEARTBEAT_EVERY
    if fresh and is_true(node, "Ready"):
        return
    merged = [_merged(new, conditions) for new in healthy_conditions(now)]
    if not is_true(node, "Ready"):
        name = node["metadata"]["name"]
        hands.tell(node, "Normal", "NodeReady", f"Node {name} status is now: NodeReady")
    status = {**status_of(node["metadata"]["name"], now), "conditions": merged}
    hands.status("nodes", node, status)


def _merged(new: Obj, present: list[Obj]) -> Obj:
    old = next((c for c in present if c["type"] == new["type"]), None)
    if old is None or old["status"] != new["status"]:
        return new
    return {**new, "lastTransitionTime": old["lastTransitionTime"]}


# The node controller


def reconcile(view: View, hands: Hands, silent_since: Mapping[str, float]) -> None:
    """Judge the nodes: those that say nothing, and those that speak again or may not take pods."""
    for node in view.all("nodes"):
        try:
            _judge(node, view, hands, silent_since.get(node["metadata"]["name"]))
        except ApiError:
            # Changed meanwhile: the next look decides again.
            continue


def _judge(node: Obj, view: View, hands: Hands, silent_since: float | None) -> None:
    ready = condition(node, "Ready")
    unknown = ready is not None and ready["status"] == "Unknown"
    if silent_since is not None and not unknown:
        _declare_silent(node, view, hands, silent_since + SILENT_AFTER)
        return
    if _set_taints(node, unreachable=unknown, now=view.now, hands=hands) or not unknown:
        return
    for pod in view.pods_on(node["metadata"]["name"]):
        _mark_not_ready(pod, view.now, hands)
        _evict(node, pod, view.now, hands)


def _declare_silent(node: Obj, view: View, hands: Hands, due: float) -> None:
    if view.now < due:
        hands.again_at(due)
        return
    status = copy_json(node["status"])
    for found in status["conditions"]:
        found |= {"status": "Unknown", "reason": UNKNOWN[0], "message": UNKNOWN[1]}
        found["lastTransitionTime"] = timestamp(view.now)
    name = node["metadata"]["name"]
    hands.status("nodes", node, status)
    message = f"Node {name} status is now: NodeNotReady"
    hands.tell(node, "Normal", "NodeNotReady", message)


def _set_taints(node: Obj, *, unreachable: bool, now: float, hands: Hands) -> bool:
    spec = node.get("spec", {})
    present = spec.get("taints") or []
    ours = (UNREACHABLE, UNSCHEDULABLE)
    wanted = [t for t in present if t["key"] not in ours]
    if spec.get("unschedulable"):
        wanted.append(_taint(present, UNSCHEDULABLE, "NoSchedule", now))
    if unreachable:
        wanted += [_taint(present, UNREACHABLE, e, now) for e in ("NoSchedule", "NoExecute")]
    if wanted == present:
        return False
    kept = {key: value for key, value in spec.items() if key != "taints"}
    hands.change("nodes", node, spec=kept | ({"taints": wanted} if wanted else {}))
    return True


def _taint(present: list[Obj], key: str, effect: str, now: float) -> Obj:
    for taint in present:
        if (taint["key"], taint["effect"]) == (key, effect):
            return taint
    return {"key": key, "effect": effect, "timeAdded": timestamp(now)}


def _mark_not_ready(pod: Obj, now: float, hands: Hands) -> None:
    """Only the pod's own condition: what its containers said last stays as it is."""
    if not is_true(pod, "Ready"):
        return
    status = copy_json(pod["status"])
    ready = next(c for c in status["conditions"] if c["type"] == "Ready")
    ready |= {"status": "False", "lastTransitionTime": timestamp(now)}
    hands.status("pods", pod, status)
    hands.tell(pod, "Warning", "NodeNotReady", "Node is not ready")


def _evict(node: Obj, pod: Obj, now: float, hands: Hands) -> None:
    taints = node["spec"].get("taints", [])
    added = next((t for t in taints if t["effect"] == "NoExecute"), None)
    if added is None or is_going(pod) or is_over(pod):
        return
    seconds = _tolerated_for(pod, added["key"])
    if seconds is None:
        return
    due = seconds_of(added["timeAdded"]) + seconds
    if now < due:
        hands.again_at(due)
        return
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    hands.tell(pod, "Normal", "TaintManagerEviction", f"Marking for deletion Pod {name}")
    hands.delete("pods", pod)


def _tolerated_for(pod: Obj, key: str) -> float | None:
    """Return after how many seconds a pod leaves, None for never."""
    for toleration in pod["spec"].get("tolerations") or []:
        if toleration.get("key") in (key, None, "") and toleration.get("effect") in (
            "NoExecute",
            None,
            "",
        ):
            seconds = toleration.get("tolerationSeconds")
            return None if seconds is None else float(seconds)
    # The admission of the real one gives every pod five minutes.
    return 300.0
