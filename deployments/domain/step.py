"""What a decision about one slot consists of: writes for the cluster and what to record."""

from __future__ import annotations

from dataclasses import dataclass

from deployments.domain.blockers import Blocker
from deployments.domain.clocks import Clock
from deployments.domain.commands import Errand
from deployments.domain.messages import NOTHING, Message
from deployments.domain.states import State


@dataclass(frozen=True)
class Move:
    """A deployment goes on, or fails: then blocker and message say why."""

    deployment: int
    expected: State
    to: State
    blocker: Blocker | None = None
    message: Message = NOTHING


@dataclass(frozen=True)
class Explain:
    """A held deployment shows what it waits for; None clears what it showed."""

    deployment: int
    state: State
    blocker: Blocker | None
    message: Message = NOTHING


@dataclass(frozen=True)
class GoBack:
    """The verdict: traffic leaves this deployment's release, whatever recovers meanwhile."""

    deployment: int
    expected: State
    blocker: Blocker
    message: Message


@dataclass(frozen=True)
class GiveUp:
    """The way back is given up: the release that traffic is on stays. `move` ends the deployment
    where it has not ended before."""

    deployment: int
    leaves: str
    move: Move | None = None


Change = Move | Explain | GoBack | GiveUp


@dataclass(frozen=True)
class Note:
    """Something worth knowing later about a deployment that has ended."""

    deployment: int
    message: Message


@dataclass(frozen=True)
class Ticking:
    """A deployment's clocks after this look."""

    deployment: int
    clocks: tuple[Clock, ...]


@dataclass(frozen=True)
class Report:
    """What a card shows of the slot: what serves, and how many of how many."""

    serving: int | None
    ready: int
    desired: int
    rolling: bool
    detail: str = ""
    scaled_by_hand: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One decision about one slot. `settled`: nothing is left to do until something changes.

    `corrected`: what to note once this look has put the stable Service right.
    """

    commands: tuple[Errand, ...]
    changes: tuple[Change, ...]
    ticking: tuple[Ticking, ...]
    report: Report
    settled: bool
    corrected: Note | None = None
