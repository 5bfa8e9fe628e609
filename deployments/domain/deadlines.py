"""How long a stage usually takes, and the durations after which a cause has become a failure.

One table for each, so that a person can compare them line by line with the manual and with the
specification's §7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from deployments.domain.causes import TABLE, Cause, Row
from deployments.domain.states import State

USUAL_TIME: Mapping[State, timedelta] = {
    State.PENDING: timedelta(minutes=1),
    State.ADMITTED: timedelta(minutes=3),
    State.RELEASING: timedelta(minutes=30),
    State.STARTING: timedelta(minutes=10),
    State.QUALIFYING: timedelta(minutes=7),
    State.ACTIVATING: timedelta(minutes=4),
    State.DRAINING: timedelta(minutes=20),
}

AGENT_OFFLINE_AFTER = timedelta(minutes=1)


@dataclass(frozen=True)
class Limits:
    """When a cause has become a failure. A test may shorten them; nothing else does."""

    registry_refused: timedelta = timedelta(seconds=15)
    registry_unreachable: timedelta = timedelta(minutes=3)
    qualifying: timedelta = timedelta(minutes=5)
    unready: timedelta = timedelta(seconds=30)
    switch_refused: timedelta = timedelta(minutes=2)
    way_back: timedelta = timedelta(minutes=5)
    causes: Mapping[Cause, Row] = field(default_factory=lambda: TABLE)


LIMITS = Limits()

# Two sightings further apart than this are not "without a break": what happened between them was
# not seen, so a clock does not run over the gap.
LONGEST_GAP = timedelta(seconds=20)
