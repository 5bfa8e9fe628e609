"""Which objects the API server refuses, in its words. What admission refuses is not here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deployments.practice import errors
from deployments.practice.kinds import Kind
from deployments.practice.validation import services, workloads
from deployments.practice.validation.decoding import check_types
from deployments.practice.validation.metadata import (
    check_finalizers,
    check_labels_and_annotations,
    check_metadata,
)
from deployments.practice.validation.pods import check_pod_change, check_pod_spec

Object = dict[str, Any]
Causes = list[errors.Cause]


def check_new(kind: Kind, new: Object) -> None:
    """Raise 422 with every cause unless this object may be created, 400 for a wrong type."""
    check_types(kind, new)
    _refuse(kind, new, check_metadata(kind, new["metadata"]) + _check_content(kind, new))


def check_change(kind: Kind, new: Object, old: Object, subresource: str) -> None:
    """Raise 422 with every cause unless `old` may become `new`, 400 for a wrong type."""
    if subresource == "status":
        causes = _STATUS[kind.plural](new, old) if kind.plural in _STATUS else []
        _refuse(kind, new, causes)
        return
    check_types(kind, new)
    causes = check_finalizers(new["metadata"], old["metadata"])
    causes += check_labels_and_annotations(new["metadata"]) + _check_content(kind, new)
    if kind.plural in _CHANGES:
        causes += _CHANGES[kind.plural](new, old)
    _refuse(kind, new, causes)


def _check_content(kind: Kind, new: Object) -> Causes:
    check = _CONTENT.get(kind.plural)
    return check(new) if check is not None and new["metadata"].get("name") else []


def _refuse(kind: Kind, new: Object, causes: Causes) -> None:
    if causes:
        raise errors.invalid(kind, new["metadata"].get("name", ""), causes)


_CONTENT: Mapping[str, Callable[[Object], Causes]] = {
    "configmaps": services.check_keys,
    "cronjobs": workloads.check_cron_job,
    "deployments": workloads.check_deployment,
    "events": services.check_event,
    "jobs": workloads.check_job,
    "persistentvolumeclaims": services.check_claim,
    "pods": lambda pod: check_pod_spec(pod["spec"], "spec"),
    "replicasets": workloads.check_replica_set,
    "secrets": services.check_keys,
    "services": services.check_service,
}

_CHANGES: Mapping[str, Callable[[Object, Object], Causes]] = {
    "configmaps": services.check_content_change,
    "deployments": workloads.check_selector_change,
    "jobs": workloads.check_job_change,
    "persistentvolumeclaims": services.check_claim_change,
    "pods": check_pod_change,
    "replicasets": workloads.check_selector_change,
    "secrets": services.check_content_change,
    "services": services.check_service_change,
}

_STATUS: Mapping[str, Callable[[Object, Object], Causes]] = {
    "deployments": workloads.check_workload_status,
    "replicasets": workloads.check_workload_status,
}
