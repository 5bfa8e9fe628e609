"""The clusters' clients, kept from look to look with their connections."""

from __future__ import annotations

import json
from functools import lru_cache

from deployments import encryption
from deployments.agent.cluster import Cluster
from deployments.agent.kube import KubeApi
from deployments.agent.remote import KubeCluster
from deployments.models import ClusterCredential

MOST_CLUSTERS = 64


def of_cluster(cluster_id: int) -> Cluster:
    """Return the client of a cluster; a kubeconfig that was changed gets a new one."""
    return KubeCluster(api_of(cluster_id))


def api_of(cluster_id: int) -> KubeApi:
    """Return the connection to a cluster's API server."""
    ciphertext = ClusterCredential.objects.values_list("ciphertext", flat=True).get(pk=cluster_id)
    return _api(bytes(ciphertext))


@lru_cache(maxsize=MOST_CLUSTERS)
def _api(ciphertext: bytes) -> KubeApi:
    return KubeApi(json.loads(encryption.decrypt(ciphertext)))
