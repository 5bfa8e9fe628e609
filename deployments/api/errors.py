"""Problem documents (RFC 9457): every error of the API, whoever noticed it, in one shape."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError

from deployments.access import NOT_FOUND
from deployments.actions.configure import ChangedMeanwhile
from deployments.domain.errors import Invalid, Problem, Refused, TooLow

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 5
_REQUEST_ID = "api_request_id"

# One sentence whatever was wrong with a token: nobody learns which part of a guess was right.
NO_TOKEN = "This call needs a valid token: Authorization: Bearer plh_…"  # noqa: S105 - a sentence
NOT_JSON = "The body is not JSON."
FIELD_TWICE = "The body has a field twice."
TOO_LARGE = "The body is larger than 1 MiB."
NO_SUCH_METHOD = "This address does not take that method."
FAULT = "This is a fault of Pilothouse, and its log says more under this request's id."
BUSY = "Pilothouse cannot reach its database or waited too long for it. Try again."


def problem(
    request: HttpRequest,
    status: int,
    detail: str,
    *,
    code: str,
    errors: Iterable[Problem] = (),
) -> HttpResponse:
    """Return a problem document; `detail` is the sentence that a person reads."""
    document = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": request_id(request),
        "errors": [{"pointer": error.pointer, "detail": error.detail} for error in errors],
    }
    return JsonResponse(document, status=status, content_type=CONTENT_TYPE)


def request_id(request: HttpRequest) -> str:
    """Return the id of this request; it gets one when it is first asked for."""
    known: str | None = getattr(request, _REQUEST_ID, None)
    if known is None:
        known = secrets.token_hex(8)
        setattr(request, _REQUEST_ID, known)
    return known


class FieldTwice(ValueError):
    """An object of the body has two values for one field."""


class BodyTooLarge(Exception):
    """The body is larger than the site reads."""


def add_handlers(api: NinjaAPI) -> None:
    """Let every exception that the API knows become its problem document."""
    handlers: dict[type[Exception], Any] = {
        AuthenticationError: _no_token,
        BodyTooLarge: _too_large,
        ChangedMeanwhile: _changed_meanwhile,
        Exception: _fault,
        Http404: _not_found,
        HttpError: _malformed,
        InterfaceError: _busy,
        Invalid: _invalid,
        OperationalError: _busy,
        Refused: _refused,
        TooLow: _too_low,
    }
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, handler)


def no_such_address(request: HttpRequest, rest: str) -> HttpResponse:
    """Answer for an address that is no call of the API."""
    return problem(request, 404, NOT_FOUND, code="not-found")


def no_such_method(request: HttpRequest, allowed: str) -> HttpResponse:
    """Answer for a call with another method; `allowed` lists those that there are."""
    response = problem(request, 405, NO_SUCH_METHOD, code="method-not-allowed")
    response["Allow"] = allowed
    return response


def _no_token(request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
    response = problem(request, 401, NO_TOKEN, code="unauthenticated")
    response["WWW-Authenticate"] = "Bearer"
    return response


def _too_large(request: HttpRequest, _error: BodyTooLarge) -> HttpResponse:
    return problem(request, 413, TOO_LARGE, code="too-large")


def _malformed(request: HttpRequest, error: HttpError) -> HttpResponse:
    # The framework keeps what the parser raised as the cause.
    detail = FIELD_TWICE if isinstance(error.__cause__, FieldTwice) else NOT_JSON
    return problem(request, error.status_code, detail, code="malformed")


def _not_found(request: HttpRequest, _error: Http404) -> HttpResponse:
    return problem(request, 404, NOT_FOUND, code="not-found")


def _too_low(request: HttpRequest, error: TooLow) -> HttpResponse:
    return problem(request, 403, str(error), code=error.code)


def _changed_meanwhile(request: HttpRequest, error: ChangedMeanwhile) -> HttpResponse:
    return problem(request, 412, str(error), code=error.code)


def _refused(request: HttpRequest, error: Refused) -> HttpResponse:
    return problem(request, 409, str(error), code=error.code)


def _invalid(request: HttpRequest, error: Invalid) -> HttpResponse:
    return problem(request, 422, str(error), code="invalid", errors=error.problems)


def _busy(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.warning("request %s found the database busy: %s", request_id(request), error)
    response = problem(request, 503, BUSY, code="busy")
    response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _fault(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("request %s failed", request_id(request), exc_info=error)
    return problem(request, 500, FAULT, code="fault")
