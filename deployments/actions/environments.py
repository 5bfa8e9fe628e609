"""Add an environment to a project, and change where its images come from and where it runs.

Nothing here talks to a cluster: whether a namespace exists shows when something is deployed.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max

from deployments.actions.services import add_slots
from deployments.domain.environments import (
    check_new,
    default_registry_problem,
    namespace_problem,
)
from deployments.domain.errors import Invalid, Problem, Refused
from deployments.models import Cluster, Environment, Project


@dataclass(frozen=True)
class Binding:
    """One namespace of one cluster."""

    cluster: Cluster
    namespace: str


@transaction.atomic
def create_environment(
    project_id: int, *, slug: str, binding: Binding, default_registry: str = ""
) -> Environment:
    """Add an environment, with a slot for each service of the project.

    Raises Invalid with every problem, Refused where the slug or the namespace is taken.
    """
    check_new(slug=slug, namespace=binding.namespace, default_registry=default_registry)
    # A service that is added at the same time waits, or the pair would have no slot.
    project = Project.objects.select_for_update().get(pk=project_id)
    if project.environments.filter(slug=slug).exists():
        raise Refused(f"{project.slug} has an environment called {slug} already.")
    _check_free(binding)
    environment = Environment.objects.create(
        project=project,
        slug=slug,
        position=_next_position(project),
        cluster=binding.cluster,
        namespace=binding.namespace,
        default_registry=default_registry,
    )
    add_slots(list(project.services.all()), [environment])
    return environment


@transaction.atomic
def set_default_registry(environment_id: int, default_registry: str) -> Environment:
    """Set the registry of images without one; empty for none. The next deployment uses it."""
    problem = default_registry_problem(default_registry)
    if problem:
        raise Invalid.field("/default_registry", problem)
    environment = Environment.objects.select_for_update().get(pk=environment_id)
    environment.default_registry = default_registry
    environment.save(update_fields=["default_registry"])
    return environment


@transaction.atomic
def bind(environment_id: int, binding: Binding) -> Environment:
    """Bind an environment to another namespace. Refused once anything was deployed there: what
    runs in the old one would be left behind."""
    problem = namespace_problem(binding.namespace)
    if problem:
        raise Invalid(Problem("/namespace", problem))
    environment = Environment.objects.select_for_update().get(pk=environment_id)
    if (environment.cluster_id, environment.namespace) == (binding.cluster.pk, binding.namespace):
        return environment
    # Locks every slot: a deployment that starts now waits, and is seen or comes after.
    if any(slot.generation for slot in environment.slots.select_for_update().order_by("pk")):
        raise Refused(
            f"Something was deployed to {environment.slug}, so its cluster and namespace stay as"
            " they are."
        )
    _check_free(binding)
    environment.cluster, environment.namespace = binding.cluster, binding.namespace
    environment.save(update_fields=["cluster", "namespace"])
    return environment


def _check_free(binding: Binding) -> None:
    """Raise Refused where another environment has the namespace."""
    # Locks the cluster's row, so that of two who ask for one namespace the second is told so.
    cluster = Cluster.objects.select_for_update(no_key=True).get(pk=binding.cluster.pk)
    if cluster.environments.filter(namespace=binding.namespace).exists():
        raise Refused(
            f"The namespace {binding.namespace} of {cluster.slug} belongs to another environment."
        )


def _next_position(project: Project) -> int:
    highest: int | None = project.environments.aggregate(highest=Max("position"))["highest"]
    return 0 if highest is None else highest + 1
