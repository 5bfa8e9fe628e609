"""Small helpers for JSON values: copies, and times as text. Nothing about kinds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

# Any JSON value: what it is, is known only once it is looked at.
Json = Any
T = TypeVar("T")


def copy_json(value: T) -> T:
    """Copy a JSON value deeply; several times faster than `copy.deepcopy`."""
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, list):
        return [copy_json(item) for item in value]  # type: ignore[return-value]
    return value


def without_nulls(value: T) -> T:
    """Copy a JSON value without its nulls, which mean "not set" to the API."""
    if isinstance(value, dict):
        return {  # type: ignore[return-value]
            key: without_nulls(item) for key, item in value.items() if item is not None
        }
    if isinstance(value, list):
        return [without_nulls(item) for item in value]  # type: ignore[return-value]
    return value


def timestamp(seconds: float) -> str:
    """Return a point in time as the API writes it: UTC, whole seconds, `2026-01-02T03:04:05Z`."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str) -> float:
    """Return the seconds since 1970 of an API timestamp, with or without a fraction."""
    return datetime.fromisoformat(text).timestamp()


def meta(obj: dict[str, Any]) -> dict[str, Any]:
    """Return the object's metadata, made when missing."""
    found: dict[str, Any] = obj.setdefault("metadata", {})
    return found
