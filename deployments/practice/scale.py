"""The scale subresource: a workload's replicas as an object of its own."""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import Cause, invalid
from deployments.practice.jsons import copy_json
from deployments.practice.kinds import Kind
from deployments.practice.routes import Target

Object = dict[str, Any]

SCALE = Kind("autoscaling", "v1", "scales", "Scale")


def named(target: Target) -> tuple[str, str]:
    """Return the kind and version that a body for this target must have."""
    kind = SCALE if target.subresource == "scale" else target.kind
    return kind.kind, kind.api_version


def of(workload: Object) -> Object:
    """Return the scale of a Deployment or ReplicaSet."""
    metadata = workload["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    replicas = workload["spec"].get("replicas", 0)
    labels = workload["spec"].get("selector", {}).get("matchLabels", {})
    return {
        "kind": SCALE.kind,
        "apiVersion": SCALE.api_version,
        "metadata": {name: metadata[name] for name in kept if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": {
            "replicas": workload.get("status", {}).get("replicas", 0),
            "selector": ",".join(f"{k}={v}" for k, v in sorted(labels.items())),
        },
    }


def applied(workload: Object, scale: Object) -> Object:
    """Return the workload with the replicas and preconditions of a scale. Raises 422."""
    replicas = scale.get("spec", {}).get("replicas", 0)
    if not isinstance(replicas, int) or replicas < 0:
        message = f"Invalid value: {replicas}: must be greater than or equal to 0"
        cause = Cause("FieldValueInvalid", message, "spec.replicas")
        raise invalid(SCALE, workload["metadata"]["name"], [cause])
    changed = copy_json(workload)
    changed["spec"]["replicas"] = replicas
    given = scale.get("metadata", {})
    for name in ("uid", "resourceVersion"):
        changed["metadata"][name] = given.get(name) or changed["metadata"][name]
    return changed
