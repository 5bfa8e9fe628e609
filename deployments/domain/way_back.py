"""When traffic has to leave a release again: the verdict, the way back, and giving it up.

The verdict is written before anything is done; from then on only going back is possible, whatever
recovers meanwhile (specification §2, Verdict).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from deployments.domain import clocks, messages, names, readiness, traffic
from deployments.domain.blockers import Blocker
from deployments.domain.clocks import Clock, Sighting
from deployments.domain.messages import Message
from deployments.domain.observations import Seen
from deployments.domain.stages import Look
from deployments.domain.states import State
from deployments.domain.step import Change, GiveUp, GoBack, Move
from deployments.domain.wanted import Attempt, Wanted

PREVIOUS_NOT_READY = "previous-not-ready"
SWITCHED_WITHOUT_EFFECT = "switched-without-effect"
SWITCH_REFUSED = "switch-refused"
NEVER = timedelta(seconds=-1)


def sightings(attempt: Attempt, wanted: Wanted, seen: Seen) -> Iterator[Sighting]:
    """Return what keeps traffic from where it belongs, in this look."""
    if attempt is not wanted.last_past:
        return
    if attempt.goes_back and not traffic.is_leaving(wanted, seen):
        return
    if attempt.goes_back and not traffic.enough_ready_to_go_back(wanted, seen):
        yield Sighting(PREVIOUS_NOT_READY)
    elif traffic.points_right(wanted, seen) and not traffic.has_arrived(wanted, seen):
        yield Sighting(SWITCHED_WITHOUT_EFFECT)


def refusals(attempt: Attempt, wanted: Wanted, seen: Seen) -> tuple[Clock, ...]:
    """Return the clock of refusals that still counts: the switch is the same, and not done."""
    if attempt is not wanted.last_past or traffic.points_right(wanted, seen):
        return ()
    found = clocks.find(attempt.clocks, SWITCH_REFUSED)
    return (found,) if found is not None and found.mark == _where_to(wanted) else ()


def after_refusal(
    running: tuple[Clock, ...], answer: str, wanted: Wanted, now: datetime
) -> tuple[Clock, ...]:
    """Return the clocks once the API server has refused the switch in this look."""
    others = tuple(clock for clock in running if clock.cause != SWITCH_REFUSED)
    before = [clock for clock in running if clock.cause == SWITCH_REFUSED]
    refused = Sighting(SWITCH_REFUSED, mark=_where_to(wanted), detail=answer)
    return (*others, *clocks.run(before, [refused], now))


def _where_to(wanted: Wanted) -> str:
    number = traffic.selection(wanted)
    return names.NO_RELEASE if number is None else names.release_tag(number)


def verdict(look: Look) -> GoBack | None:
    """Return the verdict on a release that takes traffic, None while it may go on."""
    attempt, seen = look.attempt, look.seen
    unready = clocks.find(look.clocks, readiness.UNREADY)
    if unready is not None and unready.seen_for(seen.now) >= look.limits.unready:
        what = messages.turned_unready(attempt.release.number, unready.detail, _goes(attempt))
        return GoBack(attempt.id, attempt.state, Blocker.READINESS, what)
    failed = _switch_failed(look)
    if failed is not None:
        return GoBack(attempt.id, attempt.state, Blocker.ROUTE_ACTIVATION, failed)
    return None


def _switch_failed(look: Look) -> Message | None:
    """Return why the switch counts as failed, None while it may still work."""
    attempt = look.attempt
    if attempt.state is not State.ACTIVATING:
        return None
    if _lasted(look, SWITCH_REFUSED) >= look.limits.switch_refused:
        refused = clocks.find(look.clocks, SWITCH_REFUSED)
        return messages.switch_refused(refused.detail if refused else "", _goes(attempt))
    if _lasted(look, SWITCHED_WITHOUT_EFFECT) >= look.limits.switch_refused:
        return messages.switch_without_effect(attempt.release.number, _goes(attempt))
    return None


def _goes(attempt: Attempt) -> str:
    return messages.goes_back(attempt.previous_number)


def change(look: Look) -> Change | None:
    """Return the end of a way back: traffic has arrived, or it is given up."""
    if traffic.has_arrived(look.wanted, look.seen):
        return _arrived(look) if look.attempt.moving else None
    return _given_up(look) if _is_out_of_time(look) else None


def _arrived(look: Look) -> Move:
    attempt, wanted = look.attempt, look.wanted
    if attempt.verdict is None:
        raise ValueError("A deployment that moves goes back by verdict only.")
    said = attempt.verdict.message
    leaves = messages.keeps_serving(wanted.service, wanted.target_number)
    message = Message(said.what, leaves, said.do)
    return Move(attempt.id, attempt.state, State.FAILED, attempt.verdict.blocker, message)


def _is_out_of_time(look: Look) -> bool:
    if not traffic.is_leaving(look.wanted, look.seen):
        return False
    return _never_ready(look) or any(
        _lasted(look, cause) >= look.limits.switch_refused
        for cause in (SWITCH_REFUSED, SWITCHED_WITHOUT_EFFECT)
    )


def _never_ready(look: Look) -> bool:
    return _lasted(look, PREVIOUS_NOT_READY) >= look.limits.way_back


def _lasted(look: Look, cause: str) -> timedelta:
    clock = clocks.find(look.clocks, cause)
    return clock.lasted if clock is not None else NEVER


def _given_up(look: Look) -> GiveUp:
    attempt, previous = look.attempt, look.attempt.previous_number
    leaves = (
        messages.previous_never_ready(previous, attempt.release.number)
        if previous is not None and _never_ready(look)
        else messages.could_not_switch_back(previous, attempt.release.number)
    )
    if not attempt.moving or attempt.verdict is None:
        return GiveUp(attempt.id, leaves)
    said = attempt.verdict
    message = Message(said.message.what, leaves, said.message.do)
    end = Move(attempt.id, attempt.state, State.FAILED, said.blocker, message)
    return GiveUp(attempt.id, leaves, end)
