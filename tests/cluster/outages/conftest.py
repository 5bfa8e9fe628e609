"""Clusters that a test may break: a practice cluster of its own, or the real one, alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployments.practice.cluster import PracticeCluster
from tests.cluster.conftest import REAL_REGISTRY
from tests.cluster.outages.parts import Parts, PracticeParts, RealParts
from tests.cluster.target import Target, target

NO_TOOL = "PILOTHOUSE_TEST_CLUSTER_TOOL names no program that stops parts of the real cluster"


@pytest.fixture
def breakable(tmp_path: Path) -> Iterator[PracticeCluster]:
    """A practice cluster of this test's own."""
    with PracticeCluster(tmp_path / "practice") as cluster:
        yield cluster


@pytest.fixture(
    params=[
        pytest.param("practice", marks=pytest.mark.xdist_group("practice")),
        pytest.param(
            "real",
            # Alone: whoever else uses the cluster would see the outage too.
            marks=[pytest.mark.real_cluster, pytest.mark.outage, pytest.mark.xdist_group("real")],
        ),
    ]
)
def on(request: pytest.FixtureRequest) -> Target:
    """Each of both clusters in turn."""
    if request.param == "practice":
        own: PracticeCluster = request.getfixturevalue("breakable")
        return target("practice", own.kubeconfig_path, own.registry_host, own)
    if "PILOTHOUSE_TEST_CLUSTER_TOOL" not in os.environ:
        pytest.skip(NO_TOOL)
    return target("real", request.getfixturevalue("real_kubeconfig"), REAL_REGISTRY)


@pytest.fixture
def parts(on: Target) -> Parts:
    """What can be stopped of the cluster."""
    if on.practice is not None:
        return PracticeParts(on.practice)
    return RealParts(Path(os.environ["PILOTHOUSE_TEST_CLUSTER_TOOL"]))
