"""The two clusters that the same tests run against, and a namespace of its own for each test."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from deployments.agent import kubeconfig
from deployments.agent.kube import KubeApi
from deployments.agent.manifests import Request
from deployments.agent.remote import KubeCluster, create_namespace
from deployments.practice.cluster import PracticeCluster

REAL_REGISTRY = "127.0.0.1:5000"


@dataclass(frozen=True)
class Target:
    """A cluster to test against: `registry` is the host that has `sample:1` to `sample:6`."""

    name: str
    kubeconfig: Path
    registry: str
    api: KubeApi
    cluster: KubeCluster


def target(name: str, path: Path, registry: str) -> Target:
    """Return a cluster that a kubeconfig leads to, through the agent's own client."""
    api = KubeApi(kubeconfig.read(path, None))
    return Target(name, path, registry, api, KubeCluster(api))


@pytest.fixture(scope="session")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """The practice cluster, in this process."""
    with PracticeCluster(tmp_path_factory.mktemp("practice")) as cluster:
        yield target("practice", cluster.kubeconfig_path, cluster.registry_host)


@pytest.fixture(params=["practice", pytest.param("real", marks=pytest.mark.real_cluster)])
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
