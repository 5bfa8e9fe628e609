"""Parts of a cluster fall silent while a version takes over: nothing fails for it, and what was
begun goes on once they are back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from deployments.domain.deadlines import LIMITS, LONGEST_GAP
from deployments.models import Cluster, Deployment, Slot
from tests.cluster.hurry import SOAK
from tests.cluster.outages.parts import Parts, cordoned
from tests.cluster.product import WEB, Json, Product, state_of
from tests.cluster.watched import Walk

AWAY_SECONDS = 60 if SOAK else 10
# How long a node is silent before its pods count as unready, and then some.
SILENT_SECONDS = 90


def look_for(product: Product, seconds: float, holds: Callable[[], object]) -> None:
    """Look for so long, or until something holds."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and not holds():
        product.look()
        time.sleep(0.2)


def never() -> bool:
    return False


def row(deployment: Deployment) -> Deployment:
    return Deployment.objects.get(pk=deployment.pk)


def serving(product: Product, *, drains: int = 2, **process: object) -> Slot:
    """Return a service whose first version serves, with what the next is to be like."""
    slot = product.slot(replace(WEB, drain_seconds=drains))
    assert product.walk(slot).state == "healthy"
    walk_of = Walk(product, slot)
    walk_of.change({}, **process)
    return slot


@pytest.mark.parametrize("stage", ["qualifying", "draining"])
def test_an_api_server_that_is_away_fails_nothing(
    stage: str, product: Product, parts: Parts
) -> None:
    slot = serving(product, drains=6, stabilization_seconds=4)
    second = product.reach(slot, stage, "sample:2")

    with parts.without("apiserver"):
        look_for(product, AWAY_SECONDS, never)
        away = Cluster.objects.get(pk=product.cluster_id)
        during = row(second)

    assert away.unreachable_since is not None
    assert away.unreachable_reason
    assert (during.state, during.blocker) == (stage, "")
    assert product.ended(second).state == "healthy"
    assert Cluster.objects.get(pk=product.cluster_id).unreachable_since is None
    assert product.serves() == "r-2"


def test_while_the_api_server_is_away_the_clocks_stand(product: Product, parts: Parts) -> None:
    short = replace(LIMITS, qualifying=timedelta(seconds=12))
    product = replace(product, limits=short)
    slot = serving(product)
    slot.variables.create(key="STATUS", value="503")
    second = product.reach(slot, "qualifying", "sample:2")

    with parts.without("apiserver"):
        look_for(product, LONGEST_GAP.total_seconds() + 3, never)
    product.until(lambda: Cluster.objects.get(pk=product.cluster_id).unreachable_since is None)
    just_after = state_of(second)
    walked = product.ended(second)

    assert just_after == "qualifying", "the outage alone was longer than the limit"
    assert (walked.state, walked.blocker) == ("failed", "readiness")
    assert product.serves() == "r-1"


def test_a_silent_kubelet_before_the_switch_leaves_traffic_where_it_is(
    product: Product, parts: Parts
) -> None:
    with cordoned(product.on, "node-2"):
        slot = serving(product, stabilization_seconds=35)
    with cordoned(product.on, "node-1"):
        second = product.reach(slot, "qualifying", "sample:2")

    with parts.without("kubelet-2"):
        look_for(product, SILENT_SECONDS, lambda: not ready(product, 2))
        silent = ready(product, 2)
        look_for(product, 3, never)
        during, served = row(second), product.serves()

    assert not silent
    assert (during.state, during.blocker, served) == ("qualifying", "", "r-1")
    assert product.ended(second).state == "healthy"
    assert product.serves() == "r-2"


def test_pods_that_are_lost_with_a_node_after_the_switch_are_no_reason_to_go_back(
    product: Product, parts: Parts
) -> None:
    with cordoned(product.on, "node-2"):
        slot = serving(product, drains=60, replicas=2)
    second = product.reach(slot, "draining", "sample:2")
    assert {pod["spec"]["nodeName"] for pod in product.pods(2)} == {"node-1", "node-2"}

    with parts.without("kubelet-2"):
        look_for(product, SILENT_SECONDS, lambda: len(ready(product, 2)) == 1)
        lost = len(ready(product, 2))
        look_for(product, 60, lambda: state_of(second) == "healthy")
        during = row(second)

    assert lost == 1
    assert (during.verdict_blocker, during.blocker) == ("", "")
    assert product.ended(second).state == "healthy"


def ready(product: Product, release: int) -> list[Json]:
    """Return a release's pods that kubelet, or whoever speaks for it, holds ready."""
    return [
        pod
        for pod in product.pods(release)
        for condition in pod["status"].get("conditions", [])
        if condition["type"] == "Ready" and condition["status"] == "True"
    ]


def test_a_registry_that_is_away_holds_a_tag_up_until_it_is_back(
    product: Product, parts: Parts
) -> None:
    slot = serving(product)

    with parts.without("registry"):
        second = product.deploy(slot, "sample:2")
        look_for(product, AWAY_SECONDS, never)
        during = row(second)

    assert (during.state, during.blocker) == ("pending", "")
    assert product.ended(second).state == "healthy"
    assert product.serves() == "r-2"
