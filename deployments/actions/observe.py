"""Write down what a look saw: counts and words for the card, clocks, Jobs and digests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from django.db.models import F

from deployments.domain.clocks import Clock
from deployments.domain.step import Report
from deployments.models import CauseClock, DeploymentJob, Observation, Release, Slot

LONGEST_DETAIL = 300


def observe(slot_id: int, *, generation: int, report: Report, settled: bool, now: datetime) -> bool:
    """Store a look at a slot. Return False, and store nothing, when it is of an older generation.

    The card's version rises only when something that it shows has changed.
    """
    slot = Slot.objects.select_for_update().get(pk=slot_id)
    if slot.generation != generation:
        return False
    serving = Release.objects.filter(slot_id=slot_id, number=report.serving).first()
    fields = _fields(report)
    known = Observation.objects.filter(slot_id=slot_id, generation=generation, **fields)
    changed = slot.serving_release_id != (serving.pk if serving is not None else None)
    changed = not known.update(observed_at=now) or changed
    if changed:
        Observation.objects.update_or_create(
            slot_id=slot_id, defaults={**fields, "generation": generation, "observed_at": now}
        )
    _keep(slot, serving, changed=changed, settled=settled)
    return True


def _fields(report: Report) -> dict[str, object]:
    return {
        "ready": report.ready,
        "desired": report.desired,
        "rolling": report.rolling,
        "detail": report.detail[:LONGEST_DETAIL],
        "scaled_by_hand": list(report.scaled_by_hand),
    }


def _keep(slot: Slot, serving: Release | None, *, changed: bool, settled: bool) -> None:
    if changed:
        slot.card_version = F("card_version") + 1
    if changed or slot.unsettled == settled:
        slot.serving_release = serving
        slot.unsettled = not settled
        slot.save(update_fields=["serving_release", "unsettled", "card_version"])


def tick(deployment_id: int, clocks: Iterable[Clock]) -> None:
    """Store a deployment's clocks as they are after a look; those of causes that are gone go."""
    wanted = {clock.key: clock for clock in clocks}
    rows = {
        (row.cause, row.subject): row
        for row in CauseClock.objects.filter(deployment_id=deployment_id)
    }
    gone = [row.pk for key, row in rows.items() if key not in wanted]
    if gone:
        CauseClock.objects.filter(pk__in=gone).delete()
    for key, clock in wanted.items():
        _store(deployment_id, rows.get(key), clock)


def _store(deployment_id: int, row: CauseClock | None, clock: Clock) -> None:
    values = {**asdict(clock), "detail": clock.detail[:LONGEST_DETAIL]}
    if row is None:
        CauseClock.objects.create(deployment_id=deployment_id, **values)
    elif any(getattr(row, name) != value for name, value in values.items()):
        CauseClock.objects.filter(pk=row.pk).update(**values)


def remember_job(deployment_id: int, *, name: str, uid: str) -> None:
    """Store a Job's uid before it runs. The first one counts: a Job is made once."""
    DeploymentJob.objects.get_or_create(
        deployment_id=deployment_id, name=name, defaults={"uid": uid}
    )


def remember_digest(release_id: int, digest: str) -> None:
    """Store what a tag stood for, unless that is known already."""
    Release.objects.filter(pk=release_id, digest="").update(digest=digest)
