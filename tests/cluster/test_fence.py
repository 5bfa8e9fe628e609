"""A look that was held up between its decision and its write, while others went ahead.

Neither its lease nor its guard stops it here: the API server itself has to refuse what is stale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from deployments.agent import clients, loop
from deployments.agent.cluster import Cluster, Stale
from deployments.domain.commands import Command, Create, PointTraffic, Scale
from deployments.domain.observations import ObjectKind
from deployments.models import Cluster as ClusterRow
from deployments.models import Deployment
from deployments.reads import snapshots
from tests.cluster.product import Product, state_of


@dataclass
class HeldUp:
    """The agent's client: the first command that `holds` names waits until `meanwhile` is over."""

    cluster: Cluster
    holds: Callable[[Command], bool]
    meanwhile: Callable[[], None]
    held: bool = False
    refusals: list[Stale] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the client has
        return getattr(self.cluster, name)

    def run(self, command: Command, *rest: Any, **more: Any) -> Any:  # noqa: ANN401
        """Carry out a command, late where it is the one."""
        if self.held or not self.holds(command):
            return self.cluster.run(command, *rest, **more)
        self.held = True
        self.meanwhile()
        try:
            return self.cluster.run(command, *rest, **more)
        except Stale as refusal:
            self.refusals.append(refusal)
            raise


@pytest.fixture
def unguarded(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every look believes that it may write."""
    monkeypatch.setattr(loop.Guard, "stands", lambda guard: True)
    monkeypatch.setattr(snapshots, "LOOK_AT_SETTLED_EVERY", timedelta(0))
    return monkeypatch


def hold(
    product: Product,
    patch: pytest.MonkeyPatch,
    *,
    holds: Callable[[Command], bool],
    meanwhile: Callable[[], None],
) -> HeldUp:
    """Look until one look is held up, with the lease free for those that overtake it."""

    def overtaken() -> None:
        ClusterRow.objects.filter(pk=product.cluster_id).update(lease_until=None)
        meanwhile()

    held = HeldUp(clients.of_cluster(product.cluster_id), holds, overtaken)
    patch.setattr(clients, "of_cluster", lambda cluster_id: held)
    product.until(lambda: held.held)
    return held


def what_is_there(product: Product) -> dict[str, object]:
    """Return what every object of ours is to be, by kind and name."""
    kinds = (ObjectKind.DEPLOYMENT, ObjectKind.SERVICE)
    return {
        f"{kind} {found['metadata']['name']}": (found["metadata"]["annotations"], found["spec"])
        for kind in kinds
        for found in product.all(kind)
        if "annotations" in found["metadata"]
    }


def is_scale_up(command: Command) -> bool:
    return isinstance(command, Scale) and command.replicas > 0


def is_switch_to_the_first(command: Command) -> bool:
    return isinstance(command, PointTraffic) and command.release == 1


@pytest.mark.parametrize(
    ("holds", "reached"),
    [(is_scale_up, "starting"), (is_switch_to_the_first, "activating")],
)
def test_a_late_write_is_refused_by_the_api_server(
    holds: Callable[[Command], bool],
    reached: str,
    product: Product,
    unguarded: pytest.MonkeyPatch,
) -> None:
    slot = product.slot()
    first = product.deploy(slot)
    then: dict[str, object] = {}

    def a_newer_one_goes_ahead() -> None:
        assert state_of(first) == reached
        if reached == "activating":
            product.ended(first)
        assert product.walk(slot, "sample:2").state == "healthy"
        product.settle(slot)
        then.update(what_is_there(product))

    held = hold(product, unguarded, holds=holds, meanwhile=a_newer_one_goes_ahead)

    assert len(held.refusals) == 1
    assert product.serves() == "r-2"
    assert what_is_there(product) == then
    assert Deployment.objects.latest("pk").state == "healthy"


def test_an_object_that_is_made_late_has_no_effect_and_goes_again(
    product: Product, unguarded: pytest.MonkeyPatch
) -> None:
    slot = product.slot()
    product.deploy(slot)

    def is_the_first_workload(command: Command) -> bool:
        return isinstance(command, Create) and command.kind is ObjectKind.DEPLOYMENT

    def a_newer_one_goes_ahead() -> None:
        assert product.walk(slot, "sample:2").state == "healthy"
        product.settle(slot)

    hold(product, unguarded, holds=is_the_first_workload, meanwhile=a_newer_one_goes_ahead)

    assert product.get(ObjectKind.DEPLOYMENT, "web--web-r1")["spec"]["replicas"] == 0
    assert not product.pods(1)
    assert product.serves() == "r-2"
    product.until(lambda: "Deployment web--web-r1" not in product.names())
