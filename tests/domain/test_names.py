"""Every name and label of the agent's tables, to the letter."""

from __future__ import annotations

import pytest

from deployments.domain import names, object_names
from deployments.domain.names import Place
from deployments.domain.observations import ObjectKind
from deployments.domain.releases import Config, ReleaseCommand
from deployments.domain.states import State
from deployments.domain.wanted import Attempt, Release, Wanted
from tests.domain.world import NOON, cron, http, job, worker

PLACE = Place("a1b2", 7, "shop", "staging", "web", "shop-staging")
LONGEST = Place("f" * 16, 2**31, "p" * 30, "e" * 30, "s" * 30, "n" * 63)
RELEASE_NUMBER, DEPLOYMENT = 99_999_999, 2**31


def _attempt() -> tuple[Wanted, Attempt]:
    processes = (http(), worker("mail"), cron(), job())
    config = Config(processes, ReleaseCommand(("migrate",)))
    attempt = Attempt(41, State.ADMITTED, NOON, Release(1, 3, config, "r/web@x"))
    return Wanted(PLACE, 1, (attempt.release,), before=attempt), attempt


def test_every_object_of_a_deployment_has_the_name_of_the_table() -> None:
    wanted, attempt = _attempt()

    assert set(object_names.of(wanted, attempt)) == {
        (ObjectKind.DEPLOYMENT, "web--http-r3"),
        (ObjectKind.DEPLOYMENT, "web--mail-r3"),
        (ObjectKind.CRON_JOB, "web--nightly-r3"),
        (ObjectKind.JOB, "web--seed-d41"),
        (ObjectKind.JOB, "web--release-d41"),
        (ObjectKind.SERVICE, "web-r3"),
        (ObjectKind.SERVICE, "web"),
        (ObjectKind.SECRET, "web-r3"),
    }


def test_a_release_without_a_port_gets_no_service() -> None:
    wanted, _ = _attempt()
    release = Release(1, 3, Config((worker(primary=True),)), "r/web@x")

    found = object_names.of(wanted, Attempt(41, State.ADMITTED, NOON, release))

    assert set(found) == {
        (ObjectKind.SECRET, "web-r3"),
        (ObjectKind.DEPLOYMENT, "web--worker-r3"),
    }


def test_every_label_has_the_value_of_the_table() -> None:
    assert names.labels(PLACE, number=3, process="http") == {
        "app.kubernetes.io/name": "web",
        "app.kubernetes.io/instance": "web-staging",
        "app.kubernetes.io/component": "http",
        "app.kubernetes.io/part-of": "shop",
        "app.kubernetes.io/managed-by": "pilothouse",
        "app.kubernetes.io/version": "r-3",
        "pilothouse.dev/installation": "a1b2",
        "pilothouse.dev/slot": "7",
        "pilothouse.dev/release": "r-3",
        "pilothouse.dev/process": "http",
    }
    assert names.DEPLOYMENT == "pilothouse.dev/deployment"
    assert names.FENCE == "pilothouse.dev/fence"
    assert names.SUSPENDED == "pilothouse.dev/suspended"


def test_the_stable_service_carries_no_version_of_its_own() -> None:
    labels = names.labels(PLACE, number=None, process="http")

    assert "app.kubernetes.io/version" not in labels
    assert "pilothouse.dev/release" not in labels


def test_a_workload_selects_installation_slot_release_and_process() -> None:
    assert names.process_selector(PLACE, number=3, process="http") == {
        "pilothouse.dev/installation": "a1b2",
        "pilothouse.dev/slot": "7",
        "pilothouse.dev/release": "r-3",
        "pilothouse.dev/process": "http",
    }


def test_where_nothing_is_to_serve_the_selector_names_no_release_but_is_never_empty() -> None:
    assert names.stable_selector(PLACE, number=None, process="http") == {
        "pilothouse.dev/installation": "a1b2",
        "pilothouse.dev/slot": "7",
        "pilothouse.dev/release": "none",
        "pilothouse.dev/process": "http",
    }


def test_the_longest_names_and_label_values_still_fit() -> None:
    service, process = LONGEST.service, "p" * names.PROCESS_NAME_LENGTH

    assert len(names.workload_name(service, process, RELEASE_NUMBER)) <= 52
    assert len(names.job_name(service, process, DEPLOYMENT)) <= 63
    assert len(names.job_name(service, names.RELEASE_COMMAND, DEPLOYMENT)) <= 63
    assert len(names.release_service_name(service, RELEASE_NUMBER)) <= 63
    labels = names.labels(LONGEST, number=RELEASE_NUMBER, process=process)
    assert max(map(len, labels.values())) <= 63


def test_names_of_two_processes_and_services_never_meet() -> None:
    made = [
        names.workload_name("web", "http", 1),
        names.release_service_name("web", 1),
        names.stable_service_name("web"),
        names.job_name("web", "http", 1),
        names.workload_name("web-http", "a", 1),
    ]

    assert len(set(made)) == len(made)


@pytest.mark.parametrize("slug", ["a", "web", "a" * 30, "web-2", "r2", "web-r2d2", "a-1"])
def test_a_good_slug_has_no_problem(slug: str) -> None:
    assert names.slug_problem(slug, what="A slug") is None


@pytest.mark.parametrize(
    ("slug", "problem"),
    [
        ("", "1 to 30 characters; this has 0"),
        ("a" * 31, "1 to 30 characters; this has 31"),
        ("2web", "begins with a letter"),
        ("-web", "begins with a letter"),
        ("web-", "ends with a letter or digit"),
        ("Web", "consists of a-z"),
        ("wéb", "consists of a-z"),
        ("web\n", "consists of a-z"),
        ("w_b", "consists of a-z"),
        ("a--b", "no two hyphens"),
        ("web-r", "does not end in"),
        ("web-r7", "does not end in"),
        ("web-rw", "does not end in"),
        ("web-ro", "does not end in"),
    ],
)
def test_a_bad_slug_is_refused_with_its_own_sentence(slug: str, problem: str) -> None:
    found = names.slug_problem(slug, what="A slug")

    assert found is not None
    assert problem in found
    assert found.startswith("A slug")


@pytest.mark.parametrize(
    ("name", "good"), [("a" * 10, True), ("a" * 11, False), ("release", False)]
)
def test_a_process_has_a_short_name_and_is_not_called_release(name: str, *, good: bool) -> None:
    assert (names.process_name_problem(name) is None) is good


@pytest.mark.parametrize(
    ("tag", "number"),
    [("r-7", 7), ("r-0", 0), ("none", None), ("", None), ("r-", None), ("7", None), ("r-٣", None)],
)
def test_a_release_label_is_read_back(tag: str, number: int | None) -> None:
    assert names.release_number(tag) == number


def test_ours_is_what_carries_our_installation_and_slot() -> None:
    ours = names.labels(PLACE, number=3, process="http")

    assert names.is_ours(PLACE, ours)
    assert not names.is_ours(PLACE, {**ours, "pilothouse.dev/installation": "other"})
    assert not names.is_ours(PLACE, {**ours, "pilothouse.dev/slot": "8"})
    assert not names.is_ours(PLACE, {})
