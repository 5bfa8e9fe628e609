"""The one place that writes an event: numbered in order under the deployment's lock."""

from __future__ import annotations

from datetime import datetime

from deployments.domain.actors import Actor
from deployments.domain.messages import NOTHING, Message
from deployments.domain.states import State
from deployments.models import Deployment, DeploymentEvent
from deployments.models.deployments import EventKind


def record_event(
    deployment: Deployment,
    *,
    kind: EventKind,
    actor: Actor,
    now: datetime,
    from_state: State | None = None,
    to_state: State | None = None,
    message: Message = NOTHING,
) -> None:
    """Append one event. The caller holds the deployment's row lock.

    A look reads the clock before it reads the rows: its `now` may lie before the last event.
    """
    last = DeploymentEvent.objects.filter(deployment=deployment).order_by("number").last()
    DeploymentEvent.objects.create(
        deployment=deployment,
        number=last.number + 1 if last is not None else 1,
        at=max(now, last.at) if last is not None else now,
        kind=kind.value,
        from_state=from_state or "",
        to_state=to_state or "",
        actor_kind=actor.kind,
        actor_name=actor.name,
        cause=deployment.cause,
        blocker=deployment.blocker,
        message=str(message),
    )
