"""The clusters of the demonstration: registered as anybody's, and their namespaces made."""

from __future__ import annotations

from pathlib import Path

from deployments.actions import clusters
from deployments.actions.environments import Binding
from deployments.agent import clients, remote
from deployments.agent.cluster import CommandRefused, Unreachable
from deployments.agent.connect import Connection, connect
from deployments.agent.kubeconfig import NotUsable
from deployments.models import Cluster
from deployments.reads.clock import database_now


def register(slug: str, kubeconfig: Path) -> Cluster:
    """Return the cluster of a kubeconfig, registered under this name or the one that it has.

    Raises NotUsable with the reason.
    """
    found = connect(kubeconfig, None)
    return clusters.add(
        slug=_known_as(found) or slug,
        kubeconfig=found.kubeconfig,
        uid=found.uid,
        version=found.version,
        now=database_now(),
    )


def make_namespace(binding: Binding) -> None:
    """Make the namespace of an environment unless it is there. Raises NotUsable."""
    api = clients.api_of(binding.cluster.pk)
    try:
        if not remote.namespace_exists(api, binding.namespace):
            remote.create_namespace(api, binding.namespace)
    except (Unreachable, CommandRefused) as reason:
        raise NotUsable(
            f"The namespace {binding.namespace} could not be made in {binding.cluster}: {reason}."
        ) from reason


def _known_as(found: Connection) -> str:
    slugs = Cluster.objects.filter(uid=found.uid).values_list("slug", flat=True)
    return slugs.first() or ""
