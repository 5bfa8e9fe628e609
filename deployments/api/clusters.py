"""Clusters: reading how they are."""

from __future__ import annotations

from django.http import Http404
from ninja import Query, Router

from deployments import access
from deployments.api import paging, schemas, shapes
from deployments.api.auth import ApiRequest
from deployments.api.requests import Page
from deployments.reads.clock import database_now

router = Router(tags=["clusters"])


@router.get("/clusters", response=schemas.Listed[schemas.ClusterItem])
def list_clusters(request: ApiRequest, page: Query[Page]) -> schemas.Listed[schemas.ClusterItem]:
    """List the clusters that the caller's environments stand on; administrators see all."""
    now = database_now()
    found = paging.oldest_first(access.clusters_of(request.auth), page)
    return paging.listed(found, lambda row: shapes.cluster(row, now=now))


@router.get("/clusters/{slug:cluster}", response=schemas.ClusterItem)
def get_cluster(request: ApiRequest, cluster: str) -> schemas.ClusterItem:
    """Get one cluster."""
    found = access.clusters_of(request.auth).filter(slug=cluster).first()
    if found is None:
        raise Http404(access.NOT_FOUND)
    return shapes.cluster(found, now=database_now())
