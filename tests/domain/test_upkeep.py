"""Which releases run, which are kept at zero and which go, with everything that they left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deployments.domain import reconcile, upkeep
from deployments.domain.commands import (
    Create,
    Delete,
    Resume,
    Scale,
    Try,
    WriteFence,
)
from deployments.domain.observations import (
    Container,
    CronJobSeen,
    JobSeen,
    Meta,
    ObjectKind,
    Pod,
    Ref,
    Seen,
    Workload,
)
from deployments.domain.releases import Config, ReleaseCommand
from deployments.domain.states import State
from deployments.domain.upkeep import Disposition
from deployments.domain.wanted import Attempt, Release, Wanted
from tests.domain.play import PLACE, Play
from tests.domain.world import NOON, cron, http, job, worker

COMMAND = ReleaseCommand(("migrate",))


def healthy(*processes: object) -> Play:
    play = Play()
    play.deploy(*processes)  # type: ignore[arg-type]
    play.until()
    return play


def asked(play: Play) -> tuple[object, ...]:
    return reconcile.decide(play.wanted, play.seen()).commands


# --- what is there ---


def test_a_healthy_slot_needs_nothing() -> None:
    play = healthy(http(), worker(), cron(), job())

    assert asked(play) == ()
    assert play.look().settled


def test_everything_is_created_without_effect_and_its_secret_before_it_runs() -> None:
    play = healthy(http(), worker(), cron(), job())
    log = play.world.log

    secret = log.index(Create(ObjectKind.SECRET, "web-r1", 1))
    brought_to_life = [i for i, c in enumerate(log) if isinstance(c, Scale | Resume)]
    made = [i for i, c in enumerate(log) if isinstance(c, Create) and c.kind.value == "Deployment"]
    assert max(made) < secret < min(brought_to_life)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (ObjectKind.DEPLOYMENT, "web--http-r1"),
        (ObjectKind.SERVICE, "web-r1"),
        (ObjectKind.SERVICE, "web"),
        (ObjectKind.CRON_JOB, "web--nightly-r1"),
    ],
)
def test_a_missing_object_of_the_active_release_is_made_again(kind: ObjectKind, name: str) -> None:
    play = healthy(http(), cron())
    play.world.remove(kind, name)

    play.until()

    assert (kind, name) in play.world.objects
    assert play.world.serves() == {1}


@pytest.mark.parametrize(
    ("said", "made"),
    [
        pytest.param('secret "web-r1" not found', True, id="the release's own is gone"),
        pytest.param('secret "other" not found', False, id="somebody else's is"),
        pytest.param("couldn't find key K in Secret ns/web-r1", False, id="a key is"),
    ],
)
def test_a_secret_is_made_again_when_a_pod_cannot_start_for_want_of_it(
    said: str, made: bool
) -> None:
    play = healthy(http())
    seen = play.seen()
    waiting = Container("web", waiting="CreateContainerConfigError", message=said)
    pods = tuple(replace(pod, containers=(waiting,)) for pod in seen.pods)

    commands = reconcile.decide(play.wanted, replace(seen, pods=pods)).commands

    assert (Create(ObjectKind.SECRET, "web-r1", 1) in commands) is made


def test_what_somebody_scaled_by_hand_stays_and_is_named() -> None:
    play = healthy(http(replicas=2))
    play.world.scale_by_hand("web--http-r1", 5)
    play.world.wait(10)
    play.world.wait(10)

    step = play.look()

    assert step.commands == ()
    assert (step.report.ready, step.report.desired) == (5, 5)
    assert step.report.scaled_by_hand == ("http: 5",)


def test_zero_by_hand_is_undone() -> None:
    play = healthy(http(replicas=2))
    play.world.scale_by_hand("web--http-r1", 0)

    play.until()

    found = play.world.objects[ObjectKind.DEPLOYMENT, "web--http-r1"]
    assert isinstance(found, Workload)
    assert found.replicas == 2


def test_an_object_that_is_being_deleted_is_waited_for() -> None:
    play = healthy()
    key = (ObjectKind.DEPLOYMENT, "web--http-r1")
    found = play.world.objects[key]
    play.world.objects[key] = replace(found, meta=replace(found.meta, deleting=True))

    assert asked(play) == ()


# --- retired and ended releases ---


def test_a_retired_release_is_kept_at_zero_with_its_service_and_its_cronjob_suspended() -> None:
    play = healthy(http(), cron())
    play.deploy(http(), cron())
    play.until()

    old = play.world.objects[ObjectKind.DEPLOYMENT, "web--http-r1"]
    nightly = play.world.objects[ObjectKind.CRON_JOB, "web--nightly-r1"]
    assert isinstance(old, Workload)
    assert isinstance(nightly, CronJobSeen)
    assert (old.replicas, nightly.suspended) == (0, True)
    assert play.world.names() >= {"web-r1", "Secret web-r1"}
    assert play.world.running() == {2}


@pytest.mark.parametrize("processes", [(http(), cron()), (worker(primary=True),), (job(),)])
def test_three_retired_releases_stay_and_of_an_older_one_nothing_does(
    processes: tuple[object, ...],
) -> None:
    play = healthy(*processes)
    for _ in range(4):
        play.deploy(*processes)  # type: ignore[arg-type]
        play.until()

    assert not [name for name in play.world.names() if name.endswith(("-r1", "-d1"))]
    assert {number for number in range(1, 6) if play.wanted.release(number)} == {2, 3, 4, 5}


def test_a_superseded_deployment_leaves_nothing_behind() -> None:
    play = healthy()
    play.deploy(http(), worker(), cron(), command=COMMAND)
    play.until_state(State.QUALIFYING)
    play.deploy()

    play.until()

    assert play.states[2][-1] is State.SUPERSEDED
    assert play.states[3][-1] is State.HEALTHY
    left = [name for name in play.world.names() if name.endswith(("-r2", "-d2"))]
    assert left == []


def test_what_fails_before_the_point_of_no_return_goes_and_the_active_release_serves_on() -> None:
    play = healthy()
    play.world.never_ready.add(2)
    play.deploy(http(), worker())

    play.until()

    assert play.states[2][-2:] == [State.QUALIFYING, State.FAILED]
    assert play.world.serves() == {1}
    assert play.world.names() == {"web", "web-r1", "web--http-r1", "Secret web-r1"}


def test_a_running_release_command_of_a_superseded_deployment_is_deleted_at_once() -> None:
    play = healthy()
    play.deploy(http(), command=COMMAND)
    while not any(pod.job for pod in play.world.pods.values()):
        play.look()
        play.world.wait()
    play.deploy()

    step = play.look()

    deleted = {c.ref.name for c in step.commands if isinstance(c, Delete)}
    assert deleted == {"web--release-d2", "web-r2"}


def test_finished_jobs_go_when_the_next_deployment_is_healthy() -> None:
    play = healthy(http(), job())
    assert "web--seed-d1" in play.world.names()
    play.deploy(http(), command=COMMAND)
    play.until_state(State.DRAINING)
    assert "web--seed-d1" in play.world.names()

    play.until()

    assert "web--seed-d1" not in play.world.names()
    assert "web--release-d2" in play.world.names()


def test_a_job_that_still_runs_of_a_healthy_deployment_is_left_alone() -> None:
    play = healthy(http(), job())
    name = (ObjectKind.JOB, "web--seed-d1")
    found = play.world.objects[name]
    assert isinstance(found, JobSeen)
    play.world.objects[name] = replace(found, succeeded=False)

    assert asked(play) == ()


def test_pods_stop_only_once_the_fence_has_been_read_back() -> None:
    play = healthy()
    play.deploy()
    play.until_state(State.QUALIFYING)
    play.deploy()

    first = play.look()
    play.world.wait()
    second = play.look()

    assert any(isinstance(c, WriteFence) for c in first.commands)
    assert not any(
        isinstance(c, Delete) and c.ref.kind.value == "Deployment" for c in first.commands
    )
    assert any(isinstance(c, Delete) and c.ref.name == "web--http-r2" for c in second.commands)


# --- cron jobs ---


def test_a_cronjob_is_tried_in_starting_and_made_in_activating() -> None:
    play = Play()
    play.deploy(http(), cron())
    play.until_state(State.STARTING)
    made = Create(ObjectKind.CRON_JOB, "web--nightly-r1", 1, "nightly")

    assert Try(made) in asked(play)
    play.until_state(State.ACTIVATING)
    assert made not in play.world.log
    assert made in asked(play)


def test_cronjobs_change_places_at_activating_and_back_when_traffic_goes_back() -> None:
    play = healthy(http(), cron())
    play.deploy(http(), cron())
    play.until_state(State.DRAINING)
    assert _suspended(play, 1)
    assert not _suspended(play, 2)

    play.cancel()
    play.until()

    assert not _suspended(play, 1)
    assert "web--nightly-r2" not in play.world.names()


def test_a_cronjob_that_a_person_suspended_is_not_resumed() -> None:
    play = healthy(http(), cron())
    key = (ObjectKind.CRON_JOB, "web--nightly-r1")
    found = play.world.objects[key]
    assert isinstance(found, CronJobSeen)
    play.world.objects[key] = replace(found, suspended=True)

    assert asked(play) == ()


def test_a_rollback_makes_its_cronjobs_anew() -> None:
    play = healthy(http(), cron())
    first = play.wanted.active
    assert first is not None
    play.deploy(http(), cron())
    play.until()
    before = play.world.objects[ObjectKind.CRON_JOB, "web--nightly-r1"].meta.ref.uid
    play.go_ahead(first)

    play.until()

    assert play.world.objects[ObjectKind.CRON_JOB, "web--nightly-r1"].meta.ref.uid != before
    assert not _suspended(play, 1)
    assert _suspended(play, 2)
    assert play.world.running() == {1}


def _suspended(play: Play, number: int) -> bool:
    found = play.world.objects[ObjectKind.CRON_JOB, f"web--nightly-r{number}"]
    assert isinstance(found, CronJobSeen)
    return found.suspended


# --- rules ---


def test_a_once_healthy_release_is_never_deleted_with_a_failed_attempt_to_return_to_it() -> None:
    play = healthy()
    first = play.wanted.active
    assert first is not None
    play.deploy()
    play.until()
    play.world.never_ready.add(1)
    play.go_ahead(first)

    play.until()

    assert play.states[3][-1] is State.FAILED
    assert play.world.names() >= {"web--http-r1", "web-r1", "Secret web-r1"}
    assert play.world.running() == {2}


def test_what_nobody_knows_goes_and_what_runs_stays() -> None:
    wanted = healthy().wanted

    assert upkeep.disposition(1, wanted, frozenset({1})) is Disposition.RUN
    assert upkeep.disposition(1, wanted, frozenset()) is Disposition.STOP
    assert upkeep.disposition(99, wanted, frozenset()) is Disposition.GO
    assert upkeep.disposition(None, wanted, frozenset()) is Disposition.GO


@pytest.mark.parametrize(
    ("pod", "left"),
    [
        (Pod("a", "a", 2, "http"), True),
        (Pod("a", "a", 2, "http", phase="Failed"), False),
        (Pod("a", "a", 1, "http"), False),
        (Pod("a", "a", 2, "seed", job="web--seed-d2"), False),
    ],
)
def test_pods_of_an_ended_deployment_are_in_the_way_those_of_the_active_release_are_not(
    pod: Pod, *, left: bool
) -> None:
    play = healthy()
    seen = replace(play.seen(), pods=(pod,))

    assert upkeep.leftovers(play.wanted, seen, frozenset()) is left


def test_a_deployment_waits_in_admitted_until_what_ended_is_gone() -> None:
    play = healthy()
    play.deploy()
    play.until_state(State.QUALIFYING)
    play.deploy()

    play.until_state(State.ADMITTED)

    assert play.world.running() >= {2}
    play.until()
    assert play.states[3][-1] is State.HEALTHY


def test_a_foreign_annotation_is_no_fence() -> None:
    ref = healthy().world.objects[ObjectKind.SERVICE, "web"].meta.ref

    assert Meta(ref, annotations={"pilothouse.dev/fence": "\N{SUPERSCRIPT THREE}"}).fence is None
    assert Meta(ref, annotations={"pilothouse.dev/fence": "3"}).fence == 3
    assert Meta(ref).fence is None


def test_the_secret_of_a_release_command_stays_when_an_older_job_of_its_release_goes() -> None:
    release = Release(9, 9, Config((http(),), COMMAND), "r/web@x")
    attempt = Attempt(12, State.RELEASING, NOON, release)
    wanted = Wanted(PLACE, 1, (release,), before=attempt, last_healthy=11)
    labels = {"pilothouse.dev/release": "r-9", "pilothouse.dev/deployment": "10"}
    meta = Meta(Ref(ObjectKind.JOB, "web--release-d10", "u", "1"), labels)

    found = upkeep.commands(wanted, Seen(NOON, jobs=(JobSeen(meta, succeeded=True),)))

    assert [command for command in found if isinstance(command, Delete)] == [Delete(meta.ref)]
