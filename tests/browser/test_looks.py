"""Every page at 1240 and 360 px, light and dark: nothing scrolls sideways, nothing that axe finds,
nothing that the browser complains about."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import Page

from deployments.domain.states import State
from deployments.models import Deployment, Slot, User
from tests.browser.conftest import PHONE, WIDE, Open, violations
from tests.deployments import console_rows as rows
from tests.deployments.console_rows import Shop

LONG = "a-service-with-a-long-name-30x"
PAGES = {
    "project": "/projects/shop/",
    "service": "/projects/shop/staging/web/",
    "deploy": "/projects/shop/staging/web/deploy/",
    "failed": "/deployments/{}/",
    "clusters": "/clusters/",
}


@pytest.fixture
def failed(shop: Shop, slot: Slot, engineer: User) -> Deployment:
    """A shop in which something of every kind stands; returns a failed deployment."""
    rows.make_deployment(slot, by=engineer, state=State.HEALTHY, since=timedelta(hours=2))
    rows.observe(slot, ready=1, desired=2)
    message = (
        "The container web of 2 of 3 replicas exits with code 7: " + "x" * 80,
        "r-1 keeps serving.",
        "Open the runtime output.",
    )
    rows.make_deployment(rows.make_slot(shop, "api"), by=engineer, state=State.QUALIFYING)
    rows.make_deployment(
        rows.make_slot(shop, LONG),
        by=engineer,
        state=State.PENDING,
        blocker="waiting",
        message=("Waiting for r-1 to finish taking over traffic", "", ""),
    )
    rows.make_slot(shop, "mailer")
    return rows.make_deployment(
        slot, by=engineer, state=State.FAILED, blocker="startup", message=message
    )


def is_wider_than_its_window(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_and_is_accessible(
    open_as: Open,
    failed: Deployment,
    engineer: User,
    *,
    name: str,
    window: dict[str, int],
    scheme: str,
) -> None:
    address = PAGES[name].format(failed.pk)

    page = open_as(address, engineer, viewport=window, color_scheme=scheme)

    assert not is_wider_than_its_window(page)
    assert violations(page) == []


@pytest.mark.parametrize("window", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_sign_in_page_fits_its_window_and_is_accessible(
    open_as: Open, shop: Shop, window: dict[str, int]
) -> None:
    page = open_as("/accounts/login/", viewport=window)

    assert not is_wider_than_its_window(page)
    assert violations(page) == []


def test_a_pages_icons_come_from_the_site_and_are_drawn(
    open_as: Open, failed: Deployment, engineer: User
) -> None:
    page = open_as("/projects/shop/", engineer)

    shape = page.locator(".card .state .icon use").first
    assert shape.evaluate("use => use.getBoundingClientRect().width") > 0
