"""What should be true of one slot, as the database says it: the other half of a decision.

`reads/snapshots.py` makes it of rows, without a lock; whoever writes afterwards checks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from deployments.domain.blockers import Blocker
from deployments.domain.clocks import Clock
from deployments.domain.messages import Message
from deployments.domain.names import Place
from deployments.domain.releases import Config
from deployments.domain.states import FINAL, Route, State


@dataclass(frozen=True)
class Release:
    """A release of the slot. `image` is what runs (`registry/repository@digest`), None until known.

    `asked_for` is the reference as it was given. `once_healthy` ones are scaled to zero and kept;
    `kept` says whether the slot still needs it.
    """

    id: int
    number: int
    config: Config
    image: str | None
    asked_for: str = ""
    once_healthy: bool = False
    kept: bool = True


@dataclass(frozen=True)
class Verdict:
    """What the agent found before it let traffic go back. Written once."""

    blocker: Blocker
    message: Message


@dataclass(frozen=True)
class Attempt:
    """A deployment as the agent needs to know it."""

    id: int
    state: State
    state_since: datetime
    release: Release
    title: str = ""  # as messages name it: `r-7`, `the rollback to r-3`
    waits: bool = False  # it shows the blocker `waiting`
    past: bool = False
    previous: Release | None = None
    verdict: Verdict | None = None
    given_up: bool = False
    job_uids: Mapping[str, str] = field(default_factory=dict)  # Job name -> uid, once created
    clocks: tuple[Clock, ...] = ()

    @property
    def moving(self) -> bool:
        """Whether it has not ended."""
        return self.state not in FINAL

    @property
    def route(self) -> Route:
        """Return its own route."""
        return self.release.config.route

    @property
    def previous_number(self) -> int | None:
        """Return the number of the release that traffic may go back to, or None."""
        return self.previous.number if self.previous is not None else None

    @property
    def goes_back(self) -> bool:
        """Whether traffic has to leave it: a verdict, or an end past the point that is not healthy.

        A way back that was given up is none (specification §2, Verdict).
        """
        if not self.past or self.given_up or self.state is State.HEALTHY:
            return False
        return self.verdict is not None or not self.moving


@dataclass(frozen=True)
class Wanted:
    """One slot. `before` moves before the point of no return, `last_past` passed it last of all."""

    place: Place
    fence: int
    releases: tuple[Release, ...]
    active: Release | None = None
    before: Attempt | None = None
    last_past: Attempt | None = None
    ended: frozenset[int] = frozenset()  # ids of deployments that ended other than healthy
    # Release number -> id, where the latest deployment of a release is one of these.
    ended_of: Mapping[int, int] = field(default_factory=dict)
    last_healthy: int = 0  # id of the deployment that became healthy last

    @property
    def service(self) -> str:
        """Return the service's slug."""
        return self.place.service

    @property
    def moving(self) -> tuple[Attempt, ...]:
        """Return the deployments that move, the older first."""
        return tuple(a for a in (self.last_past, self.before) if a is not None and a.moving)

    @property
    def taking_over(self) -> Attempt | None:
        """Return the deployment that traffic goes to: past the point, moving, without a verdict."""
        last = self.last_past
        return last if last is not None and last.moving and last.verdict is None else None

    @property
    def going_back(self) -> Attempt | None:
        """Return the deployment that traffic has to leave, also after it has left."""
        last = self.last_past
        return last if last is not None and last.goes_back else None

    @property
    def target(self) -> Release | None:
        """Return the release that is to serve: traffic follows what passed the point last."""
        if self.last_past is None:
            return self.active
        return self.last_past.previous if self.last_past.goes_back else self.last_past.release

    @property
    def target_number(self) -> int | None:
        """Return the number of the release that is to serve, None where nothing is."""
        return self.target.number if self.target is not None else None

    def ended_badly(self, number: int | None) -> int | None:
        """Return the deployment of a release that has failed, was cancelled or superseded, or that
        traffic leaves; None where the release's latest deployment did well or still may."""
        leaving = self.going_back
        if leaving is not None and leaving.release.number == number:
            return leaving.id
        return self.ended_of.get(number) if number is not None else None

    def release(self, number: int | None) -> Release | None:
        """Return a release of the slot by its number."""
        return next((release for release in self.releases if release.number == number), None)
