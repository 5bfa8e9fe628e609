"""Clocks that run only while the cluster can be seen.

A cause starts its clock when the agent first sees it; the time in which the cluster could not be
read does not count, and a cause that is gone takes its clock with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from deployments.domain.deadlines import LONGEST_GAP


@dataclass(frozen=True)
class Clock:
    """How long one cause has been seen. `subject` tells several of a kind apart (a pod's uid).

    `mark` is what must stay the same for the time to run on without a break, for instance the
    moment at which the pod itself says it became Ready. `detail` is the newest word about it.
    """

    cause: str
    since: datetime
    last_seen: datetime
    subject: str = ""
    mark: str = ""
    detail: str = ""
    unseen_seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """Return what tells this clock from the others of its deployment."""
        return self.cause, self.subject

    def seen_for(self, now: datetime) -> timedelta:
        """Return how long the cause has been seen, without the time nobody could look."""
        return now - self.since - timedelta(seconds=self.unseen_seconds)

    @property
    def lasted(self) -> timedelta:
        """Return for how long it had been seen when it was seen last."""
        return self.seen_for(self.last_seen)


@dataclass(frozen=True)
class Sighting:
    """A cause that is true in this look."""

    cause: str
    subject: str = ""
    mark: str = ""
    detail: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Return the key of the clock that it keeps running."""
        return self.cause, self.subject


def run(
    clocks: Iterable[Clock],
    sightings: Iterable[Sighting],
    now: datetime,
    *,
    longest_gap: timedelta = LONGEST_GAP,
) -> tuple[Clock, ...]:
    """Return the clocks after a look: begun, run on, or gone with their cause.

    Two sightings further apart than `longest_gap` are not without a break: that time does not
    count.
    """
    before = {clock.key: clock for clock in clocks}
    return tuple(_after(before, sighting, now, longest_gap) for sighting in sightings)


def find(clocks: Iterable[Clock], cause: str, subject: str = "") -> Clock | None:
    """Return one clock, None when its cause is not seen."""
    return next((clock for clock in clocks if clock.key == (cause, subject)), None)


def ran_for(clocks: Iterable[Clock], cause: str, now: datetime) -> timedelta:
    """Return how long a cause has been seen; zero when it is not."""
    clock = find(clocks, cause)
    return clock.seen_for(now) if clock is not None else timedelta(0)


def _after(
    before: Mapping[tuple[str, str], Clock],
    sighting: Sighting,
    now: datetime,
    longest_gap: timedelta,
) -> Clock:
    clock = before.get(sighting.key)
    # A late look must not turn time back: it may hold an older `now` than the row it meets.
    if clock is None or clock.mark != sighting.mark:
        return Clock(sighting.cause, now, now, sighting.subject, sighting.mark, sighting.detail)
    gap = max(now - clock.last_seen, timedelta(0))
    unseen = gap.total_seconds() if gap > longest_gap else 0.0
    return replace(
        clock,
        last_seen=max(now, clock.last_seen),
        detail=sighting.detail or clock.detail,
        unseen_seconds=clock.unseen_seconds + unseen,
    )
