"""Durations for tests: minutes become seconds, unless `SOAK=1` asks for the real ones."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta

from deployments.domain.causes import TABLE, Cause
from deployments.domain.deadlines import LIMITS, Limits

SOAK = os.environ.get("SOAK") == "1"
_SECONDS = {
    Cause.IMAGE_REFUSED: 6,
    Cause.IMAGE_UNREACHABLE: 8,
    Cause.CONTAINER_REFUSED: 8,
}
_CAUSES = {
    cause: replace(row, not_before=timedelta(seconds=_SECONDS[cause])) if cause in _SECONDS else row
    for cause, row in TABLE.items()
}
_SHORT = Limits(
    registry_refused=timedelta(seconds=1),
    registry_unreachable=timedelta(seconds=8),
    qualifying=timedelta(seconds=10),
    unready=timedelta(seconds=4),
    switch_refused=timedelta(seconds=8),
    way_back=timedelta(seconds=20),
    causes=_CAUSES,
)

HURRIED = LIMITS if SOAK else _SHORT
