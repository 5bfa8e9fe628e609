"""CronJobs: a Job at each time of the schedule, and the old ones away. The schedule itself is read in cron."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from deployments.practice.errors import ApiError
from deployments.practice.jsons import copy_json, seconds_of, timestamp
from deployments.practice.world import cron
from deployments.practice.world.controllers.jobs import is_finished
from deployments.practice.world.hands import Hands
from deployments.practice.world.view import View, created, is_going, is_true, owner_reference

Obj = dict[str, Any]

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
LOOKED_BACK_AT_MOST = 100_000
STILL_RUNS = "Not starting job because prior execution is running and concurrency policy is Forbid"


class CronJobs:
    """The controller; it remembers for which times it has already said why there is no job."""

    def __init__(self) -> None:
        self._said: dict[str, float] = {}

    def reconcile(self, view: View, hands: Hands) -> None:
        for cronjob in view.all("cronjobs"):
            try:
                self._sync(cronjob, view, hands)
            except ApiError:
                # Somebody wrote meanwhile: the next look decides again.
                continue

    def _sync(self, cronjob: Obj, view: View, hands: Hands) -> None:
        if is_going(cronjob):
            return
        jobs = view.owned("jobs", cronjob)
        status = _observed(cronjob, jobs, hands)
        _clean_up(cronjob, jobs, hands)
        if not cronjob["spec"].get("suspend"):
            self._fire(cronjob, status, view, hands)
        hands.status("cronjobs", cronjob, status)

    def _fire(self, cronjob: Obj, status: Obj, view: View, hands: Hands) -> None:
        try:
            due, following = _times(cronjob, status, view.now)
        except cron.NotASchedule as problem:
            message = f"unparseable schedule: {cronjob['spec']['schedule']} : {problem}"
            self._say(cronjob, cronjob["metadata"]["generation"], "UnparseableSchedule", message, hands)
            return
        if following is not None:
            hands.again_at(following)
        if due is not None and not _is_too_late(cronjob, due, view.now):
            self._start(cronjob, status, due, view, hands)

    def _end_active(cronjob: Obj, status: Obj, view: View, hands: Hands) -> None:
    for reference in status.pop("active", []):
        job = view.find("jobs", reference["namespace"], reference["name"])
        if job is not None:
            hands.delete("jobs", job)
            message = f"Deleted job {reference['name']}"
            hands.tell(cronjob, "Normal", "SuccessfulDelete", message)


def _job(cronjob: Obj, due: float) -> Obj:
    template = copy_json(cronjob["spec"]["jobTemplate"])
    inner = template.get("metadata") or {}
    metadata = {
        "name": f"{cronjob['metadata']['name']}-{int(due) // 60}",
        "namespace": cronjob["metadata"]["namespace"],
        "labels": inner.get("labels") or {},
        "annotations": {**(inner.get("annotations") or {}), SCHEDULED: timestamp(due)},
        "ownerReferences": [owner_reference(cronjob, "cronjobs")],
    }
    return {"metadata": metadata, "spec": template["spec"]}


def _reference(job: Obj) -> Obj:
    metadata = job["metadata"]
    names = ("namespace", "name", "uid", "resourceVersion")
    kept = {name: metadata[name] for name in names}
    return {"kind": "Job", "apiVersion": "batch/v1", **kept}


# History


def _clean_up(cronjob: Obj, jobs: list[Obj], hands: Hands) -> None:
    spec = cronjob["spec"]
    done = [job for job in jobs if is_finished(job) and not is_going(job)]
    good = [job for job in done if is_true(job, "Complete")]
    bad = [job for job in done if job not in good]
    _keep(good, spec.get("successfulJobsHistoryLimit", 3), cronjob, hands)
    _keep(bad, spec.get("failedJobsHistoryLimit", 1), cronjob, hands)


def _keep(jobs: list[Obj], limit: int, cronjob: Obj, hands: Hands) -> None:
    for job in sorted(jobs, key=created)[: max(len(jobs) - limit, 0)]:
        hands.delete("jobs", job)
        message = f"Deleted job {job['metadata']['name']}"
        hands.tell(cronjob, "Normal", "SuccessfulDelete", message)
