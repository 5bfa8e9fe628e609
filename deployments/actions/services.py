"""Add a service to a project: it gets a slot in each of its environments."""

from __future__ import annotations

from django.db import transaction

from deployments.domain.errors import Invalid, Refused
from deployments.domain.names import slug_problem
from deployments.domain.settings import default_settings
from deployments.models import Environment, Project, Service, Slot


@transaction.atomic
def create_service(project_id: int, *, slug: str) -> Service:
    """Add a service with the settings of a new one in each environment.

    Raises Invalid for a slug against the rule, Refused where the project has one of that name.
    """
    check_slug(slug)
    # An environment that is added at the same time waits, or the pair would have no slot.
    project = Project.objects.select_for_update().get(pk=project_id)
    if project.services.filter(slug=slug).exists():
        raise Refused(f"{project.slug} has a service called {slug} already.")
    service = Service.objects.create(project=project, slug=slug)
    add_slots([service], list(project.environments.all()))
    return service


def check_slug(slug: str) -> None:
    """Raise Invalid unless a service may be called this."""
    problem = slug_problem(slug, what="A service's slug")
    if problem:
        raise Invalid.field("/slug", problem)


def add_slots(services: list[Service], environments: list[Environment]) -> None:
    """Make the slot of each pair, with the settings of a new service."""
    Slot.objects.bulk_create(
        Slot(service=service, environment=environment, settings=default_settings())
        for service in services
        for environment in environments
    )
