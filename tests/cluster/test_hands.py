"""What somebody does with kubectl to a service that runs, and what becomes of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from deployments.agent.manifests import MERGE_PATCH, Request, object_path
from deployments.domain import names
from deployments.domain.observations import ObjectKind
from deployments.models import Observation, Slot
from deployments.reads import snapshots
from tests.cluster.product import TICK, WEB, Json, Product

DEPLOYMENT, SERVICE, CRON_JOB = ObjectKind.DEPLOYMENT, ObjectKind.SERVICE, ObjectKind.CRON_JOB


@pytest.fixture
def slot(product: Product, monkeypatch: pytest.MonkeyPatch) -> Slot:
    """A service that runs, and that is looked at every time."""
    monkeypatch.setattr(snapshots, "LOOK_AT_SETTLED_EVERY", timedelta(0))
    slot = product.slot(WEB, TICK)
    assert product.walk(slot).state == "healthy"
    return slot


def by_hand(
    product: Product, method: str, kind: ObjectKind, name: str, body: Json | None = None
) -> None:
    path = object_path(product.environment.namespace, kind, name)
    answer = product.on.api.send(Request(method, path, body, MERGE_PATCH))
    assert answer.status in {200, 202}, answer


def runs(product: Product) -> bool:
    """Whether everything of the first release is there and serves."""
    wanted = {"Deployment web--web-r1", "CronJob web--tick-r1", "Service web", "Service web-r1"}
    if not wanted <= product.names():
        return False
    workload = product.get(DEPLOYMENT, "web--web-r1")
    return workload["status"].get("readyReplicas") == 1 and product.serves() == "r-1"


@pytest.mark.usefixtures("slot")
def test_an_object_of_the_active_release_that_somebody_deleted_is_made_again(
    product: Product,
) -> None:
    before = product.get(DEPLOYMENT, "web--web-r1")["metadata"]["uid"]
    for kind, name in (
        (DEPLOYMENT, "web--web-r1"),
        (CRON_JOB, "web--tick-r1"),
        (SERVICE, "web-r1"),
        (SERVICE, "web"),
    ):
        by_hand(product, "DELETE", kind, name)

    product.until(lambda: runs(product))

    assert product.get(DEPLOYMENT, "web--web-r1")["metadata"]["uid"] != before
    product.until(lambda: not product.get(CRON_JOB, "web--tick-r1")["spec"]["suspend"])


def test_replicas_scaled_by_hand_stay_and_are_named_and_none_at_all_is_undone(
    product: Product, slot: Slot
) -> None:
    by_hand(product, "PATCH", DEPLOYMENT, "web--web-r1", {"spec": {"replicas": 3}})
    product.until(lambda: Observation.objects.get(slot=slot).ready == 3)
    named = Observation.objects.get(slot=slot)
    chosen = product.get(DEPLOYMENT, "web--web-r1")["spec"]["replicas"]

    by_hand(product, "PATCH", DEPLOYMENT, "web--web-r1", {"spec": {"replicas": 0}})
    product.until(lambda: product.get(DEPLOYMENT, "web--web-r1")["spec"]["replicas"])

    assert (named.scaled_by_hand, named.desired, chosen) == (["web: 3"], 3, 3)
    assert product.get(DEPLOYMENT, "web--web-r1")["spec"]["replicas"] == 1
    product.until(lambda: Observation.objects.get(slot=slot).scaled_by_hand == [])


def test_a_stable_service_that_somebody_led_away_is_put_right_and_noted(
    product: Product, slot: Slot
) -> None:
    away: Json = {"spec": {"selector": {names.RELEASE: "r-9", "extra": "key"}}}
    by_hand(product, "PATCH", SERVICE, "web", away)
    assert product.serves() == "r-9"

    product.until(lambda: product.serves() == "r-1")

    product.settle(slot)
    assert "extra" not in product.get(SERVICE, "web")["spec"]["selector"]
    notes = slot.deployments.get().events.filter(kind="note")
    assert notes.get().message == (
        "The Service web was changed by hand. Pilothouse let it lead to r-1 again."
        " Deploy or roll back to change what serves."
    )


def test_what_somebody_else_made_in_the_namespace_is_not_touched(
    product: Product, slot: Slot
) -> None:
    path = object_path(product.environment.namespace, SERVICE)
    port = {"port": 80, "targetPort": 8080}
    spec: Json = {"ports": [port], "selector": {"app": "theirs"}}
    body: Json = {"metadata": {"name": "theirs"}, "spec": spec}
    assert product.on.api.send(Request("POST", path, body)).status == 201
    theirs = product.get(SERVICE, "theirs")

    assert product.walk(slot, "sample:2").state == "healthy"
    product.settle(slot)

    assert product.get(SERVICE, "theirs") == theirs
