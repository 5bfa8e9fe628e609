"""Who may call: a valid bearer token, and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from deployments.actions.tokens import create_token
from deployments.domain.errors import Invalid
from deployments.models import Token, User
from deployments.reads.clock import database_now
from tests.api.client import STRANGER, Caller, Shop
from tests.factories import make_user

NO_TOKEN = "This call needs a valid token: Authorization: Bearer plh_…"  # noqa: S105


def test_a_valid_token_may_call(shop: Shop, viewer: Caller) -> None:
    assert viewer.get("/projects").status == 200


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer plh_wrong",
        "Bearer plh_\x7f",
        "Basic dXNlcjpwYXNz",
        "plh_x",
        "Bearer " + "a" * 5000,
    ],
)
@pytest.mark.django_db
def test_anything_else_is_answered_with_one_sentence(header: str) -> None:
    answer = STRANGER.get("/projects", Authorization=header)

    assert (answer.status, answer.detail) == (401, NO_TOKEN)
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_an_expired_token_is_no_token(viewer: Caller) -> None:
    Token.objects.update(expires_at=database_now() - timedelta(seconds=1))

    answer = viewer.get("/projects")

    assert (answer.status, answer.detail) == (401, NO_TOKEN)


def test_a_removed_token_is_no_token(viewer: Caller) -> None:
    Token.objects.all().delete()

    assert viewer.get("/projects").status == 401


def test_a_leavers_token_is_no_token(viewer: Caller) -> None:
    User.objects.update(is_active=False)

    assert viewer.get("/projects").status == 401


def test_a_session_does_not_count(viewer: Caller) -> None:
    browser = Client()
    assert viewer.user is not None
    browser.force_login(viewer.user)

    assert browser.get("/api/v1/projects").status_code == 401


def test_a_call_needs_no_csrf_token(engineer: Caller) -> None:
    response = Client(enforce_csrf_checks=True).post(
        "/api/v1/projects/shop/services",
        {"slug": "api"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {engineer.token}"},
    )

    assert response.status_code == 201


@pytest.mark.django_db
def test_only_the_hash_of_a_token_is_stored() -> None:
    token = create_token(make_user(), name="laptop", days=30, now=database_now())

    stored = Token.objects.get()
    assert token.startswith("plh_")
    assert len(token) == 47
    assert token not in repr(vars(stored))


@pytest.mark.parametrize("days", [0, -1, 366])
@pytest.mark.django_db
def test_a_token_lives_for_a_day_to_a_year(days: int) -> None:
    with pytest.raises(Invalid, match="A token lives for 1 to 365 days"):
        create_token(make_user(), name="laptop", days=days, now=database_now())
