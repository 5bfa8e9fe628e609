"""Make a token for somebody, so that their scripts can call the API."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.actions.tokens import create_token
from deployments.domain.errors import Invalid
from deployments.models import User
from deployments.reads.clock import database_now

USUAL_DAYS = 90


class Command(BaseCommand):
    """`python manage.py create_token USERNAME [--days N]`: the token is shown once."""

    help = "Make a token for the API. It is shown once and may what its owner may."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--days", type=int, default=USUAL_DAYS, help="how long it is valid")
        parser.add_argument("--name", default="command line", help="what it is for")

    def handle(self, *args: Any, username: str, days: int, name: str, **options: Any) -> None:  # noqa: ANN401
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise CommandError(f"There is nobody called {username} who may sign in.")
        try:
            token = create_token(user, name=name, days=days, now=database_now())
        except Invalid as invalid:
            raise CommandError(str(invalid)) from invalid
        self.stdout.write(token)
