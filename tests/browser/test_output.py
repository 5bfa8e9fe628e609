"""The kept output on the page of a failed deployment: it scrolls inside itself, and stays as open
as a person left it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from deployments.actions import outputs
from deployments.domain.outputs import Output, Source
from deployments.domain.states import State
from deployments.models import Deployment, Slot, User
from deployments.reads.clock import database_now
from tests.browser.conftest import PHONE, WIDE, Open, violations
from tests.deployments import console_rows as rows

CRASH = "sample serve 1 begins\n" + "x" * 500 + "\n" + "alive\n" * 200 + "no route to ledger\n"
LIVE = 25_000  # milliseconds within which a settled page has asked again


@pytest.fixture
def failed(slot: Slot, engineer: User) -> Deployment:
    """A failed deployment of which two runs of a container are kept."""
    message = ("The container web of 2 of 3 replicas exits with code 7.", "r-1 keeps serving.", "")
    made = rows.make_deployment(
        slot, by=engineer, state=State.FAILED, blocker="startup", message=message
    )
    found = [
        Output(Source("web--http-r1-5f5f559c49-5qb9d", "http", previous=True), CRASH),
        Output(Source("web--http-r1-5f5f559c49-5qb9d", "http", previous=False), "begins\n"),
    ]
    outputs.keep(made.pk, found, now=database_now())
    return made


def scrolls_inside_itself(page: Page) -> bool:
    box = page.locator(".output-end").first
    wide = bool(box.evaluate("box => box.scrollWidth > box.clientWidth"))
    high = bool(box.evaluate("box => box.scrollHeight > box.clientHeight"))
    return wide and high


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_long_output_scrolls_inside_itself_and_is_accessible(
    open_as: Open, failed: Deployment, engineer: User, window: dict[str, int], scheme: str
) -> None:
    address = f"/deployments/{failed.pk}/"

    page = open_as(address, engineer, viewport=window, color_scheme=scheme)

    assert scrolls_inside_itself(page)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert violations(page) == []


def test_what_is_seen_first_is_the_end(open_as: Open, failed: Deployment, engineer: User) -> None:
    page = open_as(f"/deployments/{failed.pk}/", engineer)

    box = page.locator(".output-end").first
    shown = box.evaluate(
        "box => box.firstElementChild.getBoundingClientRect().bottom"
        " <= box.getBoundingClientRect().bottom"
    )
    assert shown


def test_the_card_leads_to_the_output(open_as: Open, failed: Deployment, engineer: User) -> None:
    page = open_as("/projects/shop/", engineer)

    page.get_by_role("link", name="Output of r-1 of web").click()

    expect(page.get_by_role("heading", name="Output")).to_be_in_viewport()
    expect(page.locator(".output pre").first).to_contain_text("no route to ledger")


def test_what_a_person_opened_and_closed_stays_so_when_the_page_is_renewed(
    open_as: Open, failed: Deployment, engineer: User
) -> None:
    page = open_as(f"/deployments/{failed.pk}/", engineer)
    first, second = page.locator(".output").nth(0), page.locator(".output").nth(1)
    first.locator("summary").click()
    second.locator("summary").click()

    Deployment.objects.update(what="Something else is known now.")

    expect(page.locator(".panel")).to_contain_text("Something else is known now.", timeout=LIVE)
    expect(first.locator("pre")).to_be_hidden()
    expect(second.locator("pre")).to_be_visible()
