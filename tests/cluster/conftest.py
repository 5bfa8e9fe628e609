"""The two clusters that the same tests run against, and a namespace of its own for each test."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from deployments import queue
from deployments.actions import clusters
from deployments.agent.connect import connect
from deployments.agent.manifests import Request
from deployments.agent.remote import create_namespace
from deployments.practice.cluster import PracticeCluster
from deployments.reads.clock import database_now
from tests.cluster.product import SILENT_REGISTRY, Product
from tests.cluster.target import Target, target
from tests.factories import make_environment, make_user

REAL_REGISTRY = "127.0.0.1:5000"


@pytest.fixture(scope="session")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """The practice cluster, in this process."""
    with PracticeCluster(tmp_path_factory.mktemp("practice")) as cluster:
        yield target("practice", cluster.kubeconfig_path, cluster.registry_host, cluster)


@pytest.fixture(
    params=[
        # A group for each cluster: both at once on a machine with room, neither overloaded.
        pytest.param("practice", marks=pytest.mark.xdist_group("practice")),
        pytest.param("real", marks=[pytest.mark.real_cluster, pytest.mark.xdist_group("real")]),
    ]
)
def on(request: pytest.FixtureRequest) -> Target:
    """Each of both clusters in turn: what passes on the one has to pass on the other."""
    if request.param == "practice":
        found: Target = request.getfixturevalue("practice")
        return found
    return target("real", request.getfixturevalue("real_kubeconfig"), REAL_REGISTRY)


@pytest.fixture
def namespace(on: Target) -> Iterator[str]:
    """A namespace of this test's own, removed afterwards."""
    name = f"eyes-{secrets.token_hex(4)}"
    create_namespace(on.api, name)
    yield name
    on.api.send(Request("DELETE", ("api", "v1", "namespaces", name)))


@pytest.fixture
def product(
    on: Target,
    namespace: str,
    transactional_db: None,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> Product:
    """The whole product with this cluster in it, and nobody who looks but the test."""
    settings.PILOTHOUSE_INSECURE_REGISTRIES = [on.registry, SILENT_REGISTRY]
    monkeypatch.setattr(queue, "look_now", lambda cluster_id: None)
    monkeypatch.setattr(clusters, "listen_to", lambda cluster_id: None)
    found = connect(on.kubeconfig, None)
    cluster = clusters.add(
        slug=on.name,
        kubeconfig=found.kubeconfig,
        uid=found.uid,
        version=found.version,
        now=database_now(),
    )
    environment = make_environment(cluster=cluster, namespace=namespace)
    environment.default_registry = on.registry
    environment.save()
    return Product(on, cluster.pk, environment, make_user())
