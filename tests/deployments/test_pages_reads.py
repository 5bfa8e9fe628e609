"""The queries of the pages: what they find, and that their number does not grow."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from deployments.domain.releases import ReleaseCommand
from deployments.domain.roles import Role
from deployments.domain.states import State
from deployments.models import Deployment, Environment, Observation, User
from deployments.reads import pages
from deployments.reads.cards import Card, Sign, Tone
from deployments.reads.clock import database_now
from deployments.reads.page_values import ProjectPage
from tests import factories
from tests.deployments import console_rows as rows
from tests.deployments.console_rows import Shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop() -> Shop:
    return rows.make_shop()


@pytest.fixture
def engineer(shop: Shop) -> User:
    return rows.make_person(shop, "engineer", Role.ENGINEER)


def now() -> datetime:
    return database_now()


def page_of(shop: Shop, role: Role = Role.ENGINEER) -> ProjectPage:
    return pages.project_page(shop.project, role=role, now=now())


def card_of(slot) -> Card:
    return pages.card(slot, role=Role.ENGINEER, now=now())


def test_a_service_that_was_never_deployed_has_a_card_and_an_empty_environment_a_place(
    shop: Shop,
) -> None:
    Environment.objects.create(project=shop.project, slug="production", namespace="p", position=1)
    rows.make_slot(shop)

    found = page_of(shop)

    assert [section.slug for section in found.environments] == ["staging", "production"]
    assert found.environments[0].cards[0].sign == Sign("Not deployed", Tone.IDLE)
    assert found.environments[0].cards[0].serving.lifecycle == "NotDeployed"
    assert found.environments[1].cards == ()


def test_a_card_says_what_moves_and_what_serves_meanwhile(shop: Shop, engineer) -> None:
    slot = rows.make_slot(shop)
    rows.make_deployment(slot, by=engineer, state=State.HEALTHY, since=timedelta(hours=1))
    rows.make_deployment(slot, by=engineer, state=State.QUALIFYING)
    rows.observe(slot, ready=3, desired=3)

    card = card_of(slot)

    assert card.sign == Sign("Deploying: Qualifying", Tone.MOVING)
    assert card.attempt is not None
    assert (card.attempt.release, card.attempt.replacing) == ("r-2", "r-1")
    assert card.serving.sign == Sign("UpdateInProgress", Tone.MOVING)
    assert card.serving.summary == "r-1 serves, 3/3"


def test_a_failed_deployment_and_a_service_that_is_well_are_two_facts(shop: Shop, engineer) -> None:
    slot = rows.make_slot(shop)
    rows.make_deployment(slot, by=engineer, state=State.HEALTHY, since=timedelta(hours=1))
    rows.make_deployment(slot, by=engineer, state=State.FAILED, blocker="image-pull")
    rows.observe(slot, ready=2, desired=2)

    card = card_of(slot)

    assert card.sign == Sign("Failed: image-pull", Tone.BAD)
    assert card.serving.sign == Sign("Ready", Tone.GOOD)


def test_a_held_deployment_reads_waiting(shop: Shop, engineer) -> None:
    slot = rows.make_slot(shop)
    rows.make_deployment(slot, by=engineer, state=State.PENDING, blocker="waiting")

    assert card_of(slot).sign == Sign("Waiting", Tone.WAITING)


def test_a_card_shows_the_one_that_still_takes_over_traffic_before_a_newer_cancelled_one(
    shop: Shop, engineer
) -> None:
    slot = rows.make_slot(shop)
    draining = rows.make_deployment(slot, by=engineer, state=State.DRAINING)
    rows.make_deployment(slot, by=engineer, state=State.CANCELLED)

    attempt = card_of(slot).attempt

    assert attempt is not None
    assert attempt.id == draining.pk


def test_a_cluster_that_is_silent_leaves_the_last_word_unconfirmed(shop: Shop, engineer) -> None:
    slot = rows.make_slot(shop)
    rows.make_deployment(slot, by=engineer, state=State.HEALTHY)
    rows.observe(slot, ready=2, desired=2)
    shop.cluster.heartbeat_at = now() - timedelta(minutes=5)
    shop.cluster.save()

    serving = card_of(slot).serving

    assert serving.sign == Sign("Ready, unconfirmed", Tone.IDLE)
    assert serving.detail == "could not reach the cluster: its agent is offline"


@pytest.mark.parametrize("services", [1, 20])
def test_a_project_page_asks_the_same_number_of_questions_for_any_number_of_services(
    shop: Shop, engineer, services: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(services):
        slot = rows.make_slot(shop, f"web{number}")
        rows.make_deployment(slot, by=engineer, state=State.HEALTHY, since=timedelta(hours=1))
        rows.make_deployment(slot, by=engineer)
        rows.observe(slot, ready=1, desired=2)

    at = now()
    with django_assert_num_queries(2):
        found = pages.project_page(shop.project, role=Role.ENGINEER, now=at)

    assert len(found.environments[0].cards) == services


def test_a_deployment_page_lists_every_stage_with_its_time_and_every_event_oldest_first(
    shop: Shop, engineer
) -> None:
    deployment = rows.make_deployment(
        rows.make_slot(shop), by=engineer, state=State.FAILED, blocker="startup"
    )

    page = pages.deployment_page(deployment, role=Role.ENGINEER, now=now())

    assert [stage.name for stage in page.attempt.stages] == [
        "Pending",
        "Admitted",
        "Starting",
        "Qualifying",
        "Activating",
        "Draining",
    ]
    assert page.attempt.stages[0].spent == timedelta(seconds=1)
    assert page.attempt.stages[2].tone is Tone.BAD
    assert [event.sign.word for event in page.events][::3] == [
        "Deploying: Pending",
        "Failed: startup",
    ]
    assert [event.by for event in page.events][:2] == ["engineer", "agent practice"]


def test_the_stage_of_a_release_command_names_the_command(shop: Shop, engineer) -> None:
    slot = rows.make_slot(shop)
    command = ReleaseCommand(("python", "manage.py", "migrate"))
    release = factories.make_release(
        slot, config=replace(factories.default_config(), release_command=command)
    )
    deployment = factories.make_deployment(slot, release=release, by=engineer)

    page = pages.deployment_page(deployment, role=Role.ENGINEER, now=now())

    assert [row.command for row in page.attempt.stages if row.name == "Release command"] == [
        "python manage.py migrate"
    ]


def test_a_card_names_what_somebody_scaled_by_hand(shop: Shop, engineer) -> None:
    slot = rows.make_slot(shop)
    rows.make_deployment(slot, by=engineer, state=State.HEALTHY)
    rows.observe(slot, ready=5, desired=5)
    Observation.objects.update(scaled_by_hand=["http: 5"])

    assert card_of(slot).serving.detail == "http: 5 scaled by hand"


def test_a_deployment_page_names_what_the_deployment_ended(shop: Shop, engineer) -> None:
    slot = rows.make_slot(shop)
    older = rows.make_deployment(slot, by=engineer, state=State.CANCELLED)
    newer = rows.make_deployment(slot, by=engineer)
    Deployment.objects.filter(pk=older.pk).update(superseded_by=newer)

    page = pages.deployment_page(newer, role=Role.ENGINEER, now=now())

    assert page.ended == ("r-1",)


def test_people_see_the_clusters_and_projects_of_their_organizations_only(
    shop: Shop, engineer
) -> None:
    outsider = rows.make_person(shop, "outsider", None)

    assert [row.slug for row in pages.projects(engineer)] == ["shop"]
    assert pages.projects(outsider) == ()
    assert [row.name for row in pages.clusters_page(engineer, now=now()).clusters] == ["practice"]
    assert pages.clusters_page(outsider, now=now()).clusters == ()


def test_an_administrator_sees_every_cluster_and_project(shop: Shop) -> None:
    administrator = rows.make_person(shop, "administrator", None)
    administrator.is_superuser = True

    assert [row.slug for row in pages.projects(administrator)] == ["shop"]
    row = pages.clusters_page(administrator, now=now()).clusters[0]
    assert row.environments == ("shop: staging",)
    assert row.sign == Sign("Answers", Tone.GOOD)


def test_a_deployment_that_waits_replaces_the_one_that_takes_over_just_now(
    shop: Shop, engineer
) -> None:
    slot = rows.make_slot(shop)
    rows.make_deployment(slot, by=engineer, state=State.HEALTHY, since=timedelta(hours=1))
    taking_over = rows.make_deployment(slot, by=engineer, state=State.DRAINING)
    slot.serving_release = taking_over.release
    slot.save()
    waits = rows.make_deployment(slot, by=engineer, state=State.PENDING, blocker="waiting")

    shown = pages.deployment_page(waits, role=Role.ENGINEER, now=now())

    assert shown.attempt.replaces == "r-2"


def test_a_cluster_that_cannot_be_reached_is_not_said_to_answer(shop: Shop, engineer) -> None:
    shop.cluster.heartbeat_at = now() - timedelta(seconds=20)
    shop.cluster.unreachable_since = now() - timedelta(seconds=15)
    shop.cluster.unreachable_reason = "connection refused"
    shop.cluster.save()

    row = pages.clusters_page(engineer, now=now()).clusters[0]

    assert row.sign == Sign("Does not answer", Tone.WAITING)
    assert row.detail == "connection refused"


def test_a_cluster_that_nobody_looks_at_says_so_and_what_still_works(shop: Shop, engineer) -> None:
    shop.cluster.heartbeat_at = now() - timedelta(minutes=5)
    shop.cluster.save()

    row = pages.clusters_page(engineer, now=now()).clusters[0]

    assert row.sign == Sign("Offline", Tone.BAD)
    assert row.detail == pages.NOBODY_LOOKS
