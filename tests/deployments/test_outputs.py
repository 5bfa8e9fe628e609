"""The kept output of a deployment: stored once, and shown on its page as nothing but text."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from deployments.actions import outputs
from deployments.domain.outputs import Output, Source
from deployments.domain.roles import Role
from deployments.domain.states import State
from deployments.models import Deployment, DeploymentOutput
from deployments.reads import pages, snapshots
from deployments.reads.clock import database_now
from tests.deployments import console_rows as rows
from tests.factories import NOON, make_deployment, make_release, make_slot

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
CRASH = Source("web-1", "web", previous=True)
AFTER = Source("web-1", "web", previous=False)


# --- keeping it ---


def test_an_output_is_kept_once_and_the_newest_counts() -> None:
    deployment = make_deployment(state=State.FAILED)
    outputs.keep(deployment.pk, [Output(CRASH, "first")], now=NOON)

    outputs.keep(deployment.pk, [Output(CRASH, "second")], now=NOON + timedelta(seconds=2))

    kept = DeploymentOutput.objects.get()
    assert (kept.text, kept.at) == ("second", NOON + timedelta(seconds=2))


def test_what_was_kept_of_another_container_stays() -> None:
    deployment = make_deployment(state=State.FAILED)
    outputs.keep(deployment.pk, [Output(CRASH, "crashed"), Output(AFTER, "began")], now=NOON)

    outputs.keep(deployment.pk, [], now=NOON + timedelta(seconds=2))

    shown = DeploymentOutput.objects.values_list("previous", "text")
    assert list(shown) == [(True, "crashed"), (False, "began")]


# --- whose it is ---


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
def test_a_release_belongs_to_its_deployment_that_ended_badly(state: State) -> None:
    deployment = make_deployment(state=state)

    [snapshot] = snapshots.slots_of(deployment.slot.environment.cluster_id or 0, NOON)

    assert snapshot.wanted.ended == {deployment.pk}
    assert snapshot.wanted.ended_of == {1: deployment.pk}


def test_a_release_that_is_tried_again_belongs_to_nobody_that_ended() -> None:
    slot = make_slot()
    release = make_release(slot)
    ended = make_deployment(slot, state=State.FAILED, release=release)
    make_deployment(slot, state=State.STARTING, release=release)

    [snapshot] = snapshots.slots_of(slot.environment.cluster_id or 0, NOON)

    assert snapshot.wanted.ended == {ended.pk}
    assert snapshot.wanted.ended_of == {}


# --- showing it ---


@pytest.fixture
def client() -> Client:
    return Client()


def page_of(client: Client, *found: Output, state: State = State.FAILED) -> str:
    """Return the page of a deployment of which this output is kept."""
    shop = rows.make_shop()
    engineer = rows.make_person(shop, "engineer", Role.ENGINEER)
    blocker = "startup" if state is State.FAILED else ""
    deployment = rows.make_deployment(
        rows.make_slot(shop), by=engineer, state=state, blocker=blocker
    )
    outputs.keep(deployment.pk, found, now=database_now())
    client.force_login(engineer)
    return client.get(f"/deployments/{deployment.pk}/").content.decode()


def test_the_page_shows_the_run_that_crashed_before_the_one_after_it(client: Client) -> None:
    page = page_of(client, Output(AFTER, "began again"), Output(CRASH, "no route to ledger"))

    assert page.count("<details") == 2
    assert page.index("no route to ledger") < page.index("began again")
    assert page.count(", previous run") == 2  # in its summary and in its label


def test_an_output_is_text_whatever_it_says(client: Client) -> None:
    said = '</pre><script>alert(1)</script><b hx-get="/">{{ page }}'

    page = page_of(client, Output(CRASH, said))

    assert "<script>alert(1)" not in page
    assert '<b hx-get="/">' not in page
    assert "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_failed_deployment_without_output_says_so(client: Client) -> None:
    page = page_of(client)

    assert "No container of r-1 wrote anything that could be kept." in page


def test_a_deployment_that_did_well_has_no_such_section(client: Client) -> None:
    assert 'id="output"' not in page_of(client, state=State.HEALTHY)


def test_a_page_that_is_open_is_renewed_once_the_output_is_kept(client: Client) -> None:
    page_of(client)
    deployment = Deployment.objects.get()
    before = pages.deployment_page(deployment, role=Role.VIEWER, now=NOON).seen

    outputs.keep(deployment.pk, [Output(CRASH, "no route to ledger")], now=NOON)

    assert pages.deployment_page(deployment, role=Role.VIEWER, now=NOON).seen != before


def test_the_card_of_a_failed_deployment_leads_to_its_output(client: Client) -> None:
    page_of(client, Output(CRASH, "no route to ledger"))

    card = client.get("/projects/shop/staging/web/card/", headers=HTMX).content.decode()

    assert '#output" aria-label="Output of r-1 of web">Output</a>' in card
