"""Deployments, replica sets, jobs and cron jobs: selectors, counts, what may not change."""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import Cause
from deployments.practice.selectors import selector_matcher
from deployments.practice.validation import words
from deployments.practice.validation.metadata import check_labels
from deployments.practice.validation.pods import check_pod_spec
from deployments.practice.validation.schedules import check_schedule, check_time_zone

Object = dict[str, Any]

IMMUTABLE = "field is immutable"
MISMATCH = "`selector` does not match template `labels`"
LONGEST_CRON_NAME = 52
OWN_LABEL = "batch.kubernetes.io/controller-uid"
NO_TEMPLATE = {"terminationGracePeriodSeconds": 30}
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
        shown = {"Type": strategy["type"], "RollingUpdate": None}
        return [words.not_supported("spec.strategy", shown, supported)]
    if strategy["type"] == "Recreate" and "rollingUpdate" in strategy:
        why = "may not be specified when strategy `type` is 'Recreate'"
        return [words.forbidden("spec.strategy.rollingUpdate", why)]
    rolling = strategy.get("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and _is_zero(rolling, "maxSurge", "maxUnavailable"):
        field, why = (
            "spec.strategy.rollingUpdate.maxUnavailable",
            "may not be 0 when `maxSurge` is 0",
        )
        return [words.invalid(field, rolling["maxUnavailable"], why)]
    return []


def _is_zero(rolling: Object, *names: str) -> bool:
    return all(rolling.get(name) in (0, "0%") for name in names)


def check_replica_set(new: Object) -> list[Cause]:
    spec = new["spec"]
    causes = words.at_least_zero("spec.replicas", spec["replicas"])
    causes += _check_selector(spec)
    return causes + _check_template(spec, "spec.template", ["Always"])


def _check_selector(spec: Object) -> list[Cause]:
    selector = spec.get("selector")
    labels = spec.get("template", {}).get("metadata", {}).get("labels", {})
    if selector is None:
        return [words.required("spec.selector"), _mismatch(labels)]
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        why = "empty selector is invalid for deployment"
        return [words.invalid("spec.selector", selector, why)]
    causes = check_labels(selector.get("matchLabels", {}), "spec.selector.matchLabels")
    if not selector_matcher(selector)(labels):
        causes.append(_mismatch(labels))
    return causes


def _mismatch(labels: dict[str, str]) -> Cause:
    return words.invalid("spec.template.metadata.labels", labels or None, MISMATCH)


def _check_template(spec: Object, field: str, restart_policies: list[str]) -> list[Cause]:
    template = spec.get("template")
    if not isinstance(template, dict):
        template = {"spec": {"restartPolicy": restart_policies[0], **NO_TEMPLATE}}
    labels = template.get("metadata", {}).get("labels", {})
    causes = check_labels(labels, f"{field}.labels")
    causes += check_pod_spec(template["spec"], f"{field}.spec")
    policy = template["spec"]["restartPolicy"]
    if policy not in restart_policies:
        path = f"{field}.spec.restartPolicy"
        causes.append(words.not_supported(path, policy, restart_policies))
    return causes


def check_job(new: Object) -> list[Cause]:
    return _check_own_selector(new) + _check_job_spec(new["spec"], "spec")


def _check_own_selector(job: Object) -> list[Cause]:
    """Refuse a selector that is not the generated one, unless `manualSelector` says so."""
    selector = job["spec"].get("selector", {})
    labels = job["spec"].get("template", {}).get("metadata", {}).get("labels", {})
    if job["spec"].get("manualSelector") or "template" not in job["spec"]:
        return []
    causes = []
    if set(selector.get("matchLabels", {})) != {OWN_LABEL}:
        causes.append(words.invalid("spec.selector", selector, "`selector` not auto-generated"))
    if not selector_matcher(selector)(labels):
        causes.append(_mismatch(labels))
    return causes


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
    template = spec.get("template", {"spec": {"restartPolicy": "Always"}})
    if template["spec"]["restartPolicy"] != "Always":
        return _check_template(spec, field, ["OnFailure", "Never"])
    why = 'valid values: "OnFailure", "Never"'
    causes = _check_template(spec, field, ["Always"])
    return [*causes, words.required(f"{field}.spec.restartPolicy", why)]


def check_cron_job(new: Object) -> list[Cause]:
    name, spec = new["metadata"]["name"], new["spec"]
    causes: list[Cause] = []
    if len(name) > LONGEST_CRON_NAME:
        why = f"must be no more than {LONGEST_CRON_NAME} characters"
        causes.append(words.invalid("metadata.name", name, why))
    causes += _check_times(spec)
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


def _check_times(spec: Object) -> list[Cause]:
    schedule = spec.get("schedule", "")
    if not schedule:
        return [words.required("spec.schedule")]
    causes = []
    if why := check_schedule(schedule):
        causes.append(words.invalid("spec.schedule", schedule, why))
    if (zone := spec.get("timeZone")) and (why := check_time_zone(zone)):
        causes.append(words.invalid("spec.timeZone", zone, why))
    return causes


def check_selector_change(new: Object, old: Object) -> list[Cause]:
    """Refuse another selector of a Deployment or ReplicaSet."""
    if new["spec"].get("selector") == old["spec"].get("selector"):
        return []
    return [words.invalid("spec.selector", new["spec"].get("selector"), IMMUTABLE)]


def check_job_change(new: Object, old: Object) -> list[Cause]:
    """Refuse another template or selector: other work is another job."""
    after, before = new["spec"], old["spec"]
    return [
        words.invalid(f"spec.{field}", after.get(field), IMMUTABLE)
        for field in ("completions", "selector", "template", "completionMode", "manualSelector")
        if after.get(field) != before.get(field)
    ]


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
