"""Doorbells: ids in, nothing out, twice without harm; the next tick is the retry."""

from __future__ import annotations

from celery import shared_task

from deployments import queue
from deployments.agent import loop
from deployments.reads import snapshots
from deployments.reads.clock import database_now

# A look that moved something is followed by another at once, so many times in one ring.
LOOKS_IN_A_ROW = 10


@shared_task(name=queue.LOOK)
def look(cluster_id: int) -> None:
    """Look at one cluster, and again while that brings something forward."""
    for _ in range(LOOKS_IN_A_ROW):
        if not loop.look(cluster_id, now=database_now()):
            return


@shared_task(name=queue.TICK)
def tick() -> None:
    """Ring every cluster's bell; what is missed now is rung again next tick."""
    for cluster_id in snapshots.clusters_to_look_at():
        # Every time: a worker that starts hears nothing until it has subscribed, and one that
        # missed this would take no look until somebody told it again.
        queue.listen_to(cluster_id)
        queue.look_now(cluster_id)
