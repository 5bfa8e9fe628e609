"""What a service may be. Its settings are in `settings`, its slug's rule in `names`."""

from __future__ import annotations

from deployments.domain.documents import quoted

APP = "app"
DATABASE = "database"
DATABASES_LATER = "Database services come with a later version; until then a service is an app."


def kind_problem(kind: str) -> str | None:
    """Return what is wrong with a service's kind, or None."""
    if kind == DATABASE:
        return DATABASES_LATER
    return None if kind == APP else f"kind is {APP}; this is {quoted(kind)}."
