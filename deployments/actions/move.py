"""The one function that writes a deployment's state, under one lock, with one event."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from deployments.actions.events import record_event
from deployments.actions.locks import lock_deployment, lock_slot
from deployments.actions.succeed import make_active, previous_release
from deployments.domain import messages
from deployments.domain.actors import Actor
from deployments.domain.blockers import Blocker
from deployments.domain.errors import StaleState
from deployments.domain.messages import NOTHING, Message
from deployments.domain.states import (
    FINAL,
    Cause,
    State,
    check_move,
    label,
    passes_point_of_no_return,
)
from deployments.models import Deployment, Slot
from deployments.models.deployments import EventKind
from deployments.queue import look_soon

STATE_FIELDS = [
    "state",
    "state_since",
    "blocker",
    "what",
    "leaves",
    "do",
    "cause",
    "version",
    "ended_at",
    "superseded_by",
    "past_point_of_no_return",
    "previous_release",
]


@transaction.atomic
def move(
    deployment_id: int,
    *,
    expected: State,
    to: State,
    now: datetime,
    actor: Actor,
    blocker: Blocker | None = None,
    message: Message = NOTHING,
    cause: Cause | None = None,
    superseded_by: int | None = None,
) -> Deployment:
    """Move one deployment and record the event.

    Raises StaleState when the row is no longer in `expected`, IllegalMove when its route has no
    such arrow. Entering `activating` passes the point of no return and fixes the previous release;
    `healthy` makes the release the active one.
    """
    deployment = lock_deployment(deployment_id)
    _check(deployment, expected, to)
    slot = lock_slot(deployment.slot_id)
    # A look reads the clock before it reads the rows, so its `now` may be a little older than they.
    now = max(now, deployment.state_since)
    deployment.state, deployment.state_since = to.value, now
    deployment.blocker, deployment.cause = blocker or "", cause or ""
    deployment.message = message
    deployment.superseded_by_id = superseded_by
    deployment.ended_at = now if to in FINAL else None
    deployment.version += 1
    _pass_the_point(deployment, slot, expected, to)
    deployment.save(update_fields=STATE_FIELDS)
    _keep_the_slot(deployment, slot, to, now)
    record_event(
        deployment,
        kind=EventKind.MOVE,
        actor=actor,
        now=now,
        from_state=expected,
        to_state=to,
        message=message,
    )
    look_soon(slot.environment.cluster_id)
    return deployment


def _check(deployment: Deployment, expected: State, to: State) -> None:
    state = State(deployment.state)
    if state is not expected:
        raise StaleState(messages.already(label(state, deployment.blocker)))
    if deployment.verdict_blocker and to is not State.FAILED:
        # A look that had decided before the verdict must not let the release go on after it.
        raise StaleState(
            messages.already_going_back(deployment.release.number, deployment.previous_number)
        )
    route = tuple(State(stage) for stage in deployment.route)
    check_move(state, to, route=route, past_point_of_no_return=deployment.past_point_of_no_return)


def _pass_the_point(deployment: Deployment, slot: Slot, start: State, to: State) -> None:
    """Fix what goes back to what, and raise the fence, where traffic begins or ceases to move."""
    passes = passes_point_of_no_return(to)
    ended_past = deployment.past_point_of_no_return and to in FINAL
    if passes:
        deployment.previous_release = previous_release(slot)
        deployment.past_point_of_no_return = True
    if passes or ended_past:
        slot.fence += 1


def _keep_the_slot(deployment: Deployment, slot: Slot, to: State, now: datetime) -> None:
    if to is State.HEALTHY:
        make_active(deployment.release, slot, now=now)
    slot.unsettled = True
    slot.save(update_fields=["fence", "unsettled", "active_release"])
