"""A deployment's Jobs: made once, resumed once their uid is stored, and judged."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from deployments.domain import jobs
from deployments.domain.commands import Create, Resume
from deployments.domain.jobs import Result
from deployments.domain.observations import (
    JobSeen,
    Meta,
    ObjectKind,
    Pod,
    Ref,
    Seen,
    Termination,
)
from deployments.domain.releases import Config, ReleaseCommand
from deployments.domain.states import State
from deployments.domain.wanted import Attempt, Release, Wanted
from tests.domain.play import PLACE, Play
from tests.domain.world import NOON, http, job

NAME = "web--release-d5"
COMMAND = ReleaseCommand(("migrate",), timeout_seconds=60)
RELEASE = Release(2, 2, Config((http(), job()), COMMAND), "r/web@x")
ATTEMPT = Attempt(5, State.RELEASING, NOON, RELEASE, job_uids={NAME: "u1"})
WANTED = Wanted(PLACE, 1, (RELEASE,), before=ATTEMPT)


def made(name: str = NAME, uid: str = "u1", **more: object) -> JobSeen:
    return replace(JobSeen(Meta(Ref(ObjectKind.JOB, name, uid, "1"))), **more)  # type: ignore[arg-type]


def judge(*found: JobSeen, pods: tuple[Pod, ...] = (), attempt: Attempt = ATTEMPT) -> Result:
    return jobs.judge_release_command(attempt, WANTED, Seen(NOON, jobs=found, pods=pods))


def ended(code: int, *, reason: str = "Error", message: str = "") -> Pod:
    end = Termination(code, reason, message)
    return Pod("p", "p", 2, "release", phase="Failed", job=NAME, terminations=(end,))


def running(seconds: float) -> Pod:
    began = NOON - timedelta(seconds=seconds)
    return Pod("p", "p", 2, "release", phase="Running", job=NAME, started_at=began)


def test_it_runs_until_its_job_says_otherwise() -> None:
    assert judge(made()) == Result()
    assert judge(made(succeeded=True)) == Result(succeeded=True)


@pytest.mark.parametrize(
    ("pod", "failed", "last_words"),
    [
        (ended(3, message="a\nno such table\n\n"), "exited with code 3", "no such table"),
        (ended(1), "exited with code 1", ""),
        (
            ended(128, reason="StartError", message="exec: no such file: unknown"),
            "could not be started: exec: no such file",
            "",
        ),
        (
            ended(137, reason="OOMKilled", message="x"),
            "exited with code 137 (out of memory)",
            "x",
        ),
    ],
)
def test_a_failure_quotes_the_end_of_the_output(pod: Pod, failed: str, last_words: str) -> None:
    found = judge(made(failed="BackoffLimitExceeded"), pods=(pod,))

    assert found == Result(failed=failed, last_words=last_words)


def test_a_failed_job_whose_pod_is_gone_still_fails() -> None:
    assert judge(made(failed="Failed")) == Result(failed="failed without a word")


@pytest.mark.parametrize(("seconds", "too_long"), [(59.9, False), (60, True)])
def test_its_timeout_counts_from_the_containers_start(seconds: float, *, too_long: bool) -> None:
    found = judge(made(), pods=(running(seconds),))

    assert found == (Result(failed="ran longer than its 60 s") if too_long else Result())


def test_a_job_whose_uid_is_stored_and_that_is_gone_has_lost_its_result() -> None:
    lost = Result(failed="is gone and left no result")

    assert judge() == lost
    assert judge(made(uid="another", succeeded=True)) == lost


def test_a_job_that_is_not_known_yet_is_waited_for() -> None:
    unknown = replace(ATTEMPT, job_uids={})

    assert judge(attempt=unknown) == Result()
    assert judge(made(suspended=True), attempt=unknown) == Result()


def test_a_job_is_made_then_resumed_once_its_uid_is_stored_and_never_made_again() -> None:
    fresh = replace(ATTEMPT, job_uids={})
    suspended = Seen(NOON, jobs=(made(suspended=True),))

    create = Create(ObjectKind.JOB, NAME, 2, "release", 5)
    assert jobs.commands(fresh, WANTED, Seen(NOON)) == (create,)
    assert jobs.commands(fresh, WANTED, suspended) == (create,)
    assert jobs.commands(ATTEMPT, WANTED, suspended) == (
        Create(ObjectKind.SECRET, "web-r2", 2),
        Resume(made().meta.ref),
    )
    assert jobs.commands(ATTEMPT, WANTED, Seen(NOON, jobs=(made(),))) == ()
    assert jobs.commands(ATTEMPT, WANTED, Seen(NOON)) == ()


def test_somebody_elses_job_of_this_name_is_not_resumed() -> None:
    other = Seen(NOON, jobs=(made(uid="another", suspended=True),))

    assert jobs.commands(ATTEMPT, WANTED, other) == ()


@pytest.mark.parametrize(
    ("state", "makes"),
    [
        (State.PENDING, None),
        (State.ADMITTED, None),
        (State.RELEASING, NAME),
        (State.STARTING, None),
        (State.QUALIFYING, None),
        (State.ACTIVATING, "web--seed-d5"),
        (State.DRAINING, "web--seed-d5"),
        (State.HEALTHY, None),
    ],
)
def test_the_release_command_runs_in_releasing_and_a_job_process_from_activating(
    state: State, makes: str | None
) -> None:
    attempt = replace(ATTEMPT, state=state, job_uids={})

    commands = jobs.commands(attempt, WANTED, Seen(NOON))

    assert [command.name for command in commands if isinstance(command, Create)] == (
        [makes] if makes else []
    )


def test_a_job_that_was_made_just_before_healthy_is_resumed_then() -> None:
    attempt = replace(ATTEMPT, state=State.HEALTHY, job_uids={"web--seed-d5": "u2"})
    found = Seen(NOON, jobs=(made("web--seed-d5", "u2", suspended=True),))

    assert Resume(Ref(ObjectKind.JOB, "web--seed-d5", "u2", "1")) in jobs.commands(
        attempt, WANTED, found
    )


def test_a_job_process_does_not_decide_the_state() -> None:
    play = Play()
    play.world.failing_jobs.add("web--seed-d1")
    play.deploy(http(), job())

    play.until()

    assert play.states[1][-1] is State.HEALTHY
    found = play.world.objects[ObjectKind.JOB, "web--seed-d1"]
    assert isinstance(found, JobSeen)
    assert found.failed


def test_a_job_process_runs_once_for_each_deployment() -> None:
    play = Play()
    play.deploy(job())
    play.until()
    play.deploy(job())
    play.until()

    made_jobs = [c.name for c in play.world.log if isinstance(c, Create) and c.kind.value == "Job"]
    assert made_jobs == ["web--seed-d1", "web--seed-d2"]
