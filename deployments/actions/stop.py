"""Cancel a deployment: final at once; the agent then makes it true (specification §2)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from deployments.actions.locks import lock_deployment
from deployments.actions.move import move
from deployments.domain import actors, messages
from deployments.domain.errors import Invalid, StaleState
from deployments.domain.reasons import check_reason
from deployments.domain.states import FINAL, Cause, State, label
from deployments.models import Deployment, User


@transaction.atomic
def cancel(deployment_id: int, *, reason: str, by: User, now: datetime) -> Deployment:
    """End an open deployment as cancelled.

    Past the point of no return a reason is required, since traffic moves back. Raises StaleState
    for one that has ended or is already going back, Invalid for the reason.
    """
    check_reason(reason)
    deployment = lock_deployment(deployment_id)
    _check_may_be_cancelled(deployment, reason)
    return move(
        deployment_id,
        expected=State(deployment.state),
        to=State.CANCELLED,
        now=now,
        actor=actors.person(by.get_username()),
        message=_message(deployment, by, reason),
        cause=Cause.PERSON,
    )


def _check_may_be_cancelled(deployment: Deployment, reason: str) -> None:
    state = State(deployment.state)
    if state in FINAL:
        raise StaleState(messages.already(label(state, deployment.blocker)))
    moves_traffic = deployment.past_point_of_no_return and not deployment.verdict_blocker
    if moves_traffic and not reason.strip():
        raise Invalid.field("/reason", "A reason is needed, since traffic has moved.")


def _message(deployment: Deployment, by: User, reason: str) -> messages.Message:
    past = deployment.past_point_of_no_return
    leaves = messages.goes_back(deployment.previous_number) if past else ""
    return messages.cancelled(by.get_username(), reason.strip(), leaves)
