"""What a person reads while signing in and while changing the password."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import make_user

pytestmark = pytest.mark.django_db

PASSWORD = "tide-and-current-7"  # noqa: S105 - of a person in this test alone
NEW = "harbor-and-lamp-9"


def test_the_login_offers_no_page_that_is_closed(client: Client) -> None:
    shown = client.get("/accounts/login/").content.decode()

    assert "password/reset" not in shown
    assert "placeholder" not in shown


def test_a_wrong_password_is_refused_without_saying_which_of_the_two_is_wrong(
    client: Client,
) -> None:
    answer = client.post("/accounts/login/", {"login": "nobody", "password": "x"})

    assert "The username or the password is not right." in answer.content.decode()


def test_who_has_signed_in_is_told_nothing_but_the_page(client: Client) -> None:
    user = make_user()
    user.set_password(PASSWORD)
    user.save()

    answer = client.post(
        "/accounts/login/", {"login": user.username, "password": PASSWORD}, follow=True
    )

    assert answer.wsgi_request.user == user
    assert 'class="notice notice-done"' not in answer.content.decode()


def test_a_password_is_changed_on_a_page_of_the_console(client: Client) -> None:
    user = make_user()
    user.set_password(PASSWORD)
    user.save()
    client.force_login(user)
    wanted = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}

    form = client.get("/accounts/password/change/").content.decode()
    answer = client.post("/accounts/password/change/", wanted, follow=True)

    user.refresh_from_db()
    assert "<h1>Change your password</h1>" in form
    assert user.check_password(NEW)
    assert "Your password has changed." in answer.content.decode()
