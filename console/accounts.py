"""How people get in: with a user name and a password that an administrator gave them."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class ClosedAccountAdapter(DefaultAccountAdapter):
    """Nobody signs up by themselves: whoever runs the console makes the accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
