"""Environments of a project: reading, adding, and what may be changed of them."""

from __future__ import annotations

from django.db import transaction
from ninja import Query, Router, Status

from deployments import access
from deployments.actions import environments
from deployments.api import paging, schemas, shapes
from deployments.api.auth import ApiRequest
from deployments.api.requests import EnvironmentBody, EnvironmentChange, Page
from deployments.domain.errors import Invalid
from deployments.domain.roles import Deed
from deployments.models import Cluster, Environment

ENVIRONMENTS = "/projects/{slug:project}/environments"
ENVIRONMENT = ENVIRONMENTS + "/{slug:environment}"

router = Router(tags=["environments"])


@router.get(ENVIRONMENTS, response=schemas.Listed[schemas.EnvironmentItem])
def list_environments(
    request: ApiRequest, project: str, page: Query[Page]
) -> schemas.Listed[schemas.EnvironmentItem]:
    """List the environments of a project."""
    rows = access.project_for(request.auth, project).environments.select_related("cluster")
    return paging.listed(paging.oldest_first(rows, page), shapes.environment)


@router.post(ENVIRONMENTS, response={201: schemas.EnvironmentItem})
def create_environment(
    request: ApiRequest, project: str, body: EnvironmentBody
) -> Status[schemas.EnvironmentItem]:
    """Add an environment, bound to one namespace of a cluster that the caller may see."""
    owner = access.project_for(request.auth, project, to=Deed.MANAGE_ENVIRONMENTS)
    binding = environments.Binding(_cluster(request, body.cluster), body.namespace)
    made = environments.create_environment(
        owner.pk,
        slug=body.slug,
        binding=binding,
        default_registry=body.default_registry or "",
    )
    return Status(201, shapes.environment(made))


@router.get(ENVIRONMENT, response=schemas.EnvironmentItem)
def get_environment(request: ApiRequest, project: str, environment: str) -> schemas.EnvironmentItem:
    """Get one environment."""
    return shapes.environment(access.environment_for(request.auth, project, environment))


@router.patch(ENVIRONMENT, response=schemas.EnvironmentItem)
def change_environment(
    request: ApiRequest, project: str, environment: str, body: EnvironmentChange
) -> schemas.EnvironmentItem:
    """Change the default registry, or the cluster and namespace while nothing was deployed."""
    found = access.environment_for(request.auth, project, environment, to=Deed.MANAGE_ENVIRONMENTS)
    binding = _binding(request, found, body)
    with transaction.atomic():  # all of the change or nothing of it
        if binding is not None:
            environments.bind(found.pk, binding)
        if "default_registry" in body.model_fields_set:
            environments.set_default_registry(found.pk, body.default_registry or "")
    return shapes.environment(access.environment_for(request.auth, project, environment))


def _binding(
    request: ApiRequest, found: Environment, body: EnvironmentChange
) -> environments.Binding | None:
    if body.cluster is None and body.namespace is None:
        return None
    cluster = found.cluster if body.cluster is None else _cluster(request, body.cluster)
    if cluster is None:
        raise Invalid.field("/cluster", f"{found.slug} has no cluster: name one as well.")
    return environments.Binding(cluster, body.namespace or found.namespace)


def _cluster(request: ApiRequest, slug: str) -> Cluster:
    """Return a cluster that the caller may see: its owner decides who may run there."""
    found = access.clusters_of(request.auth).filter(slug=slug).first()
    if found is None:
        raise Invalid.field("/cluster", f"There is no cluster {slug} that you may see.")
    return found
