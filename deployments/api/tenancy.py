"""Organizations and projects: reading them."""

from __future__ import annotations

from django.http import Http404
from ninja import Query, Router

from deployments import access
from deployments.api import paging, schemas, shapes
from deployments.api.auth import ApiRequest
from deployments.api.requests import Page
from deployments.domain.roles import Role
from deployments.models import Organization

router = Router(tags=["organizations and projects"])


@router.get("/organizations", response=schemas.Listed[schemas.OrganizationItem])
def list_organizations(
    request: ApiRequest, page: Query[Page]
) -> schemas.Listed[schemas.OrganizationItem]:
    """List the organizations that the caller belongs to."""
    found = paging.oldest_first(access.organizations_of(request.auth), page)
    return paging.listed(found, lambda row: _organization(request, row))


@router.get("/organizations/{slug:organization}", response=schemas.OrganizationItem)
def get_organization(request: ApiRequest, organization: str) -> schemas.OrganizationItem:
    """Get one organization."""
    found = access.organizations_of(request.auth).filter(slug=organization).first()
    if found is None:
        raise Http404(access.NOT_FOUND)
    return _organization(request, found)


@router.get("/projects", response=schemas.Listed[schemas.ProjectItem])
def list_projects(request: ApiRequest, page: Query[Page]) -> schemas.Listed[schemas.ProjectItem]:
    """List the projects that the caller may see."""
    projects = access.projects_of(request.auth).select_related("organization")
    return paging.listed(paging.oldest_first(projects, page), shapes.project)


@router.get("/projects/{slug:project}", response=schemas.ProjectItem)
def get_project(request: ApiRequest, project: str) -> schemas.ProjectItem:
    """Get one project."""
    return shapes.project(access.project_for(request.auth, project))


def _organization(request: ApiRequest, row: Organization) -> schemas.OrganizationItem:
    role = access.role_in(request.auth, row.pk) or Role.VIEWER
    return shapes.organization(row, role)
