"""The reason that a person gives for a deployment, or for ending one. Where one is needed is the
action's to say."""

from __future__ import annotations

from deployments.domain.errors import Invalid
from deployments.domain.text import clean

LONGEST_REASON = 500


def check_reason(reason: str) -> None:
    """Raise Invalid for a reason that nobody could read."""
    if len(reason) > LONGEST_REASON:
        detail = f"A reason has at most {LONGEST_REASON} characters; this has {len(reason)}."
        raise Invalid.field("/reason", detail)
    if clean(reason, LONGEST_REASON) != reason:
        raise Invalid.field("/reason", "A reason contains no control characters.")
