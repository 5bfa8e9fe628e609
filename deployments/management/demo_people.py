"""The people of the demonstration, one for each role, with passwords that were made here."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import TypedDict

from django.db.models.functions import Now

from deployments.actions.tokens import create_token, digest_of
from deployments.domain.roles import Role
from deployments.models import Membership, Organization, Token, User

PASSWORD_BYTES = 9
TOKEN_DAYS = 365

PEOPLE: Mapping[str, Role] = {
    "viewer": Role.VIEWER,
    "engineer": Role.ENGINEER,
    "oncall": Role.ON_CALL,
    "owner": Role.OWNER,
    "administrator": Role.ADMINISTRATOR,
}


class Account(TypedDict):
    """How somebody signs in and calls the API."""

    username: str
    password: str
    token: str


class SomebodyElse(Exception):
    """A person of that name exists who is not of the demonstration."""


def seed_people(
    organization: Organization, known: Mapping[str, Account], *, now: datetime
) -> dict[str, Account]:
    """Make who is missing and return everybody's account.

    `known`: the accounts of an earlier run. A password is made anew only where it is not known.
    Raises SomebodyElse rather than take over a person who is not of the demonstration.
    """
    return {
        name: _account(organization, name, role, known.get(name), now)
        for name, role in PEOPLE.items()
    }


def _account(
    organization: Organization, name: str, role: Role, known: Account | None, now: datetime
) -> Account:
    user = _person(organization, name, role)
    password = known["password"] if known and user.has_usable_password() else ""
    if not password:
        password = _new_password(user)
    token = known["token"] if known else ""
    if not _is_valid(user, token):
        token = create_token(user, name="demonstration", days=TOKEN_DAYS, now=now)
    return Account(username=name, password=password, token=token)


def _person(organization: Organization, name: str, role: Role) -> User:
    administrator = role is Role.ADMINISTRATOR
    user = User.objects.filter(username=name).first()
    if user is None:
        user = User(username=name, is_superuser=administrator, is_staff=administrator)
        user.set_unusable_password()
        user.save()
        member_role = Role.OWNER if administrator else role
        Membership.objects.create(organization=organization, user=user, role=member_role.value)
    elif not organization.memberships.filter(user=user).exists():
        raise SomebodyElse(f"There is somebody called {name} who is not of the demonstration.")
    return user


def _new_password(user: User) -> str:
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    user.set_password(password)
    user.save(update_fields=["password"])
    return password


def _is_valid(user: User, token: str) -> bool:
    tokens = Token.objects.filter(user=user, expires_at__gt=Now())
    return bool(token) and tokens.filter(digest=digest_of(token)).exists()
