"""What is true of the rows after every step, whoever did what at the same moment.

Reads rows and returns sentences; the simulation asks the same. The numbers are those of the list
of invariants: I1 to I7, I10, I15, I16.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from deployments.domain.errors import IllegalMove
from deployments.domain.states import FINAL, MOVING, State, check_move
from deployments.models import Deployment, DeploymentEvent, Slot
from deployments.models.deployments import EventKind


def broken(slot: Slot) -> list[str]:
    """Return a sentence for each invariant that a slot's rows break; empty when all hold."""
    slot = Slot.objects.get(pk=slot.pk)
    rows = list(Deployment.objects.filter(slot=slot).prefetch_related("events").order_by("pk"))
    found = [said for row in rows for said in _of_deployment(row)]
    return [*found, *_of_lanes(rows), *_of_successors(rows), *_of_slot(slot, rows)]


def check(slot: Slot) -> None:
    """Raise AssertionError with every invariant that is broken."""
    assert broken(slot) == []


def _of_deployment(row: Deployment) -> Iterator[str]:
    events = list(row.events.all())
    moves = [event for event in events if event.kind == EventKind.MOVE]
    for said in (*_numbered(row, events), *_story(row, moves), *_signed(events)):
        yield f"{row}: {said}"
    if events and (moves[-1].to_state, events[-1].blocker) != (row.state, row.blocker):
        told = f"{moves[-1].to_state}/{events[-1].blocker}"
        yield f"{row}: I3, the events tell {told}, the row says {row.state}/{row.blocker}"


def _numbered(row: Deployment, events: list[DeploymentEvent]) -> Iterator[str]:
    if not events:
        yield "I10, it has no event"
    if [event.number for event in events] != list(range(1, len(events) + 1)):
        yield "I4, its events are not numbered from 1 without gaps"
    if row.version < len(events):
        yield f"I4, its version is {row.version} after {len(events)} events"
    if any(later.at < earlier.at for earlier, later in pairwise(events)):
        yield "I4, its events go back in time"


def _story(row: Deployment, moves: list[DeploymentEvent]) -> Iterator[str]:
    if sum(event.to_state in FINAL for event in moves) > 1:
        yield "I1, it has ended twice"
    if moves and (moves[0].from_state, moves[0].to_state) != ("", State.PENDING.value):
        yield "I2, its events do not begin with pending"
    for earlier, later in pairwise(moves):
        if later.from_state != earlier.to_state:
            yield f"I3, {later.from_state} follows on {earlier.to_state}"
        if not _is_arrow(row, later):
            yield f"I2, there is no arrow from {later.from_state} to {later.to_state}"


def _is_arrow(row: Deployment, event: DeploymentEvent) -> bool:
    route = tuple(State(stage) for stage in row.route)
    start, to = State(event.from_state), State(event.to_state)
    past = start in route and State.ACTIVATING in route[: route.index(start) + 1]
    try:
        check_move(start, to, route=route, past_point_of_no_return=past)
    except IllegalMove:
        return False
    return True


def _signed(events: list[DeploymentEvent]) -> Iterator[str]:
    for event in events:
        if not event.actor_kind or not event.actor_name:
            yield f"I10, nobody has signed event {event.number}"
        ends = event.to_state in FINAL - {State.HEALTHY}
        if ends and not event.cause:
            yield f"I10, event {event.number} ends it without a cause"


def _of_lanes(rows: Iterable[Deployment]) -> Iterator[str]:
    moving = [row for row in rows if row.state in MOVING]
    for name, past in (("I5", True), ("I6", False)):
        if sum(row.past_point_of_no_return is past for row in moving) > 1:
            yield f"{name}, two of a slot move on one side of the point of no return"


def _of_successors(rows: list[Deployment]) -> Iterator[str]:
    ids = {row.pk for row in rows}
    for row in rows:
        if row.state == State.SUPERSEDED:
            newer = row.superseded_by_id
            if newer is None or newer <= row.pk or newer not in ids:
                yield f"{row}: I15, it names no newer one of its slot"
            if row.past_point_of_no_return:
                yield f"{row}: I15, it was superseded past the point of no return"


def _of_slot(slot: Slot, rows: list[Deployment]) -> Iterator[str]:
    numbers = sorted(slot.releases.values_list("number", flat=True))
    if numbers != list(range(1, slot.releases_made + 1)):
        yield f"I16, of {slot.releases_made} releases these have a number: {numbers}"
    healthy = [row for row in rows if row.state == State.HEALTHY]
    if healthy and slot.active_release_id != healthy[-1].release_id:
        yield "I7, the active release is not the one that became healthy last"
    if slot.generation < len(rows):
        yield f"I24, {len(rows)} deployments went ahead in {slot.generation} generations"
