"""Make tokens for the API. Only a token's hash is stored: it is shown once."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from deployments.domain.errors import Invalid
from deployments.models import Token, User

PREFIX = "plh_"
BYTES = 32
LONGEST_DAYS = 365


def create_token(user: User, *, name: str, days: int, now: datetime) -> str:
    """Return a new token of this person. Raises Invalid unless it lives for 1 to 365 days."""
    if not 1 <= days <= LONGEST_DAYS:
        raise Invalid.field("/days", f"A token lives for 1 to {LONGEST_DAYS} days; this is {days}.")
    token = PREFIX + secrets.token_urlsafe(BYTES)
    Token.objects.create(
        user=user,
        name=name,
        digest=digest_of(token),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return token


def digest_of(token: str) -> str:
    """Return what a token is looked up by. 32 random bytes need no slow hash."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
