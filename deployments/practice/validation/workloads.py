"""Deployments, replica sets, jobs and cron jobs: selectors, counts, what may not change."""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import Cause
from deployments.practice.jsons import copy_json
from deployments.practice.selectors import selector_matcher
from deployments.practice.validation import words
from deployments.practice.validation.metadata import check_labels
from deployments.practice.validation.pods import check_pod_spec

Object = dict[str, Any]

IMMUTABLE = "field is immutable"
MISMATCH = "`selector` does not match template `labels`"
LONGEST_CRON_NAME = 52
LONGEST_JOB_NAME = 63
CRON_FIELDS = 5
STATUS_COUNTS = (
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
)


def check_deployment(new: Object) -> list[Cause]:
    spec = new["spec"]
    causes = words.at_least_zero("spec.replicas", spec["replicas"])
    causes += _check_selector(spec)
    causes += _check_template(spec, "spec.template", ["Always"])
    causes += words.at_least_zero("spec.minReadySeconds", spec.get("minReadySeconds"))
    causes += words.at_least_zero("spec.revisionHistoryLimit", spec["revisionHistoryLimit"])
    causes += words.at_least_zero("spec.progressDeadlineSeconds", spec["progressDeadlineSeconds"])
    if spec["progressDeadlineSeconds"] <= spec.get("minReadySeconds", 0):
        field, value = "spec.progressDeadlineSeconds", spec["progressDeadlineSeconds"]
        causes.append(words.invalid(field, value, "must be greater than minReadySeconds"))
    return causes + _check_strategy(spec["strategy"])


def _check_strategy(strategy: Object) -> list[Cause]:
    if strategy["type"] not in ("Recreate", "RollingUpdate"):
        supported = ["Recreate", "RollingUpdate"]
        return [words.not_supported("spec.strategy.type", strategy["type"], supported)]
    if strategy["type"] == "Recreate" and "rollingUpdate" in strategy:
        why = "may not be specified when strategy `type` is 'Recreate'"
        return [words.forbidden("spec.strategy.rollingUpdate", why)]
    return []


def check_replica_set(new: Object) -> list[Cause]:
    spec = new["spec"]
    causes = words.at_least_zero("spec.replicas", spec["replicas"])
    causes += _check_selector(spec)
    return causes + _check_template(spec, "spec.template", ["Always"])


def _check_selector(spec: Object) -> list[Cause]:
    selector = spec.get("selector")
    if selector is None:
        return [words.required("spec.selector")]
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        why = "empty selector is invalid for deployment"
        return [words.invalid("spec.selector", selector, why)]
    causes = check_labels(selector.get("matchLabels", {}), "spec.selector.matchLabels")
    labels = spec.get("template", {}).get("metadata", {}).get("labels", {})
    if not selector_matcher(selector)(labels):
        shown = _go_map(labels)
        message = f"Invalid value: {shown}: {MISMATCH}"
        causes.append(Cause("FieldValueInvalid", message, "spec.template.metadata.labels"))
    return causes


def _go_map(labels: dict[str, str]) -> str:
    """Write labels as the real one does in this message: as JSON without spaces."""
    inner = ",".join(f"{words.quoted(k)}:{words.quoted(v)}" for k, v in sorted(labels.items()))
    return "{" + inner + "}" if labels else "null"


def _check_template(spec: Object, field: str, restart_policies: list[str]) -> list[Cause]:
    template = spec.get("template")
    if not isinstance(template, dict):
        template = {"spec": {"restartPolicy": restart_policies[0]}}
    labels = template.get("metadata", {}).get("labels", {})
    causes = check_labels(labels, f"{field}.labels")
    causes += check_pod_spec(template["spec"], f"{field}.spec")
    policy = template["spec"]["restartPolicy"]
    if policy not in restart_policies and policy in ("Always", "Never", "OnFailure"):
        path = f"{field}.spec.restartPolicy"
        causes.append(words.not_supported(path, policy, restart_policies))
    return causes


def check_job(new: Object) -> list[Cause]:
    name = new["metadata"]["name"]
    causes = []
    if len(name) > LONGEST_JOB_NAME:
        why = f"must be no more than {LONGEST_JOB_NAME} characters"
        causes.append(words.invalid("metadata.name", name, why))
    if "template" not in new["spec"]:
        causes.append(words.required("spec.template"))
    return causes + _check_job_spec(new["spec"], "spec")


def _check_job_spec(spec: Object, field: str) -> list[Cause]:
    causes: list[Cause] = []
    for name in (
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    ):
        causes += words.at_least_zero(f"{field}.{name}", spec.get(name))
    return causes + _check_job_template(spec, f"{field}.template")


def _check_job_template(spec: Object, field: str) -> list[Cause]:
    return _check_template(spec, field, ["Never", "OnFailure"])


def check_cron_job(new: Object) -> list[Cause]:
    name, spec = new["metadata"]["name"], new["spec"]
    causes: list[Cause] = []
    if len(name) > LONGEST_CRON_NAME:
        why = f"must be no more than {LONGEST_CRON_NAME} characters"
        causes.append(words.invalid("metadata.name", name, why))
    causes += _check_schedule(spec.get("schedule", ""))
    if spec["concurrencyPolicy"] not in ("Allow", "Forbid", "Replace"):
        supported = ["Allow", "Forbid", "Replace"]
        path = "spec.concurrencyPolicy"
        causes.append(words.not_supported(path, spec["concurrencyPolicy"], supported))
    for field in (
        "startingDeadlineSeconds",
        "successfulJobsHistoryLimit",
        "failedJobsHistoryLimit",
    ):
        causes += words.at_least_zero(f"spec.{field}", spec.get(field))
    return causes + _check_job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")


def _check_schedule(schedule: str) -> list[Cause]:
    if not schedule:
        return [words.required("spec.schedule")]
    fields = schedule.split()
    if schedule.startswith("@") or len(fields) == CRON_FIELDS:
        return []
    why = f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    return [words.invalid("spec.schedule", schedule, why)]


def check_selector_change(new: Object, old: Object) -> list[Cause]:
    """Refuse another selector of a Deployment or ReplicaSet."""
    if new["spec"].get("selector") == old["spec"].get("selector"):
        return []
    return [immutable("spec.selector", new["spec"].get("selector"))]


def check_job_change(new: Object, old: Object) -> list[Cause]:
    """Refuse another template or selector; a suspended job may change its pods' placement."""
    after, before = copy_json(new["spec"]), copy_json(old["spec"])
    causes = []
    for field in ("completions", "selector", "template", "completionMode", "manualSelector"):
        if after.get(field) != before.get(field):
            causes.append(immutable(f"spec.{field}", after.get(field)))
    return causes


def immutable(field: str, value: Any) -> Cause:
    return words.invalid(field, value, IMMUTABLE)


def check_workload_status(new: Object, _old: Object) -> list[Cause]:
    """Refuse counts that cannot be: no more replicas can be ready than there are."""
    status = new.get("status", {})
    causes: list[Cause] = []
    for name in STATUS_COUNTS:
        causes += words.at_least_zero(f"status.{name}", status.get(name))
    total, ready = status.get("replicas", 0), status.get("readyReplicas", 0)
    available = status.get("availableReplicas", 0)
    for name in ("updatedReplicas", "readyReplicas", "availableReplicas", "fullyLabeledReplicas"):
        if status.get(name, 0) > total:
            why = "cannot be greater than status.replicas"
            causes.append(words.invalid(f"status.{name}", status[name], why))
    if available > ready:
        why = "cannot be greater than readyReplicas"
        causes.append(words.invalid("status.availableReplicas", available, why))
    return causes
