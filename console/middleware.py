"""Headers that every answer carries, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

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
