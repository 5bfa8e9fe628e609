"""What holds for every answer, whoever wrote it: its headers, and that it is for known people."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth import middleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from console import views

HOME = "/"
# Everything from this site, nothing inline: text from a cluster that reaches a page stays text.
FROM_HERE = ("script", "style", "img", "font", "connect", "manifest")
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; "
    + "".join(f"{kind}-src 'self'; " for kind in FROM_HERE)
    + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class ContentSecurityPolicyMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response


class NoSuchMethodMiddleware:
    """Views and static files refuse another method without a word; a person gets a sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED or _says_something(response):
            return response
        return views.no_such_method(request, allowed=response.get("Allow", ""))


def _says_something(response: HttpResponseBase) -> bool:
    return isinstance(response, HttpResponse) and bool(response.content)


class LoginRequiredMiddleware(middleware.LoginRequiredMiddleware):
    """Every view is for people who logged in, unless it opts out."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., Any],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        """Send the whole page to the login, also when only a part of it was asked for.

        A plain redirect would put the login form into a card.
        """
        refusal = super().process_view(request, view_func, view_args, view_kwargs)
        if refusal is None or request.headers.get("HX-Request") != "true":
            return refusal
        login = redirect_to_login(_shown(request), self.get_login_url(view_func))
        return HttpResponse(status=401, headers={"HX-Redirect": login.url})


def _shown(request: HttpRequest) -> str:
    """Return the path of the page that a part was asked for by; the first one's if it is none."""
    try:
        path = urlsplit(request.headers.get("HX-Current-URL", "")).path
    except ValueError:
        return HOME
    # Two slashes would lead to another site.
    return path if path.startswith("/") and not path.startswith("//") else HOME
