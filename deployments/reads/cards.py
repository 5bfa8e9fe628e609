"""What the console's pages show, as frozen values; the queries that fill them are in `pages`.

Nothing here holds the time of day: a value changes only when something happened, so its
fingerprint tells whether a page that is open somewhere is still right. Durations that run are
written by the template tags from the moments given here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from deployments.domain.messages import NOTHING, Message
from deployments.domain.states import OPEN, State

# Seconds between two questions of an open page: while something moves, and while nothing does
# (the lifecycle word can still change, and somebody may deploy).
WHILE_MOVING = 3
WHILE_SETTLED = 15


class Tone(StrEnum):
    """The five colours of the console, each with an icon of its own shape."""

    MOVING = "moving"
    WAITING = "waiting"
    GOOD = "good"
    BAD = "bad"
    IDLE = "idle"

    @property
    def icon(self) -> str:
        """Return the name of its shape in `static/icons.svg`."""
        return _ICONS[self]


_ICONS: Mapping[Tone, str] = {
    Tone.MOVING: "ring",
    Tone.WAITING: "clock",
    Tone.GOOD: "tick",
    Tone.BAD: "cross",
    Tone.IDLE: "dashed",
}

_STATE_TONES: Mapping[State, Tone] = {
    State.AWAITING_APPROVAL: Tone.WAITING,
    State.HEALTHY: Tone.GOOD,
    State.FAILED: Tone.BAD,
    State.REJECTED: Tone.BAD,
    State.CANCELLED: Tone.IDLE,
    State.SUPERSEDED: Tone.IDLE,
}

_LIFECYCLE_TONES: Mapping[str, Tone] = {
    "UpdateInProgress": Tone.MOVING,
    "Ready": Tone.GOOD,
    "PartiallyReady": Tone.WAITING,
    "Unavailable": Tone.BAD,
    "Failed": Tone.BAD,
}


def state_tone(state: State, blocker: str) -> Tone:
    """Return the colour of a deployment: one that is held or late waits, it does not move."""
    if state in _STATE_TONES:
        return _STATE_TONES[state]
    return Tone.WAITING if blocker else Tone.MOVING


def lifecycle_tone(word: str, *, confirmed: bool) -> Tone:
    """Return the colour of a lifecycle word; what is not confirmed is never green."""
    return _LIFECYCLE_TONES.get(word, Tone.IDLE) if confirmed else Tone.IDLE


@dataclass(frozen=True)
class Sign:
    """A word and its colour, which always stand together."""

    word: str
    tone: Tone


NOT_DEPLOYED = Sign("Not deployed", Tone.IDLE)


class Progress(StrEnum):
    """How far a stage has come."""

    DONE = "done"
    NOW = "now"
    ENDED = "ended"  # the stage in which the deployment ended
    AHEAD = "ahead"


@dataclass(frozen=True)
class StageRow:
    """One stage of a deployment's own route. `since` is set while the stage runs, `spent` after."""

    name: str
    progress: Progress
    tone: Tone
    usual: timedelta
    since: datetime | None = None
    spent: timedelta | None = None
    command: str = ""  # of the stage of the release command

    @property
    def reached(self) -> bool:
        """Whether the deployment has been in this stage."""
        return self.progress is not Progress.AHEAD


@dataclass(frozen=True)
class Serving:
    """What a service is like now, which is another fact than how its last deployment went.

    `ready` and `desired` are None while nothing has been observed, `release` is empty while
    nothing serves.
    """

    lifecycle: str
    confirmed: bool
    ready: int | None = None
    desired: int | None = None
    release: str = ""
    detail: str = ""

    @property
    def sign(self) -> Sign:
        """Return the word and colour: `Ready, unconfirmed` where it is not confirmed."""
        tone = lifecycle_tone(self.lifecycle, confirmed=self.confirmed)
        unconfirmed = "" if self.confirmed or self.lifecycle == "NotDeployed" else ", unconfirmed"
        return Sign(self.lifecycle + unconfirmed, tone)

    @property
    def counts(self) -> str:
        """Return `2/3`, empty while nothing has been observed, or where nothing runs all the time:
        a service of schedules alone has no replicas to count."""
        return f"{self.ready or 0}/{self.desired}" if self.desired else ""

    @property
    def summary(self) -> str:
        """Return which release serves with how many: `r-7 serves, 3/3`."""
        if not self.release:
            return ""
        counts = f", {self.counts}" if self.counts else ""
        return f"{self.release} serves{counts}"


@dataclass(frozen=True)
class Image:
    """An image as a person gave it, and the digest that runs (empty until it is known)."""

    reference: str
    digest: str = ""

    @property
    def short_digest(self) -> str:
        """Return `sha256:9f2c…41aa`, empty while the digest is not known."""
        algorithm, _, value = self.digest.partition(":")
        return f"{algorithm}:{value[:4]}…{value[-4:]}" if value else ""


@dataclass(frozen=True)
class Place:
    """Where a card or a page belongs, as the addresses name it."""

    project: str
    environment: str
    service: str

    @property
    def key(self) -> str:
        """Return the id of its card in a page; `.` is in no slug, so two never meet."""
        return f"card.{self.environment}.{self.service}"


@dataclass(frozen=True)
class Attempt:
    """One deployment as cards and lists show it. `since` is when its present state began."""

    id: int
    release: str
    replaces: str
    state: State
    sign: Sign
    since: datetime
    created_at: datetime
    by: str
    reason: str
    image: Image
    message: Message = NOTHING
    stages: tuple[StageRow, ...] = ()

    @property
    def open(self) -> bool:
        """Whether it can still change."""
        return self.state in OPEN

    @property
    def failed(self) -> bool:
        """Whether it has failed, so that what its containers wrote is what to read."""
        return self.state is State.FAILED

    @property
    def replacing(self) -> str:
        """Return the release that it is about to take over from, empty once it has ended."""
        return self.replaces if self.open else ""

    @property
    def stage(self) -> StageRow | None:
        """Return the stage that runs, None when it waits for a person or has ended."""
        return next((row for row in self.stages if row.progress is Progress.NOW), None)

    @property
    def stage_count(self) -> str:
        """Return `stage 4 of 6` for those who do not see the bar."""
        reached = sum(row.reached for row in self.stages)
        return f"stage {reached} of {len(self.stages)}"


@dataclass(frozen=True)
class Control:
    """Whether something is offered; `why_not` stands beside it where it is not."""

    allowed: bool
    why_not: str = ""


@dataclass(frozen=True)
class Card:
    """One service in one environment: how its last deployment went, and what serves."""

    place: Place
    attempt: Attempt | None
    serving: Serving
    deploy: Control

    @property
    def sign(self) -> Sign:
        """Return the headline of the card."""
        return NOT_DEPLOYED if self.attempt is None else self.attempt.sign

    @property
    def every(self) -> int:
        """Return after how many seconds an open page asks again."""
        moving = self.attempt is not None and self.attempt.open
        settled = self.serving.lifecycle != "UpdateInProgress" or not self.serving.confirmed
        return WHILE_SETTLED if settled and not moving else WHILE_MOVING

    @property
    def seen(self) -> str:
        """Return the fingerprint of everything that the card shows."""
        return fingerprint(self)


@dataclass(frozen=True)
class Effect:
    """One line of what a deploy would do now."""

    tone: Tone
    strong: str
    rest: str


def fingerprint(shown: object) -> str:
    """Return a short text that differs whenever anything in these values differs."""
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]
