"""The addresses of the API. Whatever is asked for under them is answered as the API answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt

from deployments.api import errors
from deployments.api.site import api

METHOD_NOT_ALLOWED = 405

View = Callable[..., HttpResponse]

app_name = "api"


def _as_the_api_answers(view: View) -> View:
    """Name each request's id, and turn what the framework refuses into a problem document.

    No session and no CSRF: a token in a header is nothing that another site's page can send.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # noqa: ANN401
        response = view(request, *args, **kwargs)
        if response.status_code == METHOD_NOT_ALLOWED:
            response = errors.no_such_method(request, response.get("Allow", ""))
        response["X-Request-Id"] = errors.request_id(request)
        response["Cache-Control"] = "no-store"
        return response

    return login_not_required(csrf_exempt(answer))


def _answering(pattern: URLPattern) -> URLPattern:
    view = _as_the_api_answers(pattern.callback)
    return URLPattern(pattern.pattern, view, pattern.default_args, pattern.name)


urlpatterns = [
    path("", _as_the_api_answers(errors.no_such_address), {"rest": ""}),
    *(_answering(pattern) for pattern in api.urls[0] if isinstance(pattern, URLPattern)),
    path("<path:rest>", _as_the_api_answers(errors.no_such_address)),
]
