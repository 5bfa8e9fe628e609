"""Show or clear why a deployment does not move, write its verdict, or give its way back up."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F

from deployments.actions.events import record_event
from deployments.actions.locks import lock_deployment, lock_slot
from deployments.domain.actors import Actor
from deployments.domain.blockers import Blocker
from deployments.domain.errors import StaleState
from deployments.domain.messages import Message, already
from deployments.domain.states import State, label
from deployments.models import Deployment
from deployments.models.deployments import EventKind

VERDICT_FIELDS = [
    "verdict_blocker",
    "verdict_what",
    "verdict_leaves",
    "verdict_do",
    "blocker",
    "what",
    "leaves",
    "do",
    "version",
]


@transaction.atomic
def explain(
    deployment_id: int,
    *,
    state: State,
    blocker: Blocker | None,
    message: Message,
    now: datetime,
    actor: Actor,
) -> bool:
    """Show or clear the reason a deployment is held. Return False when nothing had to be written.

    An event only where the blocker changes; a changed message alone raises the version.
    """
    deployment = Deployment.objects.select_for_update().get(pk=deployment_id)
    changed = deployment.blocker != (blocker or "")
    if deployment.state != state or not (changed or deployment.message != message):
        return False
    if deployment.verdict_blocker:
        # Decided before the verdict: it would take away why traffic goes back.
        return False
    deployment.blocker, deployment.message = blocker or "", message
    deployment.version += 1
    deployment.save(update_fields=["blocker", "what", "leaves", "do", "version"])
    if changed:
        record_event(deployment, kind=EventKind.BLOCKER, actor=actor, now=now, message=message)
    return True


@transaction.atomic
def go_back(
    deployment_id: int,
    *,
    expected: State,
    blocker: Blocker,
    message: Message,
    now: datetime,
    actor: Actor,
) -> None:
    """Write the verdict, once. Raises StaleState when the deployment moved meanwhile."""
    deployment = lock_deployment(deployment_id)
    if deployment.state != expected or deployment.verdict_blocker:
        raise StaleState(already(label(State(deployment.state), deployment.blocker)))
    slot = lock_slot(deployment.slot_id)
    deployment.verdict_blocker = deployment.blocker = blocker.value
    deployment.message = message
    deployment.verdict_what, deployment.verdict_leaves = message.what, message.leaves
    deployment.verdict_do = message.do
    deployment.version += 1
    deployment.save(update_fields=VERDICT_FIELDS)
    slot.fence = F("fence") + 1
    slot.unsettled = True
    slot.save(update_fields=["fence", "unsettled"])
    record_event(deployment, kind=EventKind.BLOCKER, actor=actor, now=now, message=message)


@transaction.atomic
def note(deployment_id: int, *, message: Message, now: datetime, actor: Actor) -> None:
    """Write down, beside a deployment's moves, what happened to it after its end."""
    deployment = lock_deployment(deployment_id)
    record_event(deployment, kind=EventKind.NOTE, actor=actor, now=now, message=message)


@transaction.atomic
def give_up_way_back(deployment_id: int, *, leaves: str, now: datetime, actor: Actor) -> None:
    """Write, once and also on an ended row, that traffic stays on this deployment's release."""
    deployment = lock_deployment(deployment_id)
    if deployment.way_back_given_up_at is not None:
        return
    deployment.way_back_given_up_at = now
    deployment.leaves = leaves
    deployment.version += 1
    deployment.save(update_fields=["way_back_given_up_at", "leaves", "version"])
    record_event(
        deployment,
        kind=EventKind.NOTE,
        actor=actor,
        now=now,
        message=Message(leaves=leaves),
    )
