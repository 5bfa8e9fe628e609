"""Who calls: bearer tokens only. A session does not count here, so no page can be tricked into a
call."""

from __future__ import annotations

from django.core.exceptions import RequestDataTooBig
from django.db.models.functions import Now
from django.http import HttpRequest
from ninja.security import HttpBearer

from deployments.actions.tokens import digest_of
from deployments.api.errors import BodyTooLarge
from deployments.models import Token, User


class ApiRequest(HttpRequest):
    """A request with a valid token; `auth` is the person whose token it is."""

    auth: User


class BearerToken(HttpBearer):
    """`Authorization: Bearer plh_…`."""

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        """Return whose token this is; None for one that is unknown, expired or a leaver's."""
        found = (
            Token.objects.select_related("user")
            .filter(digest=digest_of(token), expires_at__gt=Now(), user__is_active=True)
            .first()
        )
        if found is None:
            return None
        _read_body(request)
        return found.user


def _read_body(request: HttpRequest) -> None:
    """Read the body as soon as the caller is known: what reads it later takes any error for bad
    JSON."""
    try:
        _ = request.body
    except RequestDataTooBig as error:
        raise BodyTooLarge from error
