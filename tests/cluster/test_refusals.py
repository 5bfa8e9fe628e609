"""Deployments that are refused before anything of them runs: the same words on both clusters.

What cannot run once it is started is in `test_failures`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from deployments.domain import tags
from deployments.domain.deadlines import Limits
from deployments.domain.observations import ObjectKind
from tests.cluster.hands import write
from tests.cluster.product import SILENT_REGISTRY, WEB, Product, Walked


def test_a_registry_that_does_not_answer_fails_the_deployment(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tags, "ASK_EVERY", timedelta(seconds=1))
    hasty = replace(product, limits=Limits(registry_unreachable=timedelta(seconds=2)))

    walked = hasty.walk(product.slot(), f"{SILENT_REGISTRY}/sample:1")

    assert walked == Walked(
        ("pending", "failed"),
        "image-pull",
        f"The registry of {SILENT_REGISTRY}/sample:1 could not be reached: connection refused."
        " web is not running. Check the registry's address and that it is up, then deploy again.",
    )
    assert product.names() == set()


def test_a_quota_that_leaves_too_little_is_named(product: Product) -> None:
    path = ("api", "v1", "namespaces", product.environment.namespace, "resourcequotas")
    hard = {"metadata": {"name": "small"}, "spec": {"hard": {"requests.cpu": "15m"}}}
    write(product.on.api, hard, *path)
    product.until(lambda: (product.on.api.read((*path, "small")) or {})["status"].get("hard"))

    walked = product.walk(product.slot(replace(WEB, replicas=2)))

    assert walked == Walked(
        ("pending", "admitted", "failed"),
        "capacity",
        "The cluster has no room: the quota small leaves 0.005 CPU too little (requests.cpu)."
        " web is not running. Lower the process's resource request, or add a node with more"
        " capacity.",
    )


@pytest.mark.parametrize(
    ("kind", "name", "body"),
    [
        (ObjectKind.SERVICE, "web", {"spec": {"ports": [{"port": 99}]}}),
        (ObjectKind.SECRET, "web-r1", {"data": {"COLOUR": "Ymx1ZQ=="}}),
    ],
)
def test_somebody_elses_object_of_our_name_fails_the_deployment_and_is_not_touched(
    kind: ObjectKind, name: str, body: dict[str, object], product: Product
) -> None:
    plural = f"{kind.lower()}s"
    path = ("api", "v1", "namespaces", product.environment.namespace, plural)
    write(product.on.api, {"metadata": {"name": name}, **body}, *path)
    before = product.get(kind, name)

    walked = product.walk(product.slot())

    assert walked == Walked(
        ("pending", "admitted", "failed"),
        "startup",
        f"{kind} {name} exists in the namespace and is not Pilothouse's, so it was not touched."
        " web is not running. Remove or rename it, then deploy again.",
    )
    assert product.get(kind, name) == before
    assert product.names() == set()
