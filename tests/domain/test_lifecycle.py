"""The lifecycle table, row by row and in its order, and when a word is confirmed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.domain.lifecycle import Desired, Lifecycle, Observed, Status, derive

RUNS = Desired(generation=9, active=True)
WELL = Observed(generation=9, ready=3, desired=3)


@pytest.mark.parametrize(
    ("wanted", "seen", "word"),
    [
        pytest.param(Desired(0), None, "NotDeployed", id="1 nothing has ever been deployed"),
        pytest.param(replace(RUNS, deleted=True), WELL, "NotDeployed", id="1 deleted"),
        pytest.param(
            Desired(9), WELL, "NotDeployed", id="1 nothing is active and the last was cancelled"
        ),
        pytest.param(
            replace(RUNS, paused=True, suspended=True), WELL, "Paused", id="2 before suspended"
        ),
        pytest.param(
            replace(RUNS, paused=True),
            replace(WELL, gave_up=True),
            "Paused",
            id="2 never Failed, whatever the cluster says",
        ),
        pytest.param(replace(RUNS, paused=True), None, "Paused", id="2 before it has been seen"),
        pytest.param(replace(RUNS, suspended=True), WELL, "Suspended", id="3"),
        pytest.param(Desired(1, refused="no 9"), None, "Unavailable", id="4 the platform refuses"),
        pytest.param(RUNS, None, "UpdateInProgress", id="5 never seen"),
        pytest.param(
            RUNS, replace(WELL, generation=8), "UpdateInProgress", id="5 an older generation"
        ),
        pytest.param(
            replace(RUNS, moving=True), replace(WELL, gave_up=True), "Failed", id="6 gave up"
        ),
        pytest.param(
            Desired(9, last_failed=True), Observed(9), "Failed", id="6 nothing came of the first"
        ),
        pytest.param(
            replace(RUNS, last_failed=True), WELL, "Ready", id="6 not while another one serves"
        ),
        pytest.param(replace(RUNS, moving=True), WELL, "UpdateInProgress", id="7 moves or is held"),
        pytest.param(RUNS, replace(WELL, rolling=True), "UpdateInProgress", id="7 pods roll"),
        pytest.param(RUNS, WELL, "Ready", id="8"),
        pytest.param(RUNS, Observed(9), "Ready", id="8 of a service without instances"),
        pytest.param(RUNS, replace(WELL, ready=1), "PartiallyReady", id="9"),
        pytest.param(RUNS, replace(WELL, ready=0), "Unavailable", id="10"),
    ],
)
def test_the_first_row_that_matches_gives_the_word(
    wanted: Desired, seen: Observed | None, word: str
) -> None:
    assert derive(wanted, seen).lifecycle == word


def test_an_observation_of_this_generation_confirms() -> None:
    assert derive(RUNS, WELL) == Status(Lifecycle.READY, confirmed=True)


def test_that_nothing_was_ever_deployed_needs_no_report() -> None:
    assert derive(Desired(0), None) == Status(Lifecycle.NOT_DEPLOYED, confirmed=True)


def test_before_any_report_the_detail_says_so_in_the_words_of_the_manual() -> None:
    assert derive(RUNS, None) == Status(
        Lifecycle.UPDATE_IN_PROGRESS,
        confirmed=False,
        detail="no operator has reported on this service",
    )


@pytest.mark.parametrize(
    ("seen", "word"), [(WELL, Lifecycle.READY), (None, Lifecycle.UPDATE_IN_PROGRESS)]
)
def test_without_the_cluster_the_last_word_stands_unconfirmed(
    seen: Observed | None, word: Lifecycle
) -> None:
    assert derive(RUNS, seen, unreachable="no answer in 5 s") == Status(
        word, confirmed=False, detail="could not reach the cluster: no answer in 5 s"
    )


def test_what_the_platform_refuses_is_confirmed_without_a_cluster() -> None:
    wanted = Desired(3, refused="runtime 9 is not among 5 to 7")

    assert derive(wanted, None, unreachable="down") == Status(
        Lifecycle.UNAVAILABLE, confirmed=True, detail="runtime 9 is not among 5 to 7"
    )


def test_the_pods_own_reason_comes_before_what_the_deployment_says() -> None:
    failed = Desired(9, last_failed=True, attempt_detail="The release did not start.")

    assert derive(failed, Observed(9, detail="ImagePullBackOff")).detail == "ImagePullBackOff"
    assert derive(failed, Observed(9)).detail == "The release did not start."


def test_a_held_deployment_says_what_it_waits_for() -> None:
    held = replace(RUNS, moving=True, attempt_detail="Waiting for r-5 to stop taking traffic")

    assert derive(held, WELL).detail == "Waiting for r-5 to stop taking traffic"


_BOOLEANS = {
    name: st.booleans()
    for name in ("active", "moving", "last_failed", "paused", "suspended", "deleted")
}


@given(
    st.builds(Desired, generation=st.integers(1, 2), **_BOOLEANS),
    st.none() | st.builds(Observed, st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)),
    st.sampled_from(["", "no answer"]),
)
def test_only_an_observation_of_this_generation_is_ever_confirmed(
    wanted: Desired, seen: Observed | None, unreachable: str
) -> None:
    status = derive(wanted, seen, unreachable=unreachable)

    current = seen is not None and seen.generation == wanted.generation
    assert status.confirmed == (current and not unreachable)
    assert status.lifecycle is not Lifecycle.READY or seen is not None
