"""Services of a project, and how they are in an environment."""

from __future__ import annotations

from django.db.models import Prefetch
from ninja import Path, Query, Router, Status

from deployments import access
from deployments.actions.services import create_service
from deployments.api import paging, schemas, shapes
from deployments.api.auth import ApiRequest
from deployments.api.environments import ENVIRONMENT
from deployments.api.requests import Page, Place, ServiceBody
from deployments.domain.roles import Deed
from deployments.models import Slot
from deployments.reads.clock import database_now
from deployments.reads.statuses import statuses_of

SERVICES = "/projects/{slug:project}/services"
SLOT = ENVIRONMENT + "/services/{slug:service}"

_WITH_ENVIRONMENTS = Prefetch("slots", Slot.objects.select_related("environment"))

router = Router(tags=["services"])


def slot_of(request: ApiRequest, place: Place, *, to: Deed = Deed.READ) -> Slot:
    """Return the slot that an address names, or raise as `access.slot_for` does."""
    return access.slot_for(request.auth, place.project, place.environment, place.service, to=to)


@router.get(SERVICES, response=schemas.Listed[schemas.ServiceItem])
def list_services(
    request: ApiRequest, project: str, page: Query[Page]
) -> schemas.Listed[schemas.ServiceItem]:
    """List the services of a project."""
    rows = access.project_for(request.auth, project).services.prefetch_related(_WITH_ENVIRONMENTS)
    return paging.listed(paging.oldest_first(rows, page), shapes.service)


@router.post(SERVICES, response={201: schemas.ServiceItem})
def add_service(
    request: ApiRequest, project: str, body: ServiceBody
) -> Status[schemas.ServiceItem]:
    """Add a service to every environment of the project, with one http process on port 8080."""
    owner = access.project_for(request.auth, project, to=Deed.ADD_SERVICES)
    made = create_service(owner.pk, slug=body.slug)
    return Status(201, shapes.service(made))


@router.get(ENVIRONMENT + "/services", response=schemas.Listed[schemas.StatusItem])
def list_statuses(
    request: ApiRequest, project: str, environment: str, page: Query[Page]
) -> schemas.Listed[schemas.StatusItem]:
    """List how the services of an environment are now."""
    found = access.environment_for(request.auth, project, environment)
    rows, following = paging.oldest_first(found.slots.all(), page)
    slots = Slot.objects.filter(pk__in=[row.pk for row in rows])
    statuses = statuses_of(slots, now=database_now())
    return schemas.Listed(items=[shapes.status(item) for item in statuses], next=following)


@router.get(SLOT, response=schemas.StatusItem)
def get_status(request: ApiRequest, place: Path[Place]) -> schemas.StatusItem:
    """Get how a service is now in an environment."""
    slot = slot_of(request, place)
    [found] = statuses_of(Slot.objects.filter(pk=slot.pk), now=database_now())
    return shapes.status(found)
