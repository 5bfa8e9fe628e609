"""How people get in: with a user name and a password that an administrator gave them."""

from __future__ import annotations

from typing import Never

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest


class ClosedAccountAdapter(DefaultAccountAdapter):
    """Nobody signs up by themselves: whoever runs the console makes the accounts."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": "The username or the password is not right.",
        "too_many_login_attempts": "Too many sign-ins have failed. Try again in five minutes.",
        "enter_current_password": "This is not your password now.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_safe_url(self, url: str) -> bool:
        """Whether the login may lead there; never to what is no address at all."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False


@login_not_required
def closed(request: HttpRequest) -> Never:
    """Stand before the pages of the login library that send e-mail or make accounts."""
    raise Http404
