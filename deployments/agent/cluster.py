"""What the loop asks of a cluster, and how a cluster says no. `kube.py` is the real one.

Nothing here decides; every answer is a value of `domain.observations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from deployments.domain.commands import Command
from deployments.domain.names import Place
from deployments.domain.observations import CheckResult, Meta, ObjectKind, Room, Seen
from deployments.domain.outputs import Output, Source
from deployments.domain.readiness import Check
from deployments.domain.wanted import Release, Wanted

Secrets = Callable[[Release], Mapping[str, str]]


class Unreachable(Exception):
    """Nobody answered, or nobody who can be believed: nothing may be decided of it.

    The text is the reason for a person: `timed out`, `connection refused`. Raised for a time-out,
    a refused or broken connection, a certificate, 401, 429, 5xx, and a body that is cut short or
    no JSON.
    """


class TimedOut(Unreachable):
    """The connection was made and the request sent, and no answer came in time."""


class Forbidden(Unreachable):
    """A read was answered with 403: this is hidden, and says nothing about the rest."""


class Stale(Exception):
    """The object changed since it was read, or is gone. The next look sees it and tries again."""


class CommandRefused(Exception):
    """The API server answered no, and would again: a right, a quota, a webhook, a foreign object.

    `code` is the HTTP status, `reason` Kubernetes' word for it, `message` its cleaned sentence.
    """

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message


class Reading(Protocol):
    """One look at a cluster, from which every slot takes its own part."""

    def seen(self, place: Place, now: datetime) -> Seen:
        """Return what belongs to one slot.

        `now` is the database's clock. Raises Unreachable where the slot's namespace refused to be
        read, which is no reason to stop looking at the others.
        """


class Cluster(Protocol):
    """A cluster as the agent uses it. Every call ends within seconds."""

    def read(self, installation: str, namespaces: Sequence[str]) -> Reading:
        """Read these namespaces, in as many calls whatever the number of services.

        Raises Unreachable.
        """

    def room(self, reading: Reading, place: Place) -> Room:
        """Return what nodes and quotas have left. Reads every pod of the cluster: ask rarely.

        Raises Unreachable.
        """

    def taken(
        self, place: Place, wanted_names: Sequence[tuple[ObjectKind, str]]
    ) -> tuple[str, ...]:
        """Return which of these names somebody else's objects have, as `Service web`.

        Raises Unreachable.
        """

    def check(self, place: Place, check: Check) -> CheckResult:
        """Ask a release's own Service, as often as `check` says. Never raises for the network."""

    def output(self, place: Place, sources: Sequence[Source]) -> tuple[Output, ...]:
        """Return the cleaned end of what these containers wrote, nothing for one without a log.

        Raises Unreachable where the API server is silent; a silent node only has no log to give.
        """

    def run(self, command: Command, wanted: Wanted, *, secrets: Secrets) -> Meta | None:
        """Carry out one command and return the object as it is now, None when there is none.

        `secrets` gives the secret values of a release; it is called only to make its Secret.
        Raises Unreachable (it may have been done or not), Stale or CommandRefused.
        """
