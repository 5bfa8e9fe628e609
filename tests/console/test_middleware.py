"""What holds for every answer: headers, and that only known people get one."""

from __future__ import annotations

from typing import Never

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client

from deployments.reads import pages
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_every_answer_forbids_scripts_from_elsewhere(client: Client) -> None:
    policy = client.get("/accounts/login/").headers["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy


def test_an_error_carries_the_headers_too(client: Client) -> None:
    answer = client.get("/accounts/signup/")

    assert answer.status_code == 404
    assert "Content-Security-Policy" in answer.headers
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("method", ["delete", "patch", "put"])
@pytest.mark.parametrize("path", ["/clusters/", "/accounts/logout/", "/static/pilothouse.css"])
def test_another_method_is_refused_with_a_sentence(client: Client, method: str, path: str) -> None:
    client.force_login(make_user())

    answer = getattr(client, method)(path)

    assert answer.status_code == 405
    assert "This address does not take that method." in answer.content.decode()
    assert "GET" in answer.headers["Allow"] or "POST" in answer.headers["Allow"]


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_database_that_is_away_asks_to_come_back(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    client.raise_request_exception = False
    client.force_login(make_user())

    def away(*_: object) -> Never:
        raise error("the database system is shutting down")

    monkeypatch.setattr(pages, "projects", away)

    answer = client.get("/")

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "Pilothouse cannot reach its database" in answer.content.decode()


@pytest.mark.parametrize("page", ["signup/", "password/reset/", "email/"])
def test_nobody_signs_up_or_is_sent_a_message(client: Client, page: str) -> None:
    assert client.get(f"/accounts/{page}").status_code == 404
    assert client.post(f"/accounts/{page}").status_code == 404


def test_a_stranger_is_sent_to_the_login(client: Client) -> None:
    answer = client.get("/")

    assert answer.status_code == 302
    assert answer.headers["Location"] == "/accounts/login/?next=/"


def test_a_part_of_a_page_whose_session_is_over_sends_the_whole_page_to_the_login(
    client: Client,
) -> None:
    answer = client.get(
        "/",
        headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/deployments/7/?a=b"},
    )

    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == "/accounts/login/?next=/deployments/7/"
    assert answer.content == b""


@pytest.mark.parametrize("page", ["http://[", "//[", "javascript:x", "http://h//evil.example/", ""])
def test_a_part_that_names_no_page_of_ours_goes_to_the_first_one_after_the_login(
    client: Client, page: str
) -> None:
    answer = client.get("/clusters/", headers={"HX-Request": "true", "HX-Current-URL": page})

    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == "/accounts/login/?next=/"


@pytest.mark.parametrize(
    "target", ["//evil.example", "http://evil.example", "//[", "http://[", "\\\\e"]
)
def test_the_login_leads_nowhere_else(client: Client, target: str) -> None:
    client.force_login(make_user())

    answer = client.get("/accounts/login/", {"next": target})

    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
