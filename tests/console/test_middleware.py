"""What holds for every answer: headers, and that only known people get one."""

from __future__ import annotations

import pytest
from django.test import Client

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
