"""The command that makes a token."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from deployments.domain.roles import Role
from tests.api.client import Caller, Shop
from tests.factories import make_member


def test_the_token_that_is_shown_may_call(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    ana = make_member(shop.project.organization, Role.VIEWER, "ana")

    call_command("create_token", "ana", "--days", "1")

    token = capsys.readouterr().out.strip()
    assert Caller(ana, token).get("/projects/shop").status == 200


@pytest.mark.django_db
def test_nobody_gets_no_token() -> None:
    with pytest.raises(CommandError, match="There is nobody called nobody who may sign in"):
        call_command("create_token", "nobody")


def test_a_token_for_more_than_a_year_is_refused(shop: Shop) -> None:
    make_member(shop.project.organization, Role.VIEWER, "ana")

    with pytest.raises(CommandError, match="1 to 365 days"):
        call_command("create_token", "ana", "--days", "366")
