"""The console's pages as a browser without JavaScript and as htmx ask for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from deployments.domain.roles import Role
from deployments.domain.states import State
from deployments.models import Deployment, Project, Slot, User
from tests.deployments import console_rows as rows
from tests.deployments.console_rows import Shop

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
SLOT = "/projects/shop/staging/web/"
SESSION_AND_USER = 2


@pytest.fixture
def shop() -> Shop:
    return rows.make_shop()


@pytest.fixture
def engineer(shop: Shop) -> User:
    return rows.make_person(shop, "engineer", Role.ENGINEER)


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    def sign_in(person: User) -> Client:
        client = Client()
        client.force_login(person)
        return client

    return sign_in


@pytest.fixture
def client(client_of: Callable[[User], Client], engineer: User) -> Client:
    return client_of(engineer)


@pytest.fixture
def slot(shop: Shop) -> Slot:
    return rows.make_slot(shop)


def test_home_goes_straight_to_the_only_project(client: Client, shop: Shop) -> None:
    response = client.get("/")

    assert (response.status_code, response.headers["Location"]) == (302, "/projects/shop/")


def test_home_lists_the_projects_where_there_are_several(client: Client, shop: Shop) -> None:
    Project.objects.create(organization=shop.project.organization, slug="ledger")

    assert b"/projects/ledger/" in client.get("/").content


def test_whoever_is_not_signed_in_is_sent_to_the_sign_in_page(shop: Shop) -> None:
    response = Client().get("/projects/shop/")

    assert response.headers["Location"] == "/accounts/login/?next=/projects/shop/"


@pytest.mark.parametrize(
    "address",
    ["/projects/shop/", SLOT, f"{SLOT}card/", f"{SLOT}deploy/", "/deployments/{}/"],
)
def test_an_outsider_gets_the_same_404_as_for_what_does_not_exist(
    shop: Shop, slot, engineer, client_of, address: str
) -> None:
    deployment = rows.make_deployment(slot, by=engineer)
    outsider = client_of(rows.make_person(shop, "outsider", None))

    forbidden = outsider.get(address.format(deployment.pk), headers=HTMX)
    missing = outsider.get("/projects/nowhere/", headers=HTMX)

    assert forbidden.status_code == missing.status_code == 404
    assert forbidden.content == missing.content


def test_a_viewer_sees_why_deploying_is_not_offered_and_may_not_do_it(
    shop: Shop, slot, client_of
) -> None:
    viewer = client_of(rows.make_person(shop, "viewer", Role.VIEWER))
    why = "Deploying needs the role engineer or above; you are viewer."

    page = viewer.get("/projects/shop/").content.decode()
    refused = viewer.post(f"{SLOT}deploy/", {"image": "sample:2"})

    assert page.count(f">{why}<") == 1
    assert f"{SLOT}deploy/" not in page
    assert refused.status_code == 403
    assert why in refused.content.decode()
    assert not Deployment.objects.exists()


def test_a_card_that_shows_what_is_still_true_is_answered_with_204(
    client: Client, slot, engineer
) -> None:
    rows.make_deployment(slot, by=engineer)
    shown = client.get(f"{SLOT}card/", headers=HTMX)
    seen = shown.content.decode().split("?seen=")[1][:16]

    again = client.get(f"{SLOT}card/?seen={seen}", headers=HTMX)
    Deployment.objects.update(what="2 of 3 replicas started")
    changed = client.get(f"{SLOT}card/?seen={seen}", headers=HTMX)

    assert (again.status_code, again.content) == (204, b"")
    assert b"2 of 3 replicas started" in changed.content
    assert b"<html" not in changed.content


def test_a_card_opened_as_a_page_leads_to_the_service(client: Client, slot) -> None:
    assert client.get(f"{SLOT}card/").headers["Location"] == SLOT


def test_a_part_and_its_page_are_kept_apart_by_caches(client: Client, slot) -> None:
    response = client.get(SLOT)

    assert "HX-Request" in response.headers["Vary"]
    assert "private" in response.headers["Cache-Control"]


def test_a_failure_says_what_happened_what_keeps_serving_and_what_to_do(
    client: Client, slot, engineer
) -> None:
    message = ("The registry has no web:9.", "r-1 keeps serving.", "Check the tag.")
    deployment = rows.make_deployment(
        slot, by=engineer, state=State.FAILED, blocker="image-pull", message=message
    )

    page = client.get(f"/deployments/{deployment.pk}/").content.decode()

    assert "Failed: image-pull" in page
    assert "<p>The registry has no web:9.</p>" in page
    assert "<strong>r-1 keeps serving.</strong>" in page
    assert "<p>Check the tag.</p>" in page
    assert "sha256:9f2c…41aa" in page


def test_text_from_a_cluster_stays_text(client: Client, slot, engineer) -> None:
    message = ("<script>alert(1)</script>", "", "")
    deployment = rows.make_deployment(slot, by=engineer, message=message)

    page = client.get(f"/deployments/{deployment.pk}/").content.decode()

    assert "<script>alert" not in page


def test_deploying_through_the_form_leads_to_the_new_deployment(client: Client, slot) -> None:
    response = client.post(f"{SLOT}deploy/", {"image": ":2", "reason": "faster cart"})

    deployment = Deployment.objects.get()
    assert response.headers["Location"] == f"/deployments/{deployment.pk}/"
    assert deployment.reason == "faster cart"
    assert deployment.release.image.endswith("shop/web:2")


def test_deploying_in_the_dialog_sends_the_page_to_the_new_deployment(client: Client, slot) -> None:
    response = client.post(f"{SLOT}deploy/", {"image": ":2", "reason": ""}, headers=HTMX)

    deployment = Deployment.objects.get()
    assert response.headers["HX-Redirect"] == f"/deployments/{deployment.pk}/"


@pytest.mark.parametrize(
    "image",
    ["", "not an image", "https://registry.example/web:1", "UPPER/case", "x" * 300, "a\x00b"],
)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "dialog"])
def test_a_bad_image_is_refused_beside_its_field_and_what_was_typed_stays(
    client: Client, slot, image: str, headers: dict[str, str]
) -> None:
    response = client.post(f"{SLOT}deploy/", {"image": image, "reason": "why"}, headers=headers)

    page = response.content.decode()
    assert response.status_code == 422
    assert 'id="id_image_error"' in page
    assert 'aria-invalid="true"' in page
    assert 'value="why"' in page
    assert not Deployment.objects.exists()


def test_a_reason_that_is_too_long_is_refused_beside_its_own_field(client: Client, slot) -> None:
    response = client.post(f"{SLOT}deploy/", {"image": ":2", "reason": "x" * 501})

    assert response.status_code == 422
    assert "A reason has at most 500 characters; this has 501." in response.content.decode()


def test_the_form_says_what_deploying_would_end_and_what_serves(
    client: Client, slot, engineer
) -> None:
    rows.make_deployment(slot, by=engineer, state=State.HEALTHY, since=timedelta(hours=1))
    rows.make_deployment(slot, by=engineer, state=State.STARTING)
    rows.observe(slot, ready=2, desired=3)

    page = client.get(f"{SLOT}deploy/").content.decode()

    assert "<strong>Ends r-2</strong>" in page
    assert "<strong>r-1 serves, 2 of 3 ready</strong>" in page


def test_a_form_without_its_token_changes_nothing(engineer, slot) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(engineer)

    response = client.post(f"{SLOT}deploy/", {"image": ":2"})

    assert response.status_code == 403
    assert "This form is out of date" in response.content.decode()
    assert not Deployment.objects.exists()


@pytest.mark.parametrize("address", ["/projects/shop/", SLOT, "/deployments/{}/", "/clusters/"])
def test_what_a_page_shows_is_never_changed_by_a_get_or_any_other_method(
    client: Client, slot, engineer, address: str
) -> None:
    deployment = rows.make_deployment(slot, by=engineer)

    assert client.get(address.format(deployment.pk)).status_code == 200
    assert client.post(address.format(deployment.pk)).status_code == 405


@pytest.mark.parametrize("services", [1, 20])
@pytest.mark.parametrize(
    "address",
    ["/projects/shop/", SLOT, f"{SLOT}card/", f"{SLOT}deploy/", "/deployments/{}/", "/clusters/"],
)
def test_a_page_asks_at_most_four_questions_beside_session_and_user(
    client: Client,
    shop: Shop,
    slot,
    engineer,
    *,
    services: int,
    address: str,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(1, services):
        rows.make_deployment(rows.make_slot(shop, f"web{number}"), by=engineer)
    for _ in range(services):
        rows.make_deployment(slot, by=engineer, state=State.CANCELLED)
    deployment = rows.make_deployment(slot, by=engineer)
    rows.observe(slot, ready=1, desired=2)

    with django_assert_max_num_queries(SESSION_AND_USER + 4):
        response = client.get(address.format(deployment.pk), headers=HTMX)

    assert response.status_code == 200


def test_the_sign_in_page_says_what_was_wrong_and_keeps_the_name(engineer) -> None:
    response = Client().post("/accounts/login/", {"login": "engineer", "password": "wrong"})

    page = response.content.decode()
    assert 'value="engineer"' in page
    assert 'role="alert"' in page


def test_a_fault_of_ours_has_a_page_that_asks_the_database_nothing(
    engineer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("deployments.reads.pages.projects", broken)
    client = Client(raise_request_exception=False)
    client.force_login(engineer)

    response = client.get("/")

    assert response.status_code == 500
    assert "Something broke" in response.content.decode()
