"""What the practice cluster costs: little while nothing happens, not much for a hundred pods."""

from __future__ import annotations

import time

from tests.practice.driven import IMAGE, SPACE, Driven
from tests.recordings import manifests

# Measured at 8 ms on an idle machine; more only if every look copies or walks everything again.
LOOK_AT_MOST = 0.06


def test_a_look_at_a_hundred_pods_is_short() -> None:
    cluster = Driven()
    for number in range(20):
        box = manifests.served(IMAGE)
        cluster.create("deployments", manifests.deployment(f"web{number}", 5, box))
        cluster.create("services", manifests.service(f"web{number}", f"web{number}"))
    cluster.until(lambda: cluster.ready() == 100)

    shortest = min(_time_of_a_full_look(cluster) for _ in range(5))

    assert shortest < LOOK_AT_MOST


def _time_of_a_full_look(cluster: Driven) -> float:
    # Any write makes the next look a full one.
    cluster.create("configmaps", {"metadata": {"name": f"c{cluster.store.revision}"}})
    begun = time.process_time()
    cluster.world.look()
    return time.process_time() - begun


def test_an_idle_cluster_writes_nothing_and_looks_only_for_its_probes() -> None:
    cluster = Driven()
    cluster.web(2)
    cluster.run(5)
    revision = cluster.store.revision

    cluster.run(120)

    assert cluster.store.revision == revision
    assert len(cluster.store.list("pods", SPACE)) == 2
