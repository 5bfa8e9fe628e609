"""CronJobs: a Job at each time of the schedule, and the old ones away.

The schedule itself is read in cron.
"""

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
            generation = cronjob["metadata"]["generation"]
            self._say(cronjob, generation, "UnparseableSchedule", message, hands)
            return
        if following is not None:
            hands.again_at(following)
        if due is not None and not _is_too_late(cronjob, due, view.now):
            self._start(cronjob, status, due, view, hands)

    def _start(self, cronjob: Obj, status: Obj, due: float, view: View, hands: Hands) -> None:
        policy = cronjob["spec"].get("concurrencyPolicy", "Allow")
        if policy == "Forbid" and status.get("active"):
            self._say(cronjob, due, "JobAlreadyActive", STILL_RUNS, hands)
            return
        if policy == "Replace":
            _end_active(cronjob, status, view, hands)
        try:
            job = hands.create("jobs", _job(cronjob, due))
        except ApiError as refusal:
            if refusal.reason != "AlreadyExists":
                message = f"Error creating job: {refusal.message}"
                self._say(cronjob, due, "FailedCreate", message, hands)
            return
        name = job["metadata"]["name"]
        hands.tell(cronjob, "Normal", "SuccessfulCreate", f"Created job {name}")
        status["active"] = [*status.get("active", []), _reference(job)]
        status["lastScheduleTime"] = timestamp(due)

    def _say(self, cronjob: Obj, about: float, reason: str, message: str, hands: Hands) -> None:
        """Tell it once: an event wakes the next look, which would tell it again."""
        uid = cronjob["metadata"]["uid"]
        if self._said.get(uid) == about:
            return
        self._said[uid] = about
        kind = "Normal" if reason == "JobAlreadyActive" else "Warning"
        hands.tell(cronjob, kind, reason, message)


def _observed(cronjob: Obj, jobs: list[Obj], hands: Hands) -> Obj:
    """Return the status after a look at the jobs: the active ones, and the last success."""
    status = copy_json(cronjob.get("status", {}))
    by_uid = {job["metadata"]["uid"]: job for job in jobs}
    active = [a for a in status.get("active", []) if a["uid"] in by_uid]
    for reference in list(active):
        job = by_uid[reference["uid"]]
        if is_finished(job):
            active.remove(reference)
            _note_end(cronjob, job, status, hands)
    status["active"] = active
    return {key: value for key, value in status.items() if value}


def _note_end(cronjob: Obj, job: Obj, status: Obj, hands: Hands) -> None:
    word = "Complete" if is_true(job, "Complete") else "Failed"
    message = f"Saw completed job: {job['metadata']['name']}, condition: {word}"
    hands.tell(cronjob, "Normal", "SawCompletedJob", message)
    if word == "Complete":
        status["lastSuccessfulTime"] = job["status"]["completionTime"]


# Firing


def _times(cronjob: Obj, status: Obj, now: float) -> tuple[float | None, float | None]:
    """Return the newest time that has passed without a job, and the next one to come."""
    schedule = cron.parse(cronjob["spec"]["schedule"])
    zone = _zone(cronjob)
    moment = _earliest(cronjob, status, now)
    due: float | None = None
    for _ in range(LOOKED_BACK_AT_MOST):
        found = schedule.after(datetime.fromtimestamp(moment, zone))
        if found is None or found.timestamp() > now:
            return due, found.timestamp() if found else None
        moment = due = found.timestamp()
    return due, now + 60


def _zone(cronjob: Obj) -> tzinfo:
    name = cronjob["spec"].get("timeZone")
    return ZoneInfo(name) if name else UTC


def _earliest(cronjob: Obj, status: Obj, now: float) -> float:
    last = status.get("lastScheduleTime")
    since = seconds_of(last) if last else created(cronjob)
    seconds = cronjob["spec"].get("startingDeadlineSeconds")
    return max(since, now - float(seconds)) if seconds is not None else since


def _is_too_late(cronjob: Obj, due: float, now: float) -> bool:
    seconds = cronjob["spec"].get("startingDeadlineSeconds")
    return seconds is not None and due + float(seconds) < now


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
