"""Why pods do not run: which cause, and from when on it is a failure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from deployments.domain import clocks, diagnose, reconcile
from deployments.domain.blockers import Blocker
from deployments.domain.causes import CRASHES_THAT_COUNT, TABLE, Cause
from deployments.domain.observations import Container, Pod, Seen, Termination
from deployments.domain.releases import Config
from deployments.domain.states import State
from deployments.domain.step import Move
from deployments.domain.wanted import Attempt, Release, Wanted
from tests.domain.play import PLACE
from tests.domain.world import NOON, http

RELEASE = Release(2, 2, Config((http(replicas=3),)), "r/web@x", asked_for="r.example/web:9")
ATTEMPT = Attempt(5, State.STARTING, NOON, RELEASE, job_uids={"web--release-d5": "u"})
PULL = "ErrImagePull"
CLAUSE = 'exec: "/nope": stat /nope: no such file or directory'
NO_SUCH_FILE = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed:"
    f" runc create failed: unable to start container process: {CLAUSE}: unknown"
)
BACK_OFF = 'Back-off pulling image "r.example/web:9"'
NOT_FOUND = 'failed to pull and unpack image "r.example/web:9": r.example/web:9: not found'


def container(waiting: str = "", message: str = "", **more: object) -> Container:
    return replace(Container("http", waiting, message), **more)  # type: ignore[arg-type]


def pod(found: Container, name: str = "a", **more: object) -> Pod:
    made = Pod(name, name, 2, "http", containers=(found,))
    return replace(made, **more)  # type: ignore[arg-type]


def looked(*looks: tuple[float, Pod]) -> tuple[Attempt, Seen]:
    """Return the attempt after these looks, two of the same pod at most, and the last of them."""
    attempt, seen = ATTEMPT, Seen(NOON)
    for second, found in looks:
        seen = Seen(NOON + timedelta(seconds=second), pods=(found,))
        sightings = diagnose.sightings(attempt, seen)
        attempt = replace(attempt, clocks=clocks.run(attempt.clocks, sightings, seen.now))
    return attempt, seen


def lasting(found: Container, seconds: float) -> diagnose.Failure | None:
    """Return the failure, if any, after a cause was seen every 15 s for so long."""
    moments = [*range(0, int(seconds), 15), seconds]
    attempt, seen = looked(*((moment, pod(found)) for moment in moments))
    return diagnose.failure(attempt, seen, attempt.clocks)


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        (container("InvalidImageName", "couldn't parse"), Cause.IMAGE_INVALID),
        (container("ErrImageNeverPull", "not present"), Cause.IMAGE_INVALID),
        (container(PULL, NOT_FOUND), Cause.IMAGE_REFUSED),
        (
            container("ImagePullBackOff", f"{BACK_OFF}: ErrImagePull: {NOT_FOUND}"),
            Cause.IMAGE_REFUSED,
        ),
        (container(PULL, "pull access denied"), Cause.IMAGE_REFUSED),
        (container(PULL, "no match for platform in manifest"), Cause.IMAGE_REFUSED),
        (container(PULL, "dial tcp: i/o timeout"), Cause.IMAGE_UNREACHABLE),
        (container(PULL, "429 Too Many Requests"), Cause.IMAGE_UNREACHABLE),
        (container("CreateContainerConfigError", 'secret "x" not found'), Cause.CONTAINER_REFUSED),
        (container("CrashLoopBackOff", restarts=3), Cause.CRASHING),
        (container("CrashLoopBackOff", restarts=2), None),
        (container(restarts=9, running=True), None),
        (container("ContainerCreating"), None),
        (container(), None),
    ],
)
def test_which_cause_a_container_shows(found: Container, cause: Cause | None) -> None:
    findings = diagnose.findings((pod(found),), ())

    assert [finding.cause for finding in findings] == ([cause] if cause else [])


@pytest.mark.parametrize(
    ("found", "seconds", "fails"),
    [
        (container("InvalidImageName", "x"), 0, True),
        (container(PULL, NOT_FOUND), 44.9, False),
        (container(PULL, NOT_FOUND), 45, True),
        (container(PULL, "i/o timeout"), 179.9, False),
        (container(PULL, "i/o timeout"), 180, True),
        (container("CreateContainerConfigError", "x"), 89.9, False),
        (container("CreateContainerConfigError", "x"), 90, True),
        (container("CrashLoopBackOff", restarts=CRASHES_THAT_COUNT), 0, True),
    ],
)
def test_from_when_on_a_cause_is_a_failure(
    found: Container, seconds: float, *, fails: bool
) -> None:
    failure = lasting(found, seconds)

    assert (failure is not None) is fails
    assert failure is None or failure.blocker is TABLE[failure.cause].blocker


@pytest.mark.parametrize(
    ("found", "late_enough"),
    [
        # Every near miss of a failure: the same container, of which one thing is different.
        pytest.param(container("CrashLoopBackOff", restarts=2), 600, id="one restart less"),
        pytest.param(container(restarts=3, running=True), 600, id="it runs at the moment"),
        pytest.param(container("ContainerCreating"), 600, id="it is being created"),
        pytest.param(container("PodInitializing"), 600, id="it waits for another container"),
        pytest.param(container(PULL, "503 Service Unavailable"), 179, id="the registry may return"),
        pytest.param(container(PULL, "context deadline exceeded"), 179, id="nobody answered"),
        pytest.param(container("RunContainerError", NO_SUCH_FILE), 89, id="it is tried again"),
    ],
)
def test_what_is_not_a_failure_however_close_it_comes(found: Container, late_enough: float) -> None:
    assert lasting(found, late_enough) is None


def test_a_crash_counts_once_all_the_same_when_kubelet_starts_it_again() -> None:
    ended = Termination(7, "Error", "no route to ledger\n")
    crashing = pod(container("CrashLoopBackOff", restarts=3, ended=ended))
    running = pod(container(restarts=3, running=True, ended=ended))

    for now, fails in ((running, False), (crashing, True)):
        attempt, seen = looked((0, now))
        assert (diagnose.failure(attempt, seen, attempt.clocks) is not None) is fails


@pytest.mark.parametrize(
    ("said", "clause"),
    [
        (NOT_FOUND, "not found"),
        ('failed to do request: Head "http://r/v2/": dial tcp 1.2.3.4:5: i/o timeout',
         "dial tcp 1.2.3.4:5: i/o timeout"),
        ("x509: certificate signed by unknown authority",
         "x509: certificate signed by unknown authority"),
        ("pull access denied: no such repository", "pull access denied: no such repository"),
        ("", ""),
    ],
)  # fmt: skip
def test_what_a_message_quotes_of_the_registry(said: str, clause: str) -> None:
    assert diagnose.last_clause(said) == clause


def test_a_bare_back_off_is_the_same_fact_as_the_no_before_it() -> None:
    bare = pod(container("ImagePullBackOff", BACK_OFF))
    looks = [(second, bare) for second in range(15, 50, 15)]
    attempt, seen = looked((0, pod(container(PULL, NOT_FOUND))), *looks)

    failure = diagnose.failure(attempt, seen, attempt.clocks)

    assert failure is not None
    assert failure.cause is Cause.IMAGE_REFUSED


def test_a_cause_that_went_away_begins_anew() -> None:
    attempt, seen = looked(
        (0, pod(container(PULL, NOT_FOUND))),
        (15, pod(container())),
        (30, pod(container(PULL, NOT_FOUND))),
        (46, pod(container(PULL, NOT_FOUND))),
    )

    assert diagnose.failure(attempt, seen, attempt.clocks) is None


def test_the_most_specific_cause_wins_and_its_replicas_are_counted() -> None:
    pods = (
        pod(container("CrashLoopBackOff", restarts=4), "a"),
        pod(container("InvalidImageName", "x"), "b"),
        pod(container("InvalidImageName", "x"), "c"),
    )
    seen = Seen(NOON, pods=pods)
    running = clocks.run((), diagnose.sightings(ATTEMPT, seen), NOON)

    failure = diagnose.failure(ATTEMPT, seen, running)

    assert failure is not None
    assert (failure.cause, failure.count, failure.of) == (Cause.IMAGE_INVALID, 2, 3)


@pytest.mark.parametrize(
    "silent",
    [
        pytest.param(pod(container("InvalidImageName"), release=1), id="another release's"),
        pytest.param(pod(container("InvalidImageName"), deletion_due=NOON), id="stopping"),
        pytest.param(pod(container("InvalidImageName"), phase="Failed"), id="ended"),
        pytest.param(pod(container("InvalidImageName"), job="web--nightly-1"), id="a cron job's"),
    ],
)
def test_pods_that_do_not_speak_for_the_release(silent: Pod) -> None:
    seen = Seen(NOON, pods=(silent,))

    assert list(diagnose.sightings(ATTEMPT, seen)) == []


def test_a_release_commands_pod_speaks_too() -> None:
    seen = Seen(NOON, pods=(pod(container("InvalidImageName"), job="web--release-d5"),))

    assert [sighting.cause for sighting in diagnose.sightings(ATTEMPT, seen)] == ["image-invalid"]


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (None, "does not stay running"),
        (Termination(137, "OOMKilled"), "ran out of memory"),
        (Termination(128, "StartError"), "cannot be started"),
        (Termination(128, "StartError", NO_SUCH_FILE), f"cannot be started: {CLAUSE}"),
        (Termination(127, "ContainerCannotRun", "no such file"), "cannot be started: no such file"),
        (Termination(3, "Error"), "exits with code 3"),
    ],
)
def test_how_a_container_ended(end: Termination | None, words: str) -> None:
    assert diagnose.how_it_ended(container(ended=end)) == words


@pytest.mark.parametrize(
    ("found", "blocker", "what"),
    [
        (
            container("InvalidImageName", 'Failed to apply default image tag "x": "couldn\'t": no'),
            Blocker.IMAGE_PULL,
            "1 of 3 replicas could not pull r.example/web:9: no.",
        ),
        (
            container(
                "CrashLoopBackOff", restarts=3, ended=Termination(3, "Error", "a\nno table\n")
            ),
            Blocker.STARTUP,
            "The container http of 1 of 3 replicas exits with code 3. Last words: no table.",
        ),
        (
            # What the runtime says of a command that is not there are nobody's last words.
            container(
                "CrashLoopBackOff", restarts=3, ended=Termination(128, "StartError", NO_SUCH_FILE)
            ),
            Blocker.STARTUP,
            f"The container http of 1 of 3 replicas cannot be started: {CLAUSE}.",
        ),
    ],
)
@pytest.mark.parametrize("state", [State.RELEASING, State.STARTING, State.QUALIFYING])
def test_it_fails_the_deployment_in_the_words_of_the_component(
    state: State, found: Container, blocker: Blocker, what: str
) -> None:
    attempt = replace(ATTEMPT, state=state)
    wanted = Wanted(PLACE, 1, (RELEASE,), before=attempt)

    (move,) = reconcile.decide(wanted, Seen(NOON, pods=(pod(found),))).changes

    assert isinstance(move, Move)
    assert (move.to, move.blocker, move.message.what) == (State.FAILED, blocker, what)
    assert move.message.leaves == "web is not running."
