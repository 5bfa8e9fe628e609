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
    """Store a look at a slot. Return False, and store nothing, when it is of an older generation
    or began before the last one that was stored.

    The card's version rises only when something that it shows has changed.
    """
    slot = Slot.objects.select_for_update().get(pk=slot_id)
    if slot.generation != generation or _is_late(slot_id, now):
        return False
    serving = _serving(slot_id, report)
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


def _is_late(slot_id: int, now: datetime) -> bool:
    # A look that was held up would show, and decide by, what a later one has seen to be over.
    return Observation.objects.filter(slot_id=slot_id, observed_at__gt=now).exists()


def _serving(slot_id: int, report: Report) -> Release | None:
    if report.serving is None:
        return None
    return Release.objects.filter(slot_id=slot_id, number=report.serving).first()


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
    """Store a deployment's clocks as they are after a look; those of causes that are gone go.

    Two statements and one look-up, however many pods have a clock.
    """
    wanted = {clock.key: clock for clock in clocks}
    rows = CauseClock.objects.filter(deployment_id=deployment_id)
    stored = rows.values_list("pk", "cause", "subject")
    gone = [pk for pk, cause, subject in stored if (cause, subject) not in wanted]
    if gone:
        CauseClock.objects.filter(pk__in=gone).delete()
    CauseClock.objects.bulk_create(
        [_row(deployment_id, clock) for clock in wanted.values()],
        update_conflicts=True,
        unique_fields=["deployment", "cause", "subject"],
        update_fields=["since", "last_seen", "mark", "detail", "unseen_seconds"],
    )


def _row(deployment_id: int, clock: Clock) -> CauseClock:
    values = {**asdict(clock), "detail": clock.detail[:LONGEST_DETAIL]}
    return CauseClock(deployment_id=deployment_id, **values)


def remember_job(deployment_id: int, *, name: str, uid: str) -> None:
    """Store a Job's uid before it runs. The first one counts: a Job is made once."""
    DeploymentJob.objects.get_or_create(
        deployment_id=deployment_id, name=name, defaults={"uid": uid}
    )


def remember_digest(release_id: int, digest: str) -> None:
    """Store what a tag stood for, unless that is known already."""
    Release.objects.filter(pk=release_id, digest="").update(digest=digest)
