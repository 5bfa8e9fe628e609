"""decide(wanted, seen): what to do for one slot, from values alone.

The order is the manual's: what ended is cleaned up, traffic goes where it belongs, each moving
deployment takes at most one step. Everything here may be asked again and answers the same.
"""

from __future__ import annotations

from deployments.domain import (
    clocks,
    diagnose,
    jobs,
    messages,
    outputs,
    readiness,
    tags,
    traffic,
    upkeep,
    way_back,
)
from deployments.domain.clocks import Clock
from deployments.domain.commands import Errand, PointTraffic, WriteFence, written
from deployments.domain.deadlines import LIMITS, Limits
from deployments.domain.observations import Seen
from deployments.domain.report import report
from deployments.domain.stage_clock import sighting as stage_sighting
from deployments.domain.stages import STAGES, Look
from deployments.domain.states import State
from deployments.domain.step import Change, Note, Step, Ticking
from deployments.domain.wanted import Attempt, Wanted


def decide(wanted: Wanted, seen: Seen, *, limits: Limits = LIMITS) -> Step:
    """Return the next step for one slot."""
    ticking = tuple(_tick(attempt, wanted, seen) for attempt in _watched(wanted))
    changes = tuple(_changes(wanted, seen, ticking, limits))
    commands = _commands(wanted, seen, changes)
    settled = not commands and not changes and not wanted.moving and not _unfinished(wanted, seen)
    seen_of_it = report(wanted, seen)
    return Step(commands, changes, ticking, seen_of_it, settled, _corrected(wanted, commands))


def _corrected(wanted: Wanted, commands: tuple[Errand, ...]) -> Note | None:
    """Return what to note where traffic is led back to a release that had it for good: only
    somebody's hand can have led it away."""
    last = wanted.last_past
    if last is None or last.state is not State.HEALTHY:
        return None
    if not any(isinstance(command, PointTraffic) for command in commands):
        return None
    return Note(last.id, messages.traffic_put_right(wanted.service, last.release.number))


def _watched(wanted: Wanted) -> tuple[Attempt, ...]:
    """Return the deployments whose clocks run: those that move, and one that traffic leaves."""
    leaving = wanted.going_back
    ended = (leaving,) if leaving is not None and not leaving.moving else ()
    return (*ended, *wanted.moving)


def _tick(attempt: Attempt, wanted: Wanted, seen: Seen) -> Ticking:
    seen_now = [*way_back.sightings(attempt, wanted, seen)]
    if attempt.moving:
        seen_now += [stage_sighting(attempt), *readiness.sightings(attempt, seen)]
    if attempt.moving and not attempt.past:
        seen_now += diagnose.sightings(attempt, seen)
    running = clocks.run(attempt.clocks, seen_now, seen.now)
    refusals = way_back.refusals(attempt, wanted, seen)
    registry = tags.after_asking(attempt.clocks, seen.resolution, seen.now)
    return Ticking(attempt.id, (*running, *refusals, *registry))


def _changes(
    wanted: Wanted, seen: Seen, ticking: tuple[Ticking, ...], limits: Limits
) -> list[Change]:
    running = {tick.deployment: tick.clocks for tick in ticking}
    found = [
        _change(Look(attempt, wanted, seen, running[attempt.id], limits))
        for attempt in _watched(wanted)
    ]
    return [change for change in found if change is not None]


def _change(look: Look) -> Change | None:
    if look.attempt.goes_back:
        return way_back.change(look)
    if look.attempt.past:
        verdict = way_back.verdict(look)
        if verdict is not None:
            return verdict
    return STAGES[look.attempt.state](look)


def _commands(wanted: Wanted, seen: Seen, changes: tuple[Change, ...]) -> tuple[Errand, ...]:
    found: list[Errand] = [*outputs.of_failed_commands(changes, wanted, seen)]
    found += [*upkeep.commands(wanted, seen), *traffic.commands(wanted, seen)]
    for attempt in _with_jobs(wanted):
        found += jobs.commands(attempt, wanted, seen)
    return one_for_each_object(found)


def _with_jobs(wanted: Wanted) -> tuple[Attempt, ...]:
    last = wanted.last_past
    healthy = (last,) if last is not None and last.state is State.HEALTHY else ()
    return (*healthy, *wanted.moving)


def one_for_each_object(found: list[Errand]) -> tuple[Errand, ...]:
    """Return one write for each object: a second would carry the version before the first.

    Every change carries the fence, so a bare fence gives way to it.
    """
    kept: dict[tuple[str, str], Errand] = {}
    for command in sorted(found, key=lambda command: isinstance(command, WriteFence)):
        kept.setdefault(written(command), command)
    return tuple(kept.values())


def _unfinished(wanted: Wanted, seen: Seen) -> bool:
    runs = upkeep.running(wanted, seen)
    return upkeep.leftovers(wanted, seen, runs) or not traffic.has_arrived(wanted, seen)


def clocks_after_refusal(
    running: tuple[Clock, ...], answer: str, wanted: Wanted, seen: Seen
) -> tuple[Clock, ...]:
    """Return the clocks of a deployment whose switch the API server refused in this look."""
    return way_back.after_refusal(running, answer, wanted, seen.now)
