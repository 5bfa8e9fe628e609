"""The Jobs of a deployment: the release command, and the `job` processes.

A Job is made once and its uid stored before it runs; one whose uid is stored and that is gone has
lost its result and is not run a second time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from deployments.domain import diagnose, names, text, upkeep
from deployments.domain.commands import Command, Create, Resume
from deployments.domain.observations import JobSeen, ObjectKind, Pod, Seen, Termination
from deployments.domain.releases import ProcessKind
from deployments.domain.states import State
from deployments.domain.wanted import Attempt, Wanted


@dataclass(frozen=True)
class Result:
    """Where a release command stands. `failed` begins with a verb; None while it has not."""

    succeeded: bool = False
    failed: str | None = None
    last_words: str = ""


STILL_RUNNING = Result()
MAKE_JOBS_IN = frozenset({State.ACTIVATING, State.DRAINING})


def judge_release_command(attempt: Attempt, wanted: Wanted, seen: Seen) -> Result:
    """Return the result of the deployment's release command."""
    name = names.job_name(wanted.service, names.RELEASE_COMMAND, attempt.id)
    job, uid = seen.job(name), attempt.job_uids.get(name)
    if job is None or (uid is not None and job.meta.ref.uid != uid):
        return STILL_RUNNING if uid is None else Result(failed="is gone and left no result")
    if job.succeeded:
        return Result(succeeded=True)
    if job.failed:
        return _failure(_pods(name, seen), seen)
    if _too_long(attempt, _pods(name, seen), seen):
        said = text.last_line(seen.command_said)
        return Result(failed=f"ran longer than its {_timeout(attempt)} s", last_words=said)
    return STILL_RUNNING


def _failure(pods: tuple[Pod, ...], seen: Seen) -> Result:
    ends = [pod.terminations[0] for pod in pods if pod.terminations]
    if not ends:
        return Result(failed="failed without a word")
    if diagnose.never_ran(ends[-1]):
        said = diagnose.runtime_clause(ends[-1].message)
        return Result(failed=f"could not be started: {said}" if said else "could not be started")
    said = text.last_line(ends[-1].message) or text.last_line(seen.command_said)
    return Result(failed=_how(ends[-1]), last_words=said)


def pods_without_words(wanted: Wanted, seen: Seen) -> tuple[Pod, ...]:
    """Return the pods of a release command that has failed and whose end says nothing: its output
    has to be read. None of them while it runs, or once its end has words."""
    attempt = wanted.before
    if attempt is None or attempt.state is not State.RELEASING:
        return ()
    result = judge_release_command(attempt, wanted, seen)
    if result.failed is None or result.last_words:
        return ()
    return _pods(names.job_name(wanted.service, names.RELEASE_COMMAND, attempt.id), seen)


def _how(end: Termination) -> str:
    killed = " (out of memory)" if end.reason == "OOMKilled" else ""
    return f"exited with code {end.exit_code}{killed}"


def _too_long(attempt: Attempt, pods: tuple[Pod, ...], seen: Seen) -> bool:
    limit = timedelta(seconds=_timeout(attempt))
    return any(pod.started_at is not None and seen.now - pod.started_at >= limit for pod in pods)


def _timeout(attempt: Attempt) -> int:
    command = attempt.release.config.release_command
    return command.timeout_seconds if command is not None else 0


def _pods(job: str, seen: Seen) -> tuple[Pod, ...]:
    return tuple(pod for pod in seen.pods if pod.job == job)


def commands(attempt: Attempt, wanted: Wanted, seen: Seen) -> tuple[Command, ...]:
    """Return the writes that bring the deployment's Jobs to life, one step at a time."""
    found = []
    for process in _due(attempt):
        name = names.job_name(wanted.service, process, attempt.id)
        found += _launch(name, process, attempt, wanted, seen)
    return tuple(found)


def _due(attempt: Attempt) -> tuple[str, ...]:
    if attempt.state is State.RELEASING:
        return (names.RELEASE_COMMAND,)
    # A `job` process runs once, when traffic moves, and nobody waits for it: what was made too
    # late to be resumed before the deployment was healthy is resumed then.
    if attempt.state in {*MAKE_JOBS_IN, State.HEALTHY} and attempt.verdict is None:
        return tuple(p.name for p in attempt.release.config.of_kind(ProcessKind.JOB))
    return ()


def _launch(name: str, process: str, attempt: Attempt, wanted: Wanted, seen: Seen) -> list[Command]:
    job = seen.job(name)
    if name not in attempt.job_uids:
        made = Create(ObjectKind.JOB, name, attempt.release.number, process, attempt.id)
        return [made] if attempt.state is not State.HEALTHY else []
    if job is None or not _waits_to_run(job, attempt):
        return []
    return [upkeep.secret_of(attempt.release, wanted), Resume(job.meta.ref)]


def _waits_to_run(job: JobSeen, attempt: Attempt) -> bool:
    ours = attempt.job_uids.get(job.meta.name) == job.meta.ref.uid
    return ours and job.suspended and not job.meta.deleting
