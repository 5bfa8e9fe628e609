"""Rows → the values that the agent decides from. No lock: whoever writes checks again."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from deployments import encryption
from deployments.domain import images, messages, wanted
from deployments.domain.blockers import Blocker
from deployments.domain.clocks import Clock
from deployments.domain.errors import Invalid
from deployments.domain.messages import Message
from deployments.domain.names import Place
from deployments.domain.releases import Config
from deployments.domain.states import FINAL, MOVING, State
from deployments.domain.wanted import Attempt, Verdict, Wanted
from deployments.models import (
    CauseClock,
    Cluster,
    Deployment,
    Installation,
    Release,
    ReleaseSecret,
    Slot,
)

logger = logging.getLogger(__name__)

LOOK_AT_SETTLED_EVERY = timedelta(seconds=15)
# So long after its end a deployment's Jobs are looked for and removed.
ENDED_REMEMBERED = timedelta(days=7)

_ENDED_BADLY = FINAL - {State.HEALTHY}


@dataclass(frozen=True)
class SlotSnapshot:
    """One slot for one look, with the generation that an observation of it is about."""

    slot_id: int
    generation: int
    unsettled: bool
    observed_at: datetime | None
    wanted: Wanted

    def is_due(self, now: datetime) -> bool:
        """Whether this look is to include the slot: at once where something moves, else rarely."""
        if self.unsettled or self.wanted.moving or self.observed_at is None:
            return True
        return now - self.observed_at >= LOOK_AT_SETTLED_EVERY


def clusters_to_look_at() -> list[int]:
    """Return the ids of the clusters that environments stand on."""
    bound = Cluster.objects.filter(environments__isnull=False).distinct()
    return list(bound.order_by("pk").values_list("pk", flat=True))


def slots_of(cluster_id: int, now: datetime) -> list[SlotSnapshot]:
    """Return every slot of a cluster in which something was ever deployed.

    The same few queries whatever the number of slots.
    """
    slots = Slot.objects.filter(environment__cluster_id=cluster_id, generation__gt=0)
    rows = slots.select_related(
        "service__project", "environment", "active_release", "observation"
    ).prefetch_related(Prefetch("releases", _kept_releases(), to_attr="kept"))
    deployments = _by_slot(_deployments_that_count(slots))
    ended = _ended_badly(slots, now)
    marked_by = installation()
    found = (
        _snapshot_or_none(slot, marked_by, deployments[slot.pk], ended[slot.pk])
        for slot in rows.order_by("pk")
    )
    return [snapshot for snapshot in found if snapshot is not None]


def _kept_releases() -> QuerySet[Release]:
    return Release.objects.filter(removed_at__isnull=True, healthy_at__isnull=False)


def _deployments_that_count(slots: QuerySet[Slot]) -> QuerySet[Deployment]:
    """Return what moves, and of each slot what passed the point of no return last."""
    of_these = Deployment.objects.filter(slot__in=slots)
    past = of_these.filter(past_point_of_no_return=True)
    last_past = past.order_by("slot_id", "-pk").distinct("slot_id").values("pk")
    return (
        of_these.filter(Q(state__in=MOVING) | Q(pk__in=last_past))
        .select_related("release", "previous_release")
        .prefetch_related("jobs", "clocks")
        .order_by("pk")
    )


def _by_slot(rows: Iterable[Deployment]) -> defaultdict[int, list[Deployment]]:
    found: defaultdict[int, list[Deployment]] = defaultdict(list)
    for row in rows:
        found[row.slot_id].append(row)
    return found


@dataclass
class _Ended:
    """The deployments of a slot that ended badly, and which releases' latest ones they are."""

    ids: set[int] = field(default_factory=set)
    of: dict[int, int] = field(default_factory=dict)


def _ended_badly(slots: QuerySet[Slot], now: datetime) -> defaultdict[int, _Ended]:
    newer = Deployment.objects.filter(release=OuterRef("release"), pk__gt=OuterRef("pk"))
    rows = Deployment.objects.filter(
        slot__in=slots, state__in=_ENDED_BADLY, ended_at__gt=now - ENDED_REMEMBERED
    ).annotate(latest=~Exists(newer))
    found: defaultdict[int, _Ended] = defaultdict(_Ended)
    for slot_id, pk, number, latest in rows.values_list(
        "slot_id", "pk", "release__number", "latest"
    ):
        found[slot_id].ids.add(pk)
        if latest:
            found[slot_id].of[number] = pk
    return found


def _snapshot_or_none(
    slot: Slot, installation: str, rows: list[Deployment], ended: _Ended
) -> SlotSnapshot | None:
    """Set a slot aside whose rows make no values: it must not hide the others of its cluster."""
    try:
        return _snapshot(slot, installation, rows, ended)
    except (Invalid, KeyError, TypeError, ValueError):
        logger.exception("slot %s was set aside", slot.pk)
        return None


def _snapshot(slot: Slot, installation: str, rows: list[Deployment], ended: _Ended) -> SlotSnapshot:
    observation = getattr(slot, "observation", None)
    return SlotSnapshot(
        slot_id=slot.pk,
        generation=slot.generation,
        unsettled=slot.unsettled,
        observed_at=observation.observed_at if observation is not None else None,
        wanted=_wanted(slot, installation, rows, ended),
    )


def _wanted(slot: Slot, installation: str, rows: list[Deployment], ended: _Ended) -> Wanted:
    attempts = [_attempt(row) for row in rows]
    past = [attempt for attempt in attempts if attempt.past]
    before = [attempt for attempt in attempts if not attempt.past]
    kept: list[Release] = slot.kept  # type: ignore[attr-defined]  # by the prefetch above
    return Wanted(
        place=_place(slot, installation),
        fence=slot.fence,
        releases=_releases(kept, attempts),
        active=_release(slot.active_release) if slot.active_release is not None else None,
        before=before[-1] if before else None,
        last_past=past[-1] if past else None,
        ended=frozenset(ended.ids),
        ended_of=ended.of,
        last_healthy=past[-1].id if past and past[-1].state is State.HEALTHY else 0,
    )


def _releases(kept: Iterable[Release], attempts: Iterable[Attempt]) -> tuple[wanted.Release, ...]:
    """Return the releases that a decision may be about, each once, by number."""
    named = {release.number: release for release in map(_release, kept)}
    for attempt in attempts:
        named[attempt.release.number] = attempt.release
        if attempt.previous is not None:
            named.setdefault(attempt.previous.number, attempt.previous)
    return tuple(named[number] for number in sorted(named))


def _place(slot: Slot, installation: str) -> Place:
    return Place(
        installation=installation,
        slot=slot.pk,
        project=slot.service.project.slug,
        environment=slot.environment.slug,
        service=slot.service.slug,
        namespace=slot.environment.namespace,
    )


def _release(release: Release) -> wanted.Release:
    reference = images.parse(release.image, default_registry="")
    return wanted.Release(
        id=release.pk,
        number=release.number,
        config=Config.from_json(release.config or {}),
        image=reference.at(release.digest) if release.digest else None,
        asked_for=release.image,
        once_healthy=release.healthy_at is not None,
        kept=release.removed_at is None,
    )


def _attempt(row: Deployment) -> Attempt:
    previous = row.previous_release
    return Attempt(
        id=row.pk,
        state=State(row.state),
        state_since=row.state_since,
        release=_release(row.release),
        title=messages.title(row.kind, row.release.number),
        waits=row.blocker == Blocker.WAITING,
        past=row.past_point_of_no_return,
        previous=_release(previous) if previous is not None else None,
        verdict=_verdict(row),
        given_up=row.way_back_given_up_at is not None,
        job_uids={job.name: job.uid for job in row.jobs.all()},
        clocks=_clocks(row.clocks.all()),
    )


def _verdict(row: Deployment) -> Verdict | None:
    if not row.verdict_blocker:
        return None
    message = Message(row.verdict_what, row.verdict_leaves, row.verdict_do)
    return Verdict(Blocker(row.verdict_blocker), message)


def _clocks(rows: Iterable[CauseClock]) -> tuple[Clock, ...]:
    return tuple(
        Clock(
            cause=row.cause,
            since=row.since,
            last_seen=row.last_seen,
            subject=row.subject,
            mark=row.mark,
            detail=row.detail,
            unseen_seconds=row.unseen_seconds,
        )
        for row in rows
    )


def secrets_of(release_id: int) -> dict[str, str]:
    """Return the secret values that were frozen with a release, in the clear."""
    rows = ReleaseSecret.objects.filter(release_id=release_id)
    return {row.key: encryption.decrypt(bytes(row.ciphertext)) for row in rows}


def still_as(snapshot: SlotSnapshot) -> bool:
    """Whether a slot is as it was when this snapshot was made: asked again before each write."""
    fence = Slot.objects.values_list("fence", flat=True).get(pk=snapshot.slot_id)
    rows = Deployment.objects.filter(slot_id=snapshot.slot_id, state__in=MOVING)
    known = {(attempt.id, attempt.state.value) for attempt in snapshot.wanted.moving}
    return fence == snapshot.wanted.fence and set(rows.values_list("pk", "state")) == known


def installation() -> str:
    """Return the installation's random id, which marks our objects in every cluster."""
    return str(Installation.objects.get())


def cluster_slug(cluster_id: int) -> str:
    """Return a cluster's name, as events call its agent."""
    return Cluster.objects.values_list("slug", flat=True).get(pk=cluster_id)


def heartbeat_is_due(cluster_id: int, now: datetime) -> bool:
    """Whether a cluster in which nothing moves is to be asked again whether it answers."""
    heartbeat = Cluster.objects.values_list("heartbeat_at", flat=True).get(pk=cluster_id)
    return heartbeat is None or now - heartbeat >= LOOK_AT_SETTLED_EVERY
