"""What the tests with Chromium share: somebody signed in on a running site, and what it must never
say: an error in its console, a violation of the content security policy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page
from pytest_django.live_server_helper import LiveServer

from deployments.domain.roles import Role
from deployments.models import Slot, User
from tests.deployments import console_rows as rows
from tests.deployments.console_rows import PASSWORD, Shop

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
WIDE = {"width": 1240, "height": 900}
PHONE = {"width": 360, "height": 780}

# Chromium and htmx note each refused request in the console, also those that a test provokes.
A_REFUSAL = re.compile(r"status of (409|422|503) |Response Status Error Code 503 ")

Open = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@pytest.fixture
def shop(transactional_db: None) -> Shop:
    return rows.make_shop()


@pytest.fixture
def engineer(shop: Shop) -> User:
    return rows.make_person(shop, "engineer", Role.ENGINEER)


@pytest.fixture
def slot(shop: Shop) -> Slot:
    return rows.make_slot(shop)


@pytest.fixture
def open_as(browser: Browser, live_server: LiveServer) -> Iterator[Open]:
    """Open an address as somebody, in a window of their own, and fail where the page complains."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not A_REFUSAL.search(message.text):
            complaints.append(message.text)

    def open_page(
        address: str,
        person: User | None = None,
        **window: Any,  # noqa: ANN401 - Playwright's own options, of many types
    ) -> Page:
        window = {"viewport": WIDE, "reduced_motion": "reduce", **window}
        context = browser.new_context(base_url=live_server.url, **window)
        contexts.append(context)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if person is not None:
            sign_in(page, person)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def sign_in(page: Page, person: User) -> None:
    """Sign in through the form, as a person does."""
    page.goto("/accounts/login/")
    page.get_by_label("Username").fill(person.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/accounts/login/" not in url)


def violations(page: Page) -> list[str]:
    """Return what axe-core finds wrong with a page, one line for each rule."""
    # Evaluated from outside the page: its content security policy forbids a script tag.
    page.evaluate(AXE.read_text())
    found = page.evaluate("async () => (await axe.run()).violations")
    return [f"{rule['id']}: {[node['target'] for node in rule['nodes']]}" for rule in found]
