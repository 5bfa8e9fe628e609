"""A deployment while another one is under way: which goes, which waits, and what is left of it."""

from __future__ import annotations

from dataclasses import replace

from deployments.actions import configure
from deployments.models import Slot
from tests.cluster.product import ROUTE, WEB, Product, Walked, state_of, states_of

NO_SUCH_DIGEST = f"sample@sha256:{'0' * 64}"
HEALTHY = Walked(ROUTE, "", "")


def test_a_newer_deployment_replaces_one_that_cannot_start(product: Product) -> None:
    slot = product.slot()
    first = product.reach(slot, "starting", NO_SUCH_DIGEST)
    product.until(lambda: product.pods(1))

    walked = product.walk(slot, "sample:2")

    assert walked == HEALTHY
    assert product.ended(first) == Walked(
        ("pending", "admitted", "starting", "superseded"), "", "Superseded by r-2"
    )
    nothing_is_left_of_the_first(product, slot)


def test_a_newer_deployment_replaces_one_that_qualifies(product: Product) -> None:
    slot = product.slot(replace(WEB, stabilization_seconds=240))
    first = product.reach(slot, "qualifying")
    change_primary(slot, stabilization_seconds=1)

    second = product.reach(slot, "starting", "sample:2")
    phases = {pod["status"]["phase"] for pod in product.pods(1)}
    walked = product.ended(second)

    assert walked == HEALTHY
    assert phases <= {"Succeeded", "Failed"}, "its pods ended before the newer one's started"
    assert product.ended(first).message == "Superseded by r-2"
    nothing_is_left_of_the_first(product, slot)


def test_a_newer_deployment_waits_behind_one_that_takes_over_and_starts_within_a_look(
    product: Product,
) -> None:
    slot = product.slot()
    product.walk(slot)
    second = product.reach(slot, "draining", "sample:2")
    third = product.deploy(slot, "sample:3")
    held = third.what

    seen = [(state_of(second), state_of(third))]
    while state_of(third) == "pending":
        product.look()
        seen.append((state_of(second), state_of(third)))

    assert held == "Waiting for r-2 to finish taking over traffic"
    assert (third.blocker, states_of(second)) == ("waiting", ROUTE)
    waited = [states for states in seen if states == ("healthy", "pending")]
    assert len(waited) <= 1, "one look after the takeover it goes on"
    assert product.serves() == "r-2"


def test_what_serves_goes_on_while_deployments_replace_each_other(product: Product) -> None:
    slot = product.slot()
    product.walk(slot)
    change_primary(slot, stabilization_seconds=240)
    product.reach(slot, "qualifying", "sample:2")

    product.reach(slot, "starting", "sample:3")

    assert product.serves() == "r-1"
    assert [pod["status"]["phase"] for pod in product.pods(1)] == ["Running"]


def change_primary(slot: Slot, **fields: object) -> None:
    """Change the settings of the http process, as a person does between two deployments."""
    configure.change_settings(slot.pk, {"processes": [{"name": WEB.name, **fields}]})


def nothing_is_left_of_the_first(product: Product, slot: Slot) -> None:
    product.settle(slot)
    assert not product.pods(1)
    assert {name for name in product.names() if name.endswith("-r1")} == set()
