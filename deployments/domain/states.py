"""The states of a deployment, their labels, and the routes between them.

What names why a deployment does not move is in `blockers`; how long a stage usually takes is in
`deadlines`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from deployments.domain.blockers import Blocker
from deployments.domain.errors import IllegalMove


class State(StrEnum):
    """The thirteen states, in the order of the manual (seed: Deployment states)."""

    AWAITING_APPROVAL = "awaiting-approval"
    PENDING = "pending"
    ADMITTED = "admitted"
    RELEASING = "releasing"
    STARTING = "starting"
    QUALIFYING = "qualifying"
    ACTIVATING = "activating"
    DRAINING = "draining"
    HEALTHY = "healthy"
    FAILED = "failed"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class Kind(StrEnum):
    """What a deployment was asked for as."""

    DEPLOY = "deploy"
    ROLLBACK = "rollback"
    PROMOTE = "promote"


class Cause(StrEnum):
    """Why a deployment ended, apart from the message that says it to a person."""

    PERSON = "person"
    EXPIRED = "expired"
    NEWER = "newer"
    DEPENDENCY = "dependency"
    BLOCKER = "blocker"
    ORGANIZATION = "organization"


Route = tuple[State, ...]

USUAL_ROUTE: Route = (
    State.PENDING,
    State.ADMITTED,
    State.STARTING,
    State.QUALIFYING,
    State.ACTIVATING,
    State.DRAINING,
    State.HEALTHY,
)
STOP_FIRST_ROUTE: Route = (
    State.PENDING,
    State.ADMITTED,
    State.DRAINING,
    State.STARTING,
    State.QUALIFYING,
    State.ACTIVATING,
    State.HEALTHY,
)

FINAL = frozenset({State.HEALTHY, State.FAILED, State.REJECTED, State.CANCELLED, State.SUPERSEDED})
OPEN = frozenset(State) - FINAL
MOVING = OPEN - {State.AWAITING_APPROVAL}

LABELS: Mapping[State, str] = {
    State.AWAITING_APPROVAL: "Waiting for approval",
    State.PENDING: "Deploying: Pending",
    State.ADMITTED: "Deploying: Admitted",
    State.RELEASING: "Deploying: Release command",
    State.STARTING: "Deploying: Starting",
    State.QUALIFYING: "Deploying: Qualifying",
    State.ACTIVATING: "Deploying: Activating",
    State.DRAINING: "Deploying: Draining",
    State.HEALTHY: "Healthy",
    State.FAILED: "Failed",
    State.REJECTED: "Rejected",
    State.CANCELLED: "Cancelled",
    State.SUPERSEDED: "Superseded",
}

STAGE_NAMES: Mapping[State, str] = {
    state: LABELS[state].removeprefix("Deploying: ") for state in MOVING
}

_ENDS: Mapping[State, frozenset[State]] = {
    State.AWAITING_APPROVAL: frozenset({State.REJECTED, State.CANCELLED, State.SUPERSEDED}),
    **dict.fromkeys(MOVING, frozenset({State.FAILED, State.CANCELLED, State.SUPERSEDED})),
}


def route_of(*, release_command: bool, stop_first: bool) -> Route:
    """Return a deployment's own route, from pending to healthy.

    `stop_first` is a release with a volume whose downtime is acknowledged: the previous release
    is drained before the new one starts (specification §2).
    """
    route = STOP_FIRST_ROUTE if stop_first else USUAL_ROUTE
    if not release_command:
        return route
    after_admitted = route.index(State.ADMITTED) + 1
    return (*route[:after_admitted], State.RELEASING, *route[after_admitted:])


def next_stage(route: Route, state: State) -> State:
    """Return what follows `state` on this route. Raises IllegalMove where nothing does."""
    if state not in route or state == route[-1]:
        raise IllegalMove(f"Nothing follows {state} on the route {' → '.join(route)}.")
    return route[route.index(state) + 1]


def check_move(start: State, to: State, *, route: Route, past_point_of_no_return: bool) -> None:
    """Raise IllegalMove unless the route, or an end that `start` allows, has this arrow."""
    if start in FINAL:
        raise IllegalMove(f"{start} is final.")
    if to is State.SUPERSEDED and past_point_of_no_return:
        raise IllegalMove("A deployment that is taking over traffic is not superseded.")
    if to in _ENDS[start] or _goes_on(start, to, route):
        return
    raise IllegalMove(f"There is no arrow from {start} to {to} on the route {' → '.join(route)}.")


def _goes_on(start: State, to: State, route: Route) -> bool:
    if start is State.AWAITING_APPROVAL:
        return to is State.PENDING
    return start in route and to is next_stage(route, start)


def passes_point_of_no_return(to: State) -> bool:
    """Whether entering this state lies past the point of no return (specification §2)."""
    return to is State.ACTIVATING


def is_held(state: State, blocker: str) -> bool:
    """Whether a deployment waits for something that is no fault."""
    return state in OPEN and blocker == Blocker.WAITING


def label(state: State, blocker: str) -> str:
    """Return the console label: `Failed: readiness`, `Waiting` for a held one, else the state's."""
    if state is State.FAILED:
        return f"Failed: {blocker}"
    return "Waiting" if is_held(state, blocker) else LABELS[state]
