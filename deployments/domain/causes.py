"""The causes that can fail a deployment, in the order in which the most specific wins, each with
how long it has to last (specification §7, "When a cause is a failure").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from deployments.domain.blockers import Blocker

CRASHES_THAT_COUNT = 3


class Cause(StrEnum):
    """What keeps a pod from running, the most specific first."""

    IMAGE_INVALID = "image-invalid"
    IMAGE_REFUSED = "image-refused"
    IMAGE_UNREACHABLE = "image-unreachable"
    CONTAINER_REFUSED = "container-refused"
    CRASHING = "crashing"


@dataclass(frozen=True)
class Row:
    """One row of the table: which blocker a cause is, and when it has become a failure."""

    blocker: Blocker
    not_before: timedelta


AT_ONCE = timedelta(0)

TABLE: Mapping[Cause, Row] = {
    Cause.IMAGE_INVALID: Row(Blocker.IMAGE_PULL, AT_ONCE),
    # Kubelet tries again after 10 s and 20 s: three attempts lie within these 45 s.
    Cause.IMAGE_REFUSED: Row(Blocker.IMAGE_PULL, timedelta(seconds=45)),
    Cause.IMAGE_UNREACHABLE: Row(Blocker.IMAGE_PULL, timedelta(minutes=3)),
    Cause.CONTAINER_REFUSED: Row(Blocker.STARTUP, timedelta(seconds=90)),
    # It counts restarts, not time: it is seen only from the third one on.
    Cause.CRASHING: Row(Blocker.STARTUP, AT_ONCE),
}

ORDER = tuple(Cause)
