"""Deployments: starting one, and reading them with their events, and a service's releases."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet
from ninja import Path, Query, Router, Status

from deployments import access
from deployments.actions import start
from deployments.api import paging, schemas, shapes
from deployments.api.auth import ApiRequest
from deployments.api.requests import DeployBody, DeploymentFilter, Page, Place
from deployments.api.services import SLOT, slot_of
from deployments.domain.roles import Deed
from deployments.domain.states import FINAL, MOVING, State, is_held
from deployments.models import Deployment
from deployments.reads.clock import database_now

router = Router(tags=["deployments"])


@router.post(SLOT + "/deploy", response={201: schemas.StartedItem})
def deploy(
    request: ApiRequest, place: Path[Place], body: DeployBody
) -> Status[schemas.StartedItem]:
    """Deploy an image. The answer lists the deployments that this one ended."""
    slot = slot_of(request, place, to=Deed.DEPLOY)
    started = start.deploy(
        slot.pk, image=body.image, reason=body.reason, by=request.auth, now=database_now()
    )
    by_id = {row.pk: row for row in _rows(request, [started.deployment.pk, *started.ended])}
    made = by_id.pop(started.deployment.pk)
    answer = schemas.StartedItem(
        deployment=_one(request, made),
        ended=[_one(request, by_id[ended]) for ended in started.ended],
    )
    return Status(201, answer)


@router.get("/deployments", response=schemas.Listed[schemas.DeploymentItem])
def list_deployments(
    request: ApiRequest, filters: Query[DeploymentFilter]
) -> schemas.Listed[schemas.DeploymentItem]:
    """List deployments, the newest first. `since` counts from when they were created."""
    rows = access.deployments_of(request.auth).filter(**filters.lookups())
    return _listed(request, paging.newest_first(_whole(rows), filters))


@router.get(SLOT + "/history", response=schemas.Listed[schemas.DeploymentItem])
def history(
    request: ApiRequest, place: Path[Place], page: Query[Page]
) -> schemas.Listed[schemas.DeploymentItem]:
    """List the deployments of a service in an environment, the newest first."""
    slot = slot_of(request, place)
    return _listed(request, paging.newest_first(_whole(slot.deployments.all()), page))


@router.get("/deployments/{int:deployment_id}", response=schemas.DeploymentItem)
def get_deployment(request: ApiRequest, deployment_id: int) -> schemas.DeploymentItem:
    """Get one deployment."""
    return _one(request, access.deployment_for(request.auth, deployment_id))


@router.get(
    "/deployments/{int:deployment_id}/events",
    response=schemas.Listed[schemas.EventItem],
    by_alias=True,
)
def list_events(
    request: ApiRequest, deployment_id: int, page: Query[Page]
) -> schemas.Listed[schemas.EventItem]:
    """List every move and every change of the blocker, the oldest first."""
    found = access.deployment_for(request.auth, deployment_id)
    return paging.listed(paging.oldest_first(found.events.all(), page, key="number"), shapes.event)


@router.get("/deployments/{int:deployment_id}/output", response=schemas.Listed[schemas.OutputItem])
def list_output(
    request: ApiRequest, deployment_id: int, page: Query[Page]
) -> schemas.Listed[schemas.OutputItem]:
    """List the kept end of what the containers of a deployment that ended badly wrote."""
    found = access.deployment_for(request.auth, deployment_id)
    return paging.listed(paging.oldest_first(found.outputs.all(), page, key="pk"), shapes.output)


@router.get(SLOT + "/releases", response=schemas.Listed[schemas.ReleaseItem])
def list_releases(
    request: ApiRequest, place: Path[Place], page: Query[Page]
) -> schemas.Listed[schemas.ReleaseItem]:
    """List the releases of a service in an environment, the newest first."""
    slot = slot_of(request, place)
    open_ones = slot.deployments.exclude(state__in=FINAL)
    deploying = set(open_ones.values_list("release_id", flat=True))
    return paging.listed(
        paging.newest_first(slot.releases.all(), page, key="number"),
        lambda row: shapes.release(row, slot, deploying=row.pk in deploying),
    )


def _rows(request: ApiRequest, ids: Iterable[int]) -> Iterable[Deployment]:
    return _whole(access.deployments_of(request.auth).filter(pk__in=ids))


def _whole(rows: QuerySet[Deployment]) -> QuerySet[Deployment]:
    """Fetch with each deployment what an answer says of it."""
    return rows.select_related(*access.WITH_A_DEPLOYMENT)


def _listed(
    request: ApiRequest, found: tuple[list[Deployment], str | None]
) -> schemas.Listed[schemas.DeploymentItem]:
    return paging.listed(found, lambda row: _one(request, row))


def _one(request: ApiRequest, row: Deployment) -> schemas.DeploymentItem:
    return shapes.deployment(row, request=request, waits_for=_waits_for(row))


def _waits_for(row: Deployment) -> tuple[int, ...]:
    """Return the ids of the older deployments of the slot that a held one stands behind."""
    if not is_held(State(row.state), row.blocker):
        return ()
    older = Deployment.objects.filter(slot_id=row.slot_id, pk__lt=row.pk, state__in=MOVING)
    return tuple(older.order_by("pk").values_list("pk", flat=True))
