"""A deployment goes ahead: which older ones of its slot it ends, and behind which it waits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deployments.domain.states import OPEN, State


@dataclass(frozen=True)
class Open:
    """An open deployment of the slot. Order is by id, never by release number."""

    id: int
    state: State
    past: bool


@dataclass(frozen=True)
class Succession:
    """The ids that a deployment ends, and the one that it waits behind."""

    ends: tuple[int, ...]
    behind: int | None


def succeed(newer: int, others: Iterable[Open]) -> Succession:
    """Return what a deployment that goes ahead does to the slot's other open ones.

    Those before the point of no return, or awaiting approval, end; one past it finishes first.
    """
    older = [other for other in others if other.id < newer and other.state in OPEN]
    past = [other.id for other in older if other.past]
    ends = tuple(sorted(other.id for other in older if not other.past))
    return Succession(ends, past[0] if past else None)
