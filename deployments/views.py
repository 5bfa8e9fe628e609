"""The console's pages about deployments: look up, do, show.

Every page answers a question of an open page (`?seen=`) with 204 where nothing has changed, and
else with the part that changes; without JavaScript it answers with the whole page.
"""

from __future__ import annotations

from typing import Protocol

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from deployments import access
from deployments.actions import start
from deployments.domain.errors import Invalid, Refused
from deployments.domain.roles import Deed, Role, may, why_not
from deployments.forms import DeployForm
from deployments.models import Project, Slot, User
from deployments.reads import offers, pages
from deployments.reads.cards import Place
from deployments.reads.clock import database_now


class ConsoleRequest(HttpRequest):
    """A request of somebody who has signed in."""

    user: User
    htmx: HtmxDetails


class Refreshed(Protocol):
    """What an open page keeps up to date."""

    @property
    def seen(self) -> str:
        """Return the fingerprint of what is shown."""


@require_safe
def project(request: ConsoleRequest, project: str) -> HttpResponse:
    """Show a project: per environment a card for each service."""
    now = timezone.now()
    found = access.project_for(request.user, project)
    page = pages.project_page(found, role=_role(request, found), now=now)
    place = Place(project, "", "")
    context = {"page": page, "place": place, "here": "project", "now": now}
    return render(request, "deployments/project.html", context)


@require_safe
def card(request: ConsoleRequest, project: str, environment: str, service: str) -> HttpResponse:
    """Answer a card that asks whether it is still right; whoever opens it goes to the service."""
    if not request.htmx:
        return redirect("deployments:service", project, environment, service)
    now = timezone.now()
    slot = access.slot_for(request.user, project, environment, service)
    shown = pages.card(slot, role=_role(request, slot.service.project), now=now)
    return _refreshed(request, "card", shown, {"card": shown, "now": now})


@require_safe
def service(request: ConsoleRequest, project: str, environment: str, service: str) -> HttpResponse:
    """Show a service in an environment: how it is, its deployments, its releases."""
    now = timezone.now()
    slot = access.slot_for(request.user, project, environment, service)
    page = pages.service_page(slot, role=_role(request, slot.service.project), now=now)
    context = {"page": page, "place": pages.place_of(slot), "now": now}
    return _refreshed(request, "service", page, context)


@require_safe
def deployment(request: ConsoleRequest, deployment_id: int) -> HttpResponse:
    """Show a deployment: its state, stages, events and release."""
    now = timezone.now()
    found = access.deployment_for(request.user, deployment_id)
    role = _role(request, found.slot.service.project)
    page = pages.deployment_page(found, role=role, now=now)
    return _refreshed(request, "deployment", page, {"page": page, "place": page.place, "now": now})


@require_safe
def clusters(request: ConsoleRequest) -> HttpResponse:
    """Show the clusters that the person's environments run on."""
    now = timezone.now()
    page = pages.clusters_page(request.user, now=now)
    return _refreshed(request, "clusters", page, {"page": page, "here": "clusters", "now": now})


@require_http_methods(["GET", "HEAD", "POST"])
def deploy(request: ConsoleRequest, project: str, environment: str, service: str) -> HttpResponse:
    """Ask what to deploy, in a page of its own or in a dialog; then deploy it."""
    slot = access.slot_for(request.user, project, environment, service)
    role = _role(request, slot.service.project)
    if not may(role, Deed.DEPLOY):
        raise PermissionDenied(why_not(role, Deed.DEPLOY))
    data = request.POST if request.method == "POST" else None
    form = DeployForm(data, repository=slot.settings.get("image_repository") or "")
    if not form.is_bound:
        return _form(request, slot, role, form)
    if not form.is_valid():
        return _form(request, slot, role, form, status=422)
    try:
        return _deploy(request, slot, form)
    except Invalid as invalid:
        form.show_problems(invalid)
        return _form(request, slot, role, form, status=422)
    except Refused as refused:
        return _form(request, slot, role, form, status=409, refusal=str(refused))


def _deploy(request: ConsoleRequest, slot: Slot, form: DeployForm) -> HttpResponse:
    """Deploy what the form says and go to the new deployment."""
    started = start.deploy(
        slot.pk,
        image=form.cleaned_data["image"],
        reason=form.cleaned_data["reason"],
        by=request.user,
        now=database_now(),
    )
    target = reverse("deployments:deployment", args=[started.deployment.pk])
    return HttpResponseClientRedirect(target) if request.htmx else redirect(target)


def _form(
    request: ConsoleRequest,
    slot: Slot,
    role: Role,
    form: DeployForm,
    *,
    status: int = 200,
    refusal: str = "",
) -> HttpResponse:
    """Show the form with what deploying would do now: a page, or the inside of the dialog."""
    now = timezone.now()
    shown = pages.card(slot, role=role, now=now)
    context = {
        "form": form,
        "refusal": refusal,
        "place": shown.place,
        "effects": offers.effects_of_a_deploy(slot, shown.serving),
        "in_dialog": bool(request.htmx),
        "now": now,
    }
    name = "_deploy_form" if request.htmx else "deploy"
    return _answer(render(request, f"deployments/{name}.html", context, status=status))


def _role(request: ConsoleRequest, project: Project) -> Role:
    """Return the role of somebody who may read this project."""
    return access.role_in(request.user, project.organization_id) or Role.VIEWER


def _refreshed(
    request: ConsoleRequest, name: str, shown: Refreshed, context: dict[str, object]
) -> HttpResponse:
    """Answer with the page; to one that is open with the part that changes, or 204: nothing new."""
    if request.htmx and request.GET.get("seen") == shown.seen:
        return HttpResponse(status=204)
    part = "_" if request.htmx else ""
    return _answer(render(request, f"deployments/{part}{name}.html", context))


def _answer(response: HttpResponse) -> HttpResponse:
    """Keep caches from giving a part of a page to somebody who wants the whole."""
    patch_vary_headers(response, ["HX-Request"])
    patch_cache_control(response, private=True, no_cache=True)
    return response
