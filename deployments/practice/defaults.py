"""What the API server fills in where a client leaves a field out.

`fill` holds for each write and is safe to repeat; `fill_new` is for the creation alone.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from deployments.practice.jsons import meta
from deployments.practice.kinds import Kind
from deployments.practice.pod_defaults import fill_pod, fill_pod_spec, new_pod, settle_quantities

Object = dict[str, Any]


def fill(kind: Kind, obj: Object) -> None:
    """Fill in the fields that this kind always has."""
    if kind.plural in _FILL:
        _FILL[kind.plural](obj)


def fill_new(kind: Kind, obj: Object) -> None:
    """Fill in what only the creation sets. The object has its uid already."""
    if "status" in kind.subresources and kind.plural != "nodes":
        obj["status"] = {}
    if kind.plural in _FILL_NEW:
        _FILL_NEW[kind.plural](obj)


def _set(target: Object, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        target.setdefault(name, value)


def _spec(obj: Object) -> Object:
    spec: Object = obj.setdefault("spec", {})
    return spec


def _template(spec: Object) -> None:
    template = spec.get("template")
    if isinstance(template, dict):
        template.setdefault("metadata", {})
        fill_pod_spec(template.setdefault("spec", {}))


def _deployment(obj: Object) -> None:
    spec = _spec(obj)
    _set(spec, {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600})
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        _set(strategy.setdefault("rollingUpdate", {}), {"maxUnavailable": "25%", "maxSurge": "25%"})
    _template(spec)


def _replica_set(obj: Object) -> None:
    _spec(obj).setdefault("replicas", 1)
    _template(_spec(obj))


def _job(obj: Object) -> None:
    spec = _spec(obj)
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    _set(
        spec,
        {
            "parallelism": 1,
            "backoffLimit": 6,
            "completionMode": "NonIndexed",
            "suspend": False,
            "podReplacementPolicy": "TerminatingOrFailed",
            "manualSelector": False,
        },
    )
    _template(spec)


def _new_job(obj: Object) -> None:
    spec = _spec(obj)
    if spec.get("manualSelector") or not isinstance(spec.get("template"), dict):
        return
    uid, name = obj["metadata"]["uid"], obj["metadata"].get("name", "")
    labels = spec["template"].setdefault("metadata", {}).setdefault("labels", {})
    for prefix in ("batch.kubernetes.io/", ""):
        labels[f"{prefix}controller-uid"] = uid
        labels[f"{prefix}job-name"] = name
    own = {"batch.kubernetes.io/controller-uid": uid}
    spec.setdefault("selector", {}).setdefault("matchLabels", {}).update(own)
    if not meta(obj).get("labels"):
        obj["metadata"]["labels"] = dict(labels)


def _cron_job(obj: Object) -> None:
    spec = _spec(obj)
    _set(
        spec,
        {
            "concurrencyPolicy": "Allow",
            "suspend": False,
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1,
        },
    )
    template = spec.setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    _template(template.setdefault("spec", {}))


def _service(obj: Object) -> None:
    spec = _spec(obj)
    _set(spec, {"type": "ClusterIP", "sessionAffinity": "None"})
    for port in spec.get("ports", []):
        port.setdefault("protocol", "TCP")
        if "port" in port:
            port.setdefault("targetPort", port["port"])
    if spec["type"] != "ExternalName":
        families = {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}
        _set(spec, {**families, "internalTrafficPolicy": "Cluster"})


def _new_service(obj: Object) -> None:
    obj["status"] = {"loadBalancer": {}}


def _namespace(obj: Object) -> None:
    labels = meta(obj).setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = obj["metadata"].get("name", "")


def _new_namespace(obj: Object) -> None:
    obj["spec"] = {"finalizers": ["kubernetes"]}
    obj["status"] = {"phase": "Active"}


def _secret(obj: Object) -> None:
    obj.setdefault("type", "Opaque")
    for name, text in obj.pop("stringData", {}).items():
        obj.setdefault("data", {})[name] = base64.b64encode(text.encode()).decode()


def _claim(obj: Object) -> None:
    _spec(obj).setdefault("volumeMode", "Filesystem")
    settle_quantities(_spec(obj).get("resources", {}).get("requests", {}))


def _quota(obj: Object) -> None:
    settle_quantities(_spec(obj).get("hard", {}))


def _volume(obj: Object) -> None:
    spec = _spec(obj)
    _set(spec, {"volumeMode": "Filesystem", "persistentVolumeReclaimPolicy": "Retain"})


def _new_phase(obj: Object) -> None:
    obj["status"] = {"phase": "Pending"}


def _endpoint_slice(obj: Object) -> None:
    # Null, not left out and not empty, where there are none: as a client of the real one meets it.
    _set(obj, {"endpoints": None, "ports": None})
    for port in obj["ports"] or []:
        _set(port, {"name": "", "protocol": "TCP"})


def _event(obj: Object) -> None:
    times = dict.fromkeys(("eventTime", "firstTimestamp", "lastTimestamp"))
    _set(obj, {**times, "source": {}, "reportingComponent": "", "reportingInstance": ""})


def _storage_class(obj: Object) -> None:
    _set(obj, {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})


_FILL: Mapping[str, Callable[[Object], None]] = {
    "cronjobs": _cron_job,
    "deployments": _deployment,
    "endpointslices": _endpoint_slice,
    "events": _event,
    "jobs": _job,
    "namespaces": _namespace,
    "persistentvolumeclaims": _claim,
    "persistentvolumes": _volume,
    "pods": fill_pod,
    "replicasets": _replica_set,
    "resourcequotas": _quota,
    "secrets": _secret,
    "services": _service,
    "storageclasses": _storage_class,
}

_FILL_NEW: Mapping[str, Callable[[Object], None]] = {
    "jobs": _new_job,
    "namespaces": _new_namespace,
    "persistentvolumeclaims": _new_phase,
    "persistentvolumes": _new_phase,
    "pods": new_pod,
    "services": _new_service,
}
