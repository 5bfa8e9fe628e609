"""A cluster to test against, and how a kubeconfig becomes one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deployments.agent import kubeconfig
from deployments.agent.kube import KubeApi
from deployments.agent.remote import KubeCluster
from deployments.practice.cluster import PracticeCluster


@dataclass(frozen=True)
class Target:
    """A cluster to test against: `registry` is the host that has `sample:1` to `sample:6`.
    `practice` is the cluster itself where it is in this process."""

    name: str
    kubeconfig: Path
    registry: str
    api: KubeApi
    cluster: KubeCluster
    practice: PracticeCluster | None = None


def target(name: str, path: Path, registry: str, practice: PracticeCluster | None = None) -> Target:
    """Return a cluster that a kubeconfig leads to, through the agent's own client."""
    api = KubeApi(kubeconfig.read(path, None))
    return Target(name, path, registry, api, KubeCluster(api), practice)
