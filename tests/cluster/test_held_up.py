"""A look that is held up before one of its writes, while its deployment is cancelled and others
make that true: whatever the write was, it changes nothing any more.

`test_fence` tries a newer deployment instead of a cancel. The lease is switched off in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from deployments.actions import stop
from deployments.domain.commands import (
    Command,
    Create,
    Delete,
    PointTraffic,
    Resume,
    Scale,
    Suspend,
    WriteFence,
)
from deployments.domain.observations import ObjectKind
from deployments.domain.releases import ReleaseCommand
from deployments.domain.settings import Settings
from deployments.models import Deployment
from deployments.reads.clock import database_now
from tests.cluster.product import TICK, WEB, Product, state_of
from tests.cluster.test_fence import hold, unguarded

__all__ = ["unguarded"]
LISTED = (ObjectKind.DEPLOYMENT, ObjectKind.SERVICE, ObjectKind.CRON_JOB, ObjectKind.JOB)
CRON_JOB, JOB, DEPLOYMENT = ObjectKind.CRON_JOB, ObjectKind.JOB, ObjectKind.DEPLOYMENT


def of_release(command: Command, number: int) -> bool:
    ref = getattr(command, "ref", None)
    return ref is not None and ref.name.endswith(f"-r{number}")


WRITES: Mapping[str, Callable[[Command], bool]] = {
    "making its Deployment": lambda c: (
        isinstance(c, Create) and c.kind is DEPLOYMENT and c.release == 2
    ),
    "running its release command": lambda c: isinstance(c, Resume) and c.ref.kind is JOB,
    "scaling it up": lambda c: isinstance(c, Scale) and c.replicas > 0 and of_release(c, 2),
    "writing the fence": lambda c: isinstance(c, WriteFence) and c.ref.name == "web",
    "switching": lambda c: isinstance(c, PointTraffic) and c.release == 2,
    "suspending the one before": lambda c: isinstance(c, Suspend) and of_release(c, 1),
    "resuming its CronJob": lambda c: (
        isinstance(c, Resume) and c.ref.kind is CRON_JOB and of_release(c, 2)
    ),
    "scaling the one before down": lambda c: (
        isinstance(c, Scale) and c.replicas == 0 and of_release(c, 1)
    ),
}


def what_runs(product: Product) -> dict[str, object]:
    """Return what everything that is there is to be, by kind and name."""
    return {
        f"{kind} {found['metadata']['name']}": (found["metadata"]["uid"], found["spec"])
        for kind in LISTED
        for found in product.all(kind)
        if "deletionTimestamp" not in found["metadata"]
    }


@pytest.mark.parametrize("write", WRITES)
def test_a_write_that_comes_after_a_cancel_was_made_true_changes_nothing(
    write: str, product: Product, unguarded: pytest.MonkeyPatch
) -> None:
    slot = product.slot(WEB, TICK)
    assert product.walk(slot).state == "healthy"
    product.settle(slot)
    command = ReleaseCommand(("run",)) if "command" in write else None
    slot.settings = Settings((WEB, TICK), command).to_json()
    slot.save(update_fields=["settings"])
    second = product.deploy(slot, "sample:2")
    then: dict[str, object] = {}

    def it_is_cancelled() -> None:
        stop.cancel(second.pk, reason="it is wrong", by=product.user, now=database_now())
        product.settle(slot)
        product.until(lambda: not product.pods(2))
        then.update(what_runs(product))

    hold(product, unguarded, holds=WRITES[write], meanwhile=it_is_cancelled)
    late = what_runs(product)

    # Objects that are made late have no effect, and go with the next looks.
    made = {name: found for name, found in late.items() if name not in then}
    assert {name: found for name, found in late.items() if name in then} == then
    assert made.keys() <= {"Deployment web--web-r2", "Service web-r2", "CronJob web--tick-r2"}
    assert all(
        product.get(CRON_JOB, "web--tick-r2")["spec"]["suspend"] for n in made if "tick" in n
    )
    assert not product.pods(2)
    assert product.serves() == "r-1"
    assert state_of(second) == "cancelled"
    product.until(lambda: not made.keys() & product.names())
    assert not product.pods(2)


def test_a_delete_that_comes_late_leaves_what_was_made_anew(
    product: Product, unguarded: pytest.MonkeyPatch
) -> None:
    slot = product.slot()
    first = product.reach(slot, "qualifying")
    stop.cancel(first.pk, reason="", by=product.user, now=database_now())

    def somebody_makes_it_anew() -> None:
        product.settle(slot)
        assert product.walk(slot, "sample:2").state == "healthy"

    def is_the_delete(command: Command) -> bool:
        return isinstance(command, Delete) and command.ref.kind is DEPLOYMENT

    hold(product, unguarded, holds=is_the_delete, meanwhile=somebody_makes_it_anew)

    assert product.serves() == "r-2"
    assert product.get(DEPLOYMENT, "web--web-r2")["spec"]["replicas"] == 1
    assert Deployment.objects.latest("pk").state == "healthy"
