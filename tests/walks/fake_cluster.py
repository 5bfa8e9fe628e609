"""A cluster that obeys the agent's protocol: one small world of values for each slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from deployments.agent.cluster import Cluster, Reading, Secrets, Unreachable
from deployments.domain.commands import Command, Create
from deployments.domain.names import Place
from deployments.domain.observations import CheckResult, Meta, ObjectKind, Room, Seen
from deployments.domain.outputs import Output, Source
from deployments.domain.readiness import Check
from deployments.domain.wanted import Wanted
from tests.domain.world import World


@dataclass(frozen=True)
class FakeReading:
    """Everything there is at one moment."""

    cluster: FakeCluster

    def seen(self, place: Place, now: datetime) -> Seen:
        """Return the slot's part."""
        world = self.cluster.world(place.slot)
        wanted = Wanted(place, 0, ())
        return replace(world.seen(wanted), now=now, room=None)


@dataclass
class FakeCluster:
    """The cluster, and the clock of the test. `silent` lets it answer nobody."""

    now: datetime
    worlds: dict[int, World] = field(default_factory=dict)
    foreign: tuple[str, ...] = ()
    silent: bool = False
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    logs: dict[Source, str] = field(default_factory=dict)

    def world(self, slot: int) -> World:
        """Return the world of one slot."""
        return self.worlds.setdefault(slot, World(self.now))

    def wait(self, seconds: float) -> None:
        """Let time pass everywhere."""
        self.now += timedelta(seconds=seconds)
        for world in self.worlds.values():
            world.wait(seconds)

    def read(self, installation: str, namespaces: Sequence[str]) -> Reading:
        """Return everything, unless nobody answers."""
        assert installation
        assert list(namespaces) == sorted(set(namespaces))
        self._answer()
        return FakeReading(self)

    def room(self, reading: Reading, place: Place) -> Room:
        """Return the room of the slot's world."""
        assert isinstance(reading, FakeReading)
        return self.world(place.slot).room

    def taken(
        self, place: Place, wanted_names: Sequence[tuple[ObjectKind, str]]
    ) -> tuple[str, ...]:
        """Return which of these names are among the foreign ones."""
        assert place.namespace
        found = [f"{kind} {name}" for kind, name in wanted_names]
        return tuple(name for name in found if name in self.foreign)

    def check(self, place: Place, check: Check) -> CheckResult:
        """Return what the release's own Service answers."""
        return self.world(place.slot).answer(check)

    def output(self, place: Place, sources: Sequence[Source]) -> tuple[Output, ...]:
        """Return what a test says that containers wrote."""
        assert place.namespace
        self._answer()
        return tuple(Output(source, self.logs[source]) for source in sources if source in self.logs)

    def run(self, command: Command, wanted: Wanted, *, secrets: Secrets) -> Meta | None:
        """Carry out one command in the slot's world."""
        self._answer()
        if isinstance(command, Create) and command.kind is ObjectKind.SECRET:
            release = wanted.release(command.release)
            assert release is not None
            self.secrets[command.name] = {**release.config.variables, **secrets(release)}
        return self.world(wanted.place.slot).run(command, wanted)

    def _answer(self) -> None:
        if self.silent:
            raise Unreachable("timed out")


def as_cluster(fake: FakeCluster) -> Cluster:
    """Return the fake as what the agent asks for, so that a type checker sees them part."""
    return fake
