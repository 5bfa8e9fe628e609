"""Jobs without indexes: one attempt after the other until enough succeeded, or too many failed, or
time is up.

Pods carry no tracking finalizer here: the count of a pod is taken when it is over, and kept in the
status.
"""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.jsons import copy_json, seconds_of, timestamp
from deployments.practice.world.controllers import conditions as words
from deployments.practice.world.controllers.podmaking import pod_from
from deployments.practice.world.hands import Hands
from deployments.practice.world.patience import Patience
from deployments.practice.world.view import View, condition, is_going, is_over, is_ready, is_true

Obj = dict[str, Any]

TOO_OFTEN = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
TOO_LONG = ("DeadlineExceeded", "Job was active longer than specified deadline")
ENOUGH = ("CompletionsReached", "Reached expected number of succeeded pods")
FIRST_PAUSE = 10.0
LONGEST_PAUSE = 600.0


class Jobs:
    """The controller; it remembers how long to wait after each refusal of a pod."""

    def __init__(self) -> None:
        self.patience = Patience(first=1)

    def reconcile(self, view: View, hands: Hands) -> None:
        for job in view.all("jobs"):
            try:
                _sync(job, view, hands, self.patience)
            except ApiError:
                # Somebody wrote meanwhile: the next look decides again.
                continue


def is_finished(job: Obj) -> bool:
    return is_true(job, "Complete") or is_true(job, "Failed")


def _sync(job: Obj, view: View, hands: Hands, patience: Patience) -> None:
    if is_going(job):
        return
    if is_finished(job):
        _clean_up(job, view.now, hands)
        return
    pods = view.owned("pods", job)
    if is_true(job, "FailureTarget") or is_true(job, "SuccessCriteriaMet"):
        _conclude(job, pods, view.now, hands)
    elif job["spec"].get("suspend"):
        _suspend(job, pods, view.now, hands)
    else:
        _run(job, pods, view.now, hands, patience)


# Running


def _run(job: Obj, pods: list[Obj], now: float, hands: Hands, patience: Patience) -> None:
    if "startTime" not in job.get("status", {}) or is_true(job, "Suspended"):
        _begin(job, pods, now, hands, patience)
        return
    verdict = _verdict(job, pods, now, hands)
    if verdict is not None:
        _decide(job, pods, verdict, now, hands)
        return
    made = _create_missing(job, pods, now, hands, patience)
    hands.status("jobs", job, _counted(job, [*pods, *made]))


def _begin(job: Obj, pods: list[Obj], now: float, hands: Hands, patience: Patience) -> None:
    """Start the clock, at the first run and at every resumption."""
    fresh = {**job, "status": {"startTime": timestamp(now)}}
    made = _create_missing(fresh, pods, now, hands, patience)
    status = _counted(job, [*pods, *made])
    status["startTime"] = timestamp(now)
    if is_true(job, "Suspended"):
        resumed = _condition("Suspended", ("JobResumed", "Job resumed"), now, status="False")
        status["conditions"] = _replaced(job, resumed)
        hands.tell(job, "Normal", "Resumed", "Job resumed")
    hands.status("jobs", job, status)


def _verdict(job: Obj, pods: list[Obj], now: float, hands: Hands) -> tuple[str, str] | None:
    counts = _counts(job, pods)
    if counts["failed"] > job["spec"].get("backoffLimit", 6):
        return TOO_OFTEN
    deadline = job["spec"].get("activeDeadlineSeconds")
    if deadline is not None:
        ends = seconds_of(job["status"]["startTime"]) + float(deadline)
        if now >= ends:
            return TOO_LONG
        hands.again_at(ends)
    if counts["succeeded"] >= _wanted(job):
        return ENOUGH
    return None


def _wanted(job: Obj) -> int:
    found: int = job["spec"].get("completions", 1) or 1
    return found


def _decide(job: Obj, pods: list[Obj], verdict: tuple[str, str], now: float, hands: Hands) -> None:
    """Say what the outcome will be; it holds once the last pod is gone."""
    stopped = _stop(job, pods, hands)
    kind = "SuccessCriteriaMet" if verdict == ENOUGH else "FailureTarget"
    status = _counted(job, pods)
    for key in ("active", "ready"):
        status[key] = 0
    status["terminating"] += len(stopped)
    status["failed"] = status.get("failed", 0) + len(stopped)
    status["conditions"] = _replaced(job, _condition(kind, verdict, now))
    hands.status("jobs", job, _without_zero(status))


def _stop(job: Obj, pods: list[Obj], hands: Hands) -> list[Obj]:
    running = [pod for pod in pods if not is_over(pod) and not is_going(pod)]
    for pod in running:
        hands.delete("pods", pod)
        message = f"Deleted pod: {pod['metadata']['name']}"
        hands.tell(job, "Normal", "SuccessfulDelete", message)
    return running


def _conclude(job: Obj, pods: list[Obj], now: float, hands: Hands) -> None:
    left = [pod for pod in pods if not is_over(pod)]
    _stop(job, left, hands)
    status = copy_json(job["status"])
    status["terminating"] = len(left)
    if left:
        hands.status("jobs", job, status)
        return
    good = is_true(job, "SuccessCriteriaMet")
    decided = condition(job, "SuccessCriteriaMet" if good else "FailureTarget") or {}
    reason, message = decided.get("reason", ""), decided.get("message", "")
    final = _condition("Complete" if good else "Failed", (reason, message), now)
    status["conditions"] = [*status["conditions"], final]
    if good:
        status["completionTime"] = timestamp(now)
        hands.tell(job, "Normal", "Completed", "Job completed")
    else:
        hands.tell(job, "Warning", reason, message)
    hands.status("jobs", job, status)


def _create_missing(
    job: Obj, pods: list[Obj], now: float, hands: Hands, patience: Patience
) -> list[Obj]:
    active = [pod for pod in pods if not is_over(pod)]
    counts = _counts(job, pods)
    left = _wanted(job) - counts["succeeded"]
    missing = min(job["spec"].get("parallelism", 1), left) - len(active)
    if missing <= 0 or _pauses(pods, counts["failed"], now, hands):
        return []
    return [p for _ in range(missing) if (p := _create(job, now, hands, patience)) is not None]


def _create(job: Obj, now: float, hands: Hands, patience: Patience) -> Obj | None:
    uid = job["metadata"]["uid"]
    if now < patience.until(uid):
        hands.again_at(patience.until(uid))
        return None
    try:
        pod = hands.create("pods", pod_from(job, "jobs", job["spec"]["template"]))
    except ApiError as refusal:
        hands.tell(job, "Warning", "FailedCreate", f"Error creating: {refusal.message}")
        hands.again_at(patience.refused(uid, now))
        return None
    patience.succeeded(uid)
    message = f"Created pod: {pod['metadata']['name']}"
    hands.tell(job, "Normal", "SuccessfulCreate", message)
    return pod


def _pauses(pods: list[Obj], failed: int, now: float, hands: Hands) -> bool:
    """Whether the wait after the last failure is not over: 10 s, 20 s, up to 10 min."""
    ended = [when for pod in pods if (when := _failed_at(pod)) is not None]
    if not ended:
        return False
    until = max(ended) + min(FIRST_PAUSE * 2 ** (failed - 1), LONGEST_PAUSE)
    if now < until:
        hands.again_at(until)
    return bool(now < until)


def _failed_at(pod: Obj) -> float | None:
    if pod.get("status", {}).get("phase") != "Failed":
        return None
    statuses = pod["status"].get("containerStatuses") or []
    ends = [s["state"]["terminated"]["finishedAt"] for s in statuses if "terminated" in s["state"]]
    return max((seconds_of(end) for end in ends), default=None)


# Suspending


def _suspend(job: Obj, pods: list[Obj], now: float, hands: Hands) -> None:
    _stop(job, pods, hands)
    status = _counted(job, pods)
    for key in ("active", "startTime"):
        status.pop(key, None)
    if not is_true(job, "Suspended"):
        suspended = _condition("Suspended", ("JobSuspended", "Job suspended"), now)
        status["conditions"] = _replaced(job, suspended)
        hands.tell(job, "Normal", "Suspended", "Job suspended")
    hands.status("jobs", job, status)


# Counting


def _counts(job: Obj, pods: list[Obj]) -> dict[str, int]:
    before = job.get("status", {})
    over = [pod for pod in pods if is_over(pod)]
    good = sum(pod["status"]["phase"] == "Succeeded" for pod in over)
    # A pod that somebody removed stays counted.
    return {
        "succeeded": max(good, before.get("succeeded", 0)),
        "failed": max(len(over) - good, before.get("failed", 0)),
    }


def _counted(job: Obj, pods: list[Obj]) -> Obj:
    counts = _counts(job, pods)
    alive = [pod for pod in pods if not is_over(pod)]
    going = [pod for pod in alive if is_going(pod)]
    before = job.get("status", {})
    status: Obj = {
        **{key: before[key] for key in ("conditions", "startTime") if key in before},
        "active": len(alive) - len(going),
        "terminating": len(going),
        "uncountedTerminatedPods": {},
        "ready": sum(is_ready(pod) for pod in alive if not is_going(pod)),
        **counts,
    }
    return _without_zero(status)


def _without_zero(status: Obj) -> Obj:
    kept = ("terminating", "ready")
    return {key: value for key, value in status.items() if value != 0 or key in kept}


def _condition(kind: str, said: tuple[str, str], now: float, *, status: str = "True") -> Obj:
    at = timestamp(now)
    return {
        "type": kind,
        "status": status,
        "lastProbeTime": at,
        "lastTransitionTime": at,
        "reason": said[0],
        "message": said[1],
    }


def _replaced(job: Obj, new: Obj) -> list[Obj]:
    present = job.get("status", {}).get("conditions", [])
    return [*words.without(present, new["type"]), new]


def _clean_up(job: Obj, now: float, hands: Hands) -> None:
    seconds = job["spec"].get("ttlSecondsAfterFinished")
    if seconds is None:
        return
    ended = next(c for c in job["status"]["conditions"] if c["type"] in ("Complete", "Failed"))
    due = seconds_of(ended["lastTransitionTime"]) + float(seconds)
    if now >= due:
        hands.delete("jobs", job, propagation="Foreground")
    else:
        hands.again_at(due)
