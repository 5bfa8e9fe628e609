"""When the registry is asked for a tag's digest, and when its answer has become a failure.

Not before the second no, 15 s after the first; silence has 3 minutes (specification §7).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from deployments.domain import clocks
from deployments.domain.clocks import Clock, Sighting
from deployments.domain.deadlines import Limits
from deployments.domain.observations import Resolution

REFUSED = "registry-refused"
UNREACHABLE = "registry-unreachable"
ASK_EVERY = timedelta(seconds=15)
# A registry that does not answer makes a look slow; only a longer silence of ours is a break.
LONGEST_GAP = timedelta(seconds=45)
_CAUSES = frozenset({REFUSED, UNREACHABLE})


def ask_now(running: Iterable[Clock], now: datetime) -> bool:
    """Whether it is time to ask the registry: at once, then every 15 s."""
    asked = [clock.last_seen for clock in running if clock.cause in _CAUSES]
    return not asked or now - max(asked) >= ASK_EVERY


def after_asking(
    running: Iterable[Clock], resolution: Resolution | None, now: datetime
) -> tuple[Clock, ...]:
    """Return the registry's clocks: run on by an answer, untouched when nobody asked.

    Only a digest stops them: a registry that says no and falls silent by turns has failed too.
    """
    before = [clock for clock in running if clock.cause in _CAUSES]
    if resolution is None:
        return tuple(before)
    if resolution.digest:
        return ()
    run_on = clocks.run(before, _sightings(resolution), now, longest_gap=LONGEST_GAP)
    return (*(c for c in before if clocks.find(run_on, c.cause) is None), *run_on)


def _sightings(resolution: Resolution) -> list[Sighting]:
    if resolution.refused:
        return [Sighting(REFUSED, detail=resolution.refused)]
    if resolution.unreachable:
        return [Sighting(UNREACHABLE, detail=resolution.unreachable)]
    return []


def refused_for_good(running: Iterable[Clock], limits: Limits) -> str | None:
    """Return the registry's answer once it has said no twice, far enough apart."""
    clock = clocks.find(running, REFUSED)
    if clock is None or clock.last_seen - clock.since < limits.registry_refused:
        return None
    return clock.detail


def unreachable_for_good(running: Iterable[Clock], limits: Limits) -> str | None:
    """Return why the registry cannot be reached, once that has lasted long enough."""
    clock = clocks.find(running, UNREACHABLE)
    if clock is None or clock.lasted < limits.registry_unreachable:
        return None
    return clock.detail


def newest_answer(running: Iterable[Clock]) -> str | None:
    """Return what the registry said last, None while it has not kept the tag back."""
    asked = [clock for clock in running if clock.cause in {REFUSED, UNREACHABLE}]
    return max(asked, key=lambda clock: clock.last_seen).detail if asked else None
