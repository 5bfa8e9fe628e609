"""Slots with a deployment in some state, with the events that it would have by then."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

from deployments.domain.states import USUAL_ROUTE, State
from deployments.models import Deployment, DeploymentEvent, Environment, Slot
from deployments.models.deployments import EventKind
from tests.factories import NOON, make_active, make_deployment, make_environment, make_slot

LATER = NOON + timedelta(minutes=1)
ENDS_AFTER = {State.HEALTHY: State.DRAINING}

_names = count(1)


def make_place() -> Environment:
    """Make an environment whose slots a test makes one for each trial."""
    return make_environment()


def new_slot(place: Environment) -> Slot:
    """Make a slot that nothing was deployed into."""
    return make_slot(place, f"web-{next(_names)}")


def deployment_in(place: Environment, state: State) -> Deployment:
    """Make a slot with r-1 serving by right, and a deployment of r-2 on its way to here."""
    slot = new_slot(place)
    serving = make_active(slot)
    past = state in USUAL_ROUTE[USUAL_ROUTE.index(State.ACTIVATING) :]
    made = make_deployment(slot, state=state, previous=serving if past else None)
    path = USUAL_ROUTE[: USUAL_ROUTE.index(state) + 1]
    DeploymentEvent.objects.bulk_create(
        DeploymentEvent(
            deployment=made,
            number=number,
            at=NOON,
            kind=EventKind.MOVE.value,
            from_state=path[number - 2].value if number > 1 else "",
            to_state=to.value,
            actor_kind="agent",
            actor_name="practice",
        )
        for number, to in enumerate(path, start=1)
    )
    Deployment.objects.filter(pk=made.pk).update(version=len(path))
    return Deployment.objects.get(pk=made.pk)
