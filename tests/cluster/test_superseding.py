"""A newer deployment in the middle of another's life: what it ends, and what it waits for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deployments.domain.deadlines import LIMITS
from deployments.domain.releases import ReleaseCommand
from deployments.domain.settings import Settings
from deployments.models import Deployment
from tests.cluster.hurry import HURRIED
from tests.cluster.product import WEB, Product, state_of
from tests.cluster.watched import deploy, drains, serve, until, walk
from tests.cluster.witness import asking

# Two of them fill both nodes: a second release of the kind fits only where the first one is gone.
LARGE = replace(WEB, cpu_request="1100m", replicas=2)
FALLS_AFTER = "25"


@pytest.fixture
def hurried(product: Product) -> Product:
    """The product with durations that a test can wait for."""
    return replace(product, limits=replace(HURRIED, qualifying=LIMITS.qualifying))


def row(deployment: Deployment) -> Deployment:
    return Deployment.objects.get(pk=deployment.pk)


@pytest.mark.parametrize("stage", ["pending", "admitted", "starting", "qualifying"])
def test_a_first_deployment_is_replaced_in_whatever_stage_it_is(
    stage: str, product: Product
) -> None:
    slot = product.slot()
    first = product.deploy(slot) if stage == "pending" else product.reach(slot, stage)

    walked = product.walk(slot, "sample:2")

    assert walked.state == "healthy"
    assert (state_of(first), row(first).what) == ("superseded", "Superseded by r-2")
    product.settle(slot)
    assert product.serves() == "r-2"
    assert not {name for name in product.names() if name.endswith("-r1")}


def test_room_is_judged_only_when_what_was_replaced_is_gone(product: Product) -> None:
    slot = product.slot(LARGE)
    first = product.reach(slot, "qualifying")

    second = product.deploy(slot, "sample:2")
    product.until(lambda: state_of(second) == "admitted")
    still_there = product.pods(1)
    walked = product.ended(second)

    assert state_of(first) == "superseded"
    assert still_there
    assert (walked.state, walked.message) == ("healthy", "")
    slot.settings = Settings((replace(LARGE, cpu_request="10m", replicas=1),)).to_json()
    slot.save(update_fields=["settings"])
    assert product.walk(slot, "sample:3").state == "healthy"


def test_while_a_way_back_is_under_way_the_newer_one_waits_for_it_and_then_takes_over(
    hurried: Product,
) -> None:
    # It takes its time to come up again, so that the way back lasts.
    one = walk(hurried, "web", {"STOP_DELAY": "40", "START_DELAY": "10"}, stop_seconds=60)
    serve([one])
    one.change({"UNREADY_AFTER": FALLS_AFTER})
    deploy([one])
    until([one], lambda walk: drains(walk) and walk.replicas(1) == 0)
    until([one], lambda walk: walk.row.verdict_blocker)
    one.change({})

    third = hurried.deploy(one.slot, "sample:3")
    hurried.look()
    held = row(third)
    until([one], lambda walk: walk.row.ended_at)
    back = hurried.serves()
    with asking(hurried, "web") as heard:
        walked = hurried.ended(third)

    assert (held.state, held.blocker) == ("pending", "waiting")
    assert held.what == "Waiting for traffic to return to r-1"
    assert (one.row.state, one.row.leaves) == ("failed", "r-1 keeps serving.")
    assert back == "r-1"
    assert walked.state == "healthy"
    assert hurried.serves() == "r-3"
    assert not heard.faults()


def test_a_release_command_is_not_started_for_what_was_replaced_before_it(
    product: Product,
) -> None:
    slot = product.slot(WEB, command=ReleaseCommand(("run",)))
    first = product.reach(slot, "admitted")

    second = product.deploy(slot, "sample:2")

    assert product.ended(second).state == "healthy"
    assert not first.jobs.exists()
    assert second.jobs.count() == 1
