"""Task names, and how they are enqueued: by name, after the commit, as a hint.

Every message may be lost: the tick asks again.
"""

from __future__ import annotations

from celery import current_app
from django.db import transaction

LOOK = "deployments.look"
TICK = "deployments.tick"


def of_cluster(cluster_id: int) -> str:
    """Return the name of the queue that a cluster's looks stand in."""
    return f"cluster-{cluster_id}"


def listen_to(cluster_id: int) -> None:
    """Ask the workers that run to take one cluster's looks; one that does already takes no harm."""
    current_app.control.add_consumer(of_cluster(cluster_id))


def look_soon(cluster_id: int | None) -> None:
    """Ask the agent to look at one cluster once the transaction commits; None asks nobody."""
    if cluster_id is not None:
        # robust: with a dead broker the commit must stand, and the next tick finds the work.
        transaction.on_commit(lambda: look_now(cluster_id), robust=True)


def look_now(cluster_id: int) -> None:
    """Ask the agent to look at one cluster."""
    message = current_app.signature(LOOK, args=(cluster_id,), queue=of_cluster(cluster_id))
    message.apply_async(retry=False, expires=30)
