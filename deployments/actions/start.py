"""Start a deployment: make its release, let it go ahead, and end what it replaces.

One transaction: a refusal leaves no row and ends nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from deployments.actions.events import record_event
from deployments.actions.freeze import freeze_release
from deployments.actions.locks import lock_slot
from deployments.actions.move import move
from deployments.domain import actors, images, messages
from deployments.domain.actors import Actor
from deployments.domain.blockers import Blocker
from deployments.domain.reasons import check_reason
from deployments.domain.releases import Config
from deployments.domain.states import OPEN, Cause, Kind, State
from deployments.domain.succession import Open, Succession, succeed
from deployments.models import Deployment, Release, Slot, User
from deployments.models.deployments import EventKind
from deployments.queue import look_soon


@dataclass(frozen=True)
class Started:
    """What a request to deploy brought about: the deployment, and the ids of those it ended."""

    deployment: Deployment
    ended: tuple[int, ...]


@transaction.atomic
def deploy(slot_id: int, *, image: str, reason: str, by: User, now: datetime) -> Started:
    """Deploy an image into a slot: a new release with the slot's settings of this moment.

    `image` as a person gives it (specification §6). Raises Invalid, and leaves nothing behind,
    when it is no image reference or the reason is too long.
    """
    slot = lock_slot(slot_id)
    reference = images.complete(
        image,
        repository=slot.settings.get("image_repository"),
        default_registry=slot.environment.default_registry or None,
    )
    check_reason(reason)
    release = freeze_release(slot, reference, now=now)
    return let_run(slot, release, kind=Kind.DEPLOY, reason=reason, by=by, now=now)


def let_run(
    slot: Slot, release: Release, *, kind: Kind, reason: str, by: User, now: datetime
) -> Started:
    """Let a deployment of this release go ahead. The caller holds the slot's lock.

    Older deployments before the point of no return end; behind one past it the new one waits.
    """
    deployment_id = _next_id()
    succession = succeed(deployment_id, _open(slot))
    actor = actors.person(by.get_username())
    title = messages.title(kind, release.number)
    for earlier in succession.ends:
        _supersede(earlier, by_id=deployment_id, title=title, actor=actor, now=now)
    deployment = _insert(
        deployment_id, slot, release, succession, kind=kind, reason=reason, by=by, now=now
    )
    _go_ahead(slot, deployment, actor=actor, now=now)
    return Started(deployment, succession.ends)


def _next_id() -> int:
    # The id is drawn first: those it ends name it, and have to end before it is inserted, or the
    # lane would hold two.
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('deployments_deployment', 'id'))")
        row: tuple[int] = cursor.fetchone()
    return row[0]


def _open(slot: Slot) -> list[Open]:
    rows = Deployment.objects.filter(slot=slot, state__in=OPEN).order_by("pk")
    return [Open(row.pk, State(row.state), row.past_point_of_no_return) for row in rows]


def _supersede(earlier: int, *, by_id: int, title: str, actor: Actor, now: datetime) -> None:
    state = State(Deployment.objects.values_list("state", flat=True).get(pk=earlier))
    move(
        earlier,
        expected=state,
        to=State.SUPERSEDED,
        now=now,
        actor=actor,
        message=messages.superseded_by(title),
        cause=Cause.NEWER,
        superseded_by=by_id,
    )


def _insert(
    deployment_id: int,
    slot: Slot,
    release: Release,
    succession: Succession,
    *,
    kind: Kind,
    reason: str,
    by: User,
    now: datetime,
) -> Deployment:
    held = _held_behind(succession)
    return Deployment.objects.create(
        pk=deployment_id,
        slot=slot,
        release=release,
        kind=kind.value,
        state=State.PENDING.value,
        state_since=now,
        route=[stage.value for stage in Config.from_json(release.config or {}).route],
        blocker=Blocker.WAITING.value if held else "",
        what=held,
        reason=reason,
        created_by=by,
        created_at=now,
    )


def _held_behind(succession: Succession) -> str:
    if succession.behind is None:
        return ""
    ahead = Deployment.objects.select_related("release").get(pk=succession.behind)
    title = messages.title(ahead.kind, ahead.release.number)
    if ahead.verdict_blocker:
        return messages.waiting_for_traffic(title, ahead.previous_number).what
    return messages.waiting_for_takeover(title).what


def _go_ahead(slot: Slot, deployment: Deployment, *, actor: Actor, now: datetime) -> None:
    slot.generation += 1
    slot.fence += 1
    slot.unsettled = True
    slot.card_version += 1
    slot.save(update_fields=["generation", "fence", "unsettled", "card_version"])
    record_event(
        deployment,
        kind=EventKind.MOVE,
        actor=actor,
        now=now,
        to_state=State.PENDING,
        message=deployment.message,
    )
    look_soon(slot.environment.cluster_id)
