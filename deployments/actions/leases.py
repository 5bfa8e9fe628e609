"""One look per cluster at a time: a lease in the database, and the cluster's heartbeat."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.db.models import Q

from deployments.models import Cluster
from deployments.reads.clock import database_now

LEASE = timedelta(seconds=40)
LONGEST_REASON = 300


def take_lease(cluster_id: int, *, now: datetime) -> str | None:
    """Take the lease of a cluster and return its token, None while another look holds it."""
    token = secrets.token_hex(8)
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    taken = Cluster.objects.filter(free, pk=cluster_id).update(
        lease_token=token, lease_until=now + LEASE
    )
    return token if taken else None


def holds_lease(cluster_id: int, token: str) -> bool:
    """Whether this look's lease still runs, by the database's clock."""
    held = Cluster.objects.filter(pk=cluster_id, lease_token=token)
    return held.filter(lease_until__gt=database_now()).exists()


def give_lease_back(cluster_id: int, token: str) -> None:
    """Let the next look begin; one whose lease is over changes nothing."""
    Cluster.objects.filter(pk=cluster_id, lease_token=token).update(
        lease_token="", lease_until=None
    )


def answered(cluster_id: int, *, now: datetime) -> None:
    """Write the heartbeat: this cluster's API server answered a look."""
    Cluster.objects.filter(pk=cluster_id).update(
        heartbeat_at=now, looked_at=now, unreachable_since=None, unreachable_reason=""
    )


def silent(cluster_id: int, *, reason: str, now: datetime) -> None:
    """Write that a cluster could not be read, and since when."""
    cluster = Cluster.objects.filter(pk=cluster_id)
    cluster.update(unreachable_reason=reason[:LONGEST_REASON])
    cluster.filter(unreachable_since__isnull=True).update(unreachable_since=now)
