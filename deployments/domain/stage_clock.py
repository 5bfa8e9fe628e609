"""How long a deployment has been in its stage, counting only the time in which it could be seen."""

from __future__ import annotations

from datetime import timedelta

from deployments.domain import clocks
from deployments.domain.clocks import Sighting
from deployments.domain.observations import Seen
from deployments.domain.wanted import Attempt

STAGE = "stage"


def sighting(attempt: Attempt) -> Sighting:
    """Return what keeps the stage's clock running: it begins anew with each stage."""
    return Sighting(STAGE, mark=attempt.state)


def time_in_stage(attempt: Attempt, seen: Seen) -> timedelta:
    """Return how long the present stage has been seen, this look included; zero in its first."""
    # Run on before it is read: else a time of silence would count until it is written down.
    (clock,) = clocks.run(attempt.clocks, [sighting(attempt)], seen.now)
    return clock.lasted


def drained(attempt: Attempt, seen: Seen) -> bool:
    """Whether the previous release has had its drain time while the cluster could be read."""
    return time_in_stage(attempt, seen) >= drain_time(attempt)


def drain_time(attempt: Attempt) -> timedelta:
    """Return the previous release's drain time; for a first deployment one stabilization time.

    A release without a long-running process has neither.
    """
    if attempt.previous is None:
        primary = attempt.release.config.primary
        return timedelta(seconds=primary.stabilization_seconds if primary is not None else 0)
    primary = attempt.previous.config.primary
    return timedelta(seconds=primary.drain_seconds if primary is not None else 0)
