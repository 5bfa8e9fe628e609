"""Home, and how errors look. Everything about a deployment is in `deployments/views.py`."""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from deployments.api import errors
from deployments.reads import pages
from deployments.views import ConsoleRequest

API = "/api/"
_CODES = {
    400: "malformed",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    500: "fault",
    503: "busy",
}
HOME = {"back": "/", "back_label": "Projects"}
NOT_FOUND = "There is no such page, or you are not a member of the organization that it belongs to."
NO_SUCH_METHOD = "This address does not take that method. Nothing was changed."
AT_FAULT = "This is a fault of Pilothouse, and its log says more."
WHAT_RUNS = "What is being deployed goes on. Try again; if it stays, tell whoever runs Pilothouse."


def home(request: ConsoleRequest) -> HttpResponse:
    """List the projects that the person may see, or go straight to the only one."""
    projects = pages.projects(request.user)
    if len(projects) == 1:
        return redirect("deployments:project", projects[0].slug)
    context = {"projects": projects, "here": "projects", "now": timezone.now()}
    return render(request, "home.html", context)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that could not be read."""
    return _error(request, 400, "This request could not be read", "Nothing was changed.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a person whose role is too low, with the sentence that says so."""
    return _error(request, 403, "You may not do this", str(exception) or "Nothing was changed.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that does not come from a page of this session."""
    return _error(
        request,
        403,
        "This form is out of date",
        "It was opened in another session, or cookies are off. Nothing was changed.",
        "Reload the page that it stands on, then send it again.",
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an outsider and a wrong address alike."""
    return _error(request, 404, "Nothing is here", NOT_FOUND)


def no_such_method(request: HttpRequest, *, allowed: str) -> HttpResponse:
    """Answer a request with a method that its address does not take."""
    response = _error(request, 405, "This cannot be done here", NO_SUCH_METHOD)
    response["Allow"] = allowed
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a fault of ours, without asking anything of the parts that may be broken."""
    if isinstance(sys.exception(), InterfaceError | OperationalError):
        response = _error(request, 503, "Pilothouse is busy", errors.BUSY, WHAT_RUNS)
        response["Retry-After"] = str(errors.RETRY_AFTER_SECONDS)
        return response
    return _error(request, 500, "Something broke", AT_FAULT, WHAT_RUNS)


def _error(request: HttpRequest, status: int, title: str, what: str, do: str = "") -> HttpResponse:
    """Render an error: a page of its own, or a few lines where a part of a page was asked for.

    What is refused before a call of the API is found is still answered as the API answers.
    """
    if request.path.startswith(API):
        return errors.problem(request, status, f"{title}. {what}", code=_CODES[status])
    in_a_part = getattr(request, "htmx", False)
    template = "_error.html" if in_a_part else "error.html"
    context = {"status": status, "title": title, "what": what, "do": do, **HOME}
    return render(request, template, context, status=status)
