"""Which objects the API server refuses, in its words. What admission refuses is not here."""

from __future__ import annotations

from typing import Any

from deployments.practice import errors
from deployments.practice.kinds import Kind
from deployments.practice.validation.metadata import check_metadata

Object = dict[str, Any]
Causes = list[errors.Cause]


def check_new(kind: Kind, new: Object) -> None:
    """Raise 422 with every cause unless this object may be created."""
    causes = check_metadata(kind, new["metadata"])
    _refuse(kind, new, causes)


def check_change(kind: Kind, new: Object, old: Object, subresource: str) -> None:
    """Raise 422 with every cause unless `old` may become `new`."""


def _refuse(kind: Kind, new: Object, causes: Causes) -> None:
    if causes:
        raise errors.invalid(kind, new["metadata"].get("name", ""), causes)
