"""What whole pages show, as frozen values made of those in `cards`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from deployments.reads.cards import (
    WHILE_MOVING,
    WHILE_SETTLED,
    Attempt,
    Card,
    Control,
    Image,
    Place,
    Serving,
    Sign,
    fingerprint,
)


@dataclass(frozen=True)
class EventRow:
    """One move or one change of the blocker, in words."""

    at: datetime
    sign: Sign
    by: str
    message: str = ""


@dataclass(frozen=True)
class OutputRow:
    """The kept end of what a container wrote. `previous`: of the run before its last one."""

    id: int
    pod: str
    container: str
    previous: bool
    text: str
    at: datetime

    @property
    def key(self) -> str:
        """Return the id of its place in the page: it stays open while the page is renewed."""
        return f"output.{self.id}"


@dataclass(frozen=True)
class DeploymentPage:
    """One deployment with its stages and everything that happened to it, oldest first."""

    place: Place
    attempt: Attempt
    serving: Serving
    events: tuple[EventRow, ...]
    ended: tuple[str, ...]
    deploy: Control
    outputs: tuple[OutputRow, ...] = ()

    @property
    def every(self) -> int:
        """Return after how many seconds an open page asks again."""
        return WHILE_MOVING if self.attempt.open else WHILE_SETTLED

    @property
    def seen(self) -> str:
        """Return the fingerprint of everything that the page shows."""
        return fingerprint(self)


@dataclass(frozen=True)
class ReleaseRow:
    """One release of a slot."""

    tag: str
    image: Image
    created_at: datetime
    sign: Sign


@dataclass(frozen=True)
class ServicePage:
    """A service in one environment: its card, its latest deployments and releases."""

    card: Card
    history: tuple[Attempt, ...]
    releases: tuple[ReleaseRow, ...]

    @property
    def every(self) -> int:
        """Return after how many seconds an open page asks again."""
        return self.card.every

    @property
    def seen(self) -> str:
        """Return the fingerprint of everything that the page shows."""
        return fingerprint(self)


@dataclass(frozen=True)
class EnvironmentSection:
    """One environment of a project page with a card for each service."""

    slug: str
    cluster: str
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class ProjectPage:
    """A project with all its environments."""

    slug: str
    organization: str
    environments: tuple[EnvironmentSection, ...]
    deploy: Control


@dataclass(frozen=True)
class ProjectRow:
    """A project in the list of those that a person may see."""

    slug: str
    organization: str
    services: int
    environments: int


@dataclass(frozen=True)
class ClusterRow:
    """A cluster and when it answered last (None: never)."""

    name: str
    version: str
    answered_at: datetime | None
    sign: Sign
    detail: str = ""
    environments: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClustersPage:
    """The clusters that a person's environments run on; an administrator sees all."""

    clusters: tuple[ClusterRow, ...]
    every: int = WHILE_SETTLED

    @property
    def seen(self) -> str:
        """Return the fingerprint of everything that the page shows."""
        return fingerprint(self)
