"""(person, name) → row, or 404: the only look-up for views and API.

An outsider gets the same 404 as for what does not exist; a role that is too low raises TooLow.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404

from deployments.domain.roles import Deed, Role, check_may
from deployments.models import (
    Cluster,
    Deployment,
    Environment,
    Membership,
    Organization,
    Project,
    Slot,
    User,
)

Person = User | AnonymousUser
# What pages and API say of a deployment stands in these rows: fetched with it, not one by one.
WITH_A_DEPLOYMENT = (
    "release",
    "previous_release",
    "created_by",
    "slot__service__project",
    "slot__environment__cluster",
    "slot__active_release",
    "slot__serving_release",
    "slot__observation",
)
NOT_FOUND = "There is nothing here, or you may not see it."


def projects_of(person: Person) -> QuerySet[Project]:
    """Return the projects that a person may read."""
    if not isinstance(person, User):
        return Project.objects.none()
    if person.is_superuser:
        return Project.objects.all()
    return Project.objects.filter(organization__memberships__user=person)


def organizations_of(person: Person) -> QuerySet[Organization]:
    """Return the organizations that a person may read."""
    if not isinstance(person, User):
        return Organization.objects.none()
    if person.is_superuser:
        return Organization.objects.all()
    return Organization.objects.filter(memberships__user=person)


def deployments_of(person: Person) -> QuerySet[Deployment]:
    """Return the deployments that a person may read."""
    return Deployment.objects.filter(slot__service__project__in=projects_of(person))


def clusters_of(person: Person) -> QuerySet[Cluster]:
    """Return the clusters that a person's environments stand on; administrators see all."""
    if isinstance(person, User) and person.is_superuser:
        return Cluster.objects.all()
    return Cluster.objects.filter(environments__project__in=projects_of(person)).distinct()


def role_in(person: Person, organization_id: int) -> Role | None:
    """Return a person's role in an organization at this moment, None for an outsider."""
    if not isinstance(person, User):
        return None
    if person.is_superuser:
        return Role.ADMINISTRATOR
    roles = Membership.objects.filter(user=person, organization_id=organization_id)
    value = roles.values_list("role", flat=True).first()
    return Role(value) if value is not None else None


def project_for(person: Person, project: str, *, to: Deed = Deed.READ) -> Project:
    """Return a project by its slug. Raises Http404 for an outsider, TooLow for too low a role."""
    found = projects_of(person).select_related("organization").filter(slug=project).first()
    if found is None:
        raise Http404(NOT_FOUND)
    _check(person, found.organization_id, to)
    return found


def environment_for(
    person: Person, project: str, environment: str, *, to: Deed = Deed.READ
) -> Environment:
    """Return an environment by its slugs, or raise as `project_for` does."""
    owner = project_for(person, project, to=to)
    found = owner.environments.select_related("cluster").filter(slug=environment).first()
    if found is None:
        raise Http404(NOT_FOUND)
    return found


def slot_for(
    person: Person, project: str, environment: str, service: str, *, to: Deed = Deed.READ
) -> Slot:
    """Return one service in one environment by its slugs, or raise as `project_for` does."""
    slots = Slot.objects.select_related("service__project__organization", "environment__cluster")
    found = slots.filter(
        service__project__in=projects_of(person),
        service__project__slug=project,
        environment__slug=environment,
        service__slug=service,
    ).first()
    if found is None:
        raise Http404(NOT_FOUND)
    _check(person, found.service.project.organization_id, to)
    return found


def deployment_for(person: Person, deployment_id: int, *, to: Deed = Deed.READ) -> Deployment:
    """Return a deployment by its id, or raise as `project_for` does."""
    found = (
        deployments_of(person).select_related(*WITH_A_DEPLOYMENT).filter(pk=deployment_id).first()
    )
    if found is None:
        raise Http404(NOT_FOUND)
    _check(person, found.slot.service.project.organization_id, to)
    return found


def _check(person: Person, organization_id: int, to: Deed) -> None:
    if to is Deed.READ:
        return  # Whoever is given the row may read it: `projects_of` has looked at the membership.
    role = role_in(person, organization_id)
    if role is None:
        raise Http404(NOT_FOUND)
    check_may(role, to)
