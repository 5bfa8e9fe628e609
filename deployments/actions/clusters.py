"""Keep a cluster, known by the uid of its `kube-system` namespace."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from deployments import encryption
from deployments.domain.errors import Invalid
from deployments.domain.names import slug_problem
from deployments.models import Cluster, ClusterCredential, Installation
from deployments.queue import listen_to


@transaction.atomic
def add(*, slug: str, kubeconfig: str, uid: str, version: str, now: datetime) -> Cluster:
    """Store a cluster that was tried, or new credentials for one that is known.

    Raises Invalid for a name that is none, or that another cluster has.
    """
    problem = slug_problem(slug, what="A cluster's name")
    if problem is not None:
        raise Invalid.field("/slug", problem)
    known = Cluster.objects.filter(slug=slug).first()
    if known is not None and known.uid != uid:
        raise Invalid.field("/slug", f"{slug} is the name of another cluster already.")
    _check_not_known_otherwise(slug, uid)
    # What marks our objects in every cluster has to be there before the first one is looked at.
    Installation.objects.get_or_create(pk=1)
    cluster, _ = Cluster.objects.update_or_create(
        slug=slug, defaults={"uid": uid, "version": version, "heartbeat_at": now}
    )
    ClusterCredential.objects.update_or_create(
        cluster=cluster, defaults={"ciphertext": encryption.encrypt(kubeconfig)}
    )
    # A hint: the next tick says it again.
    transaction.on_commit(lambda: listen_to(cluster.pk), robust=True)
    return cluster


def _check_not_known_otherwise(slug: str, uid: str) -> None:
    other = Cluster.objects.filter(uid=uid).exclude(slug=slug).first()
    if other is not None:
        raise Invalid.field("/slug", f"This cluster is known already, as {other.slug}.")
