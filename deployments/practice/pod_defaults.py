"""What the API server fills in for pods and pod templates, containers and probes included."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from deployments.practice.quantities import canonical

Object = dict[str, Any]

POD_SPEC: Mapping[str, Any] = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
}
CONTAINER: Mapping[str, Any] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
PROBE: Mapping[str, int] = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
EMPTY_LISTS = ("args", "command", "env", "envFrom", "ports", "volumeMounts")
FILE_MODE = 0o644
EVICTED_AFTER_SECONDS = 300


def fill_pod_spec(spec: Object) -> None:
    """Fill in what a pod and a template have in common."""
    for name, value in POD_SPEC.items():
        spec.setdefault(name, value)
    spec.setdefault("securityContext", {})
    for field in ("initContainers", "containers"):
        for container in spec.get(field, []):
            _fill_container(container)
    for volume in spec.get("volumes", []):
        _fill_volume(volume)


def fill_pod(pod: Object) -> None:
    """Fill in a pod: requests that are missing are the limits, which templates do not do."""
    spec = pod.setdefault("spec", {})
    fill_pod_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    for container in [*spec.get("initContainers", []), *spec.get("containers", [])]:
        limits = container["resources"].get("limits", {})
        if limits:
            requests = container["resources"].setdefault("requests", {})
            container["resources"]["requests"] = {**limits, **requests}


def new_pod(pod: Object) -> None:
    """Do what the admission plugins of a usual cluster do to every new pod."""
    spec = pod.setdefault("spec", {})
    account = spec.setdefault("serviceAccountName", "default")
    spec["serviceAccount"] = account
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    _tolerate_lost_nodes(spec)
    pod["status"] = {"phase": "Pending", "qosClass": _quality_class(spec)}


def _tolerate_lost_nodes(spec: Object) -> None:
    tolerations = spec.setdefault("tolerations", [])
    present = {toleration.get("key") for toleration in tolerations}
    for condition in ("not-ready", "unreachable"):
        key = f"node.kubernetes.io/{condition}"
        if key not in present:
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": EVICTED_AFTER_SECONDS,
                }
            )


def _quality_class(spec: Object) -> str:
    resources = [
        container.get("resources", {})
        for container in [*spec.get("initContainers", []), *spec.get("containers", [])]
    ]
    if not any(found.get("requests") or found.get("limits") for found in resources):
        return "BestEffort"
    guaranteed = all(
        {"cpu", "memory"} <= found.get("limits", {}).keys()
        and found.get("requests", found["limits"]) == found["limits"]
        for found in resources
    )
    return "Guaranteed" if guaranteed else "Burstable"


def settle_quantities(values: Object) -> None:
    """Write quantities in their usual form; what is none stays, to be refused by name."""
    for name, value in values.items():
        with suppress(ValueError):
            values[name] = canonical(value)


def _fill_container(container: Object) -> None:
    for name in EMPTY_LISTS:
        if container.get(name) == []:
            del container[name]
    for group in ("limits", "requests"):
        settle_quantities(container.get("resources", {}).get(group, {}))
    for name, value in CONTAINER.items():
        container.setdefault(name, value)
    container.setdefault("resources", {})
    container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))
    for port in container.get("ports", []):
        port.setdefault("protocol", "TCP")
    for entry in container.get("env", []):
        reference = entry.get("valueFrom", {}).get("fieldRef")
        if reference is not None:
            reference.setdefault("apiVersion", "v1")
    for name in PROBES:
        if name in container:
            _fill_probe(container[name])


def _pull_policy(image: str) -> str:
    """Return Always for `latest`, said or left out."""
    if "@" in image:
        return "IfNotPresent"
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return "Always" if not colon or tag == "latest" else "IfNotPresent"


def _fill_probe(probe: Object) -> None:
    for name, value in PROBE.items():
        probe.setdefault(name, value)
    request = probe.get("httpGet")
    if request is not None:
        request.setdefault("path", "/")
        request.setdefault("scheme", "HTTP")


def _fill_volume(volume: Object) -> None:
    for source in ("secret", "configMap", "projected"):
        if source in volume:
            volume[source].setdefault("defaultMode", FILE_MODE)
    if set(volume) == {"name"}:
        volume["emptyDir"] = {}
