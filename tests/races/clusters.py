"""A cluster of values for threads, and looks that are held up between what they read and do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock

from deployments.agent.cluster import Reading, Secrets
from deployments.domain.commands import Command
from deployments.domain.names import Place
from deployments.domain.observations import Meta, Seen
from deployments.domain.wanted import Wanted
from tests.domain.world import World
from tests.races.points import Conductor, Point, hooked, stage
from tests.walks.fake_cluster import FakeCluster, FakeReading


def _as_it_is(world: World) -> World:
    """Return a world that stays as this one is: what it holds are values."""
    then = copy(world)
    then.objects, then.pods, then.born = dict(world.objects), dict(world.pods), dict(world.born)
    return then


@dataclass(frozen=True)
class FrozenReading(FakeReading):
    """Everything there was when the look read it, however late it goes on."""

    worlds: dict[int, World]

    def seen(self, place: Place, now: datetime) -> Seen:
        """Return the slot's part as it was."""
        then = FakeCluster(self.cluster.now, self.worlds)
        return FakeReading(then).seen(place, now)


@dataclass
class SharedCluster(FakeCluster):
    """One that threads may use at once. `reads` counts the looks that came through.

    `meanwhile` is called once, when a look has come to its write number `at_write`.
    """

    reads: int = 0
    writes: int = 0
    at_write: int = 0
    meanwhile: Callable[[], None] | None = None
    lock: RLock = field(default_factory=RLock)

    def read(self, installation: str, namespaces: Sequence[str]) -> Reading:
        """Return everything there is now."""
        with self.lock:
            super().read(installation, namespaces)
            self.reads += 1
            return FrozenReading(self, {slot: _as_it_is(w) for slot, w in self.worlds.items()})

    def run(self, command: Command, wanted: Wanted, *, secrets: Secrets) -> Meta | None:
        """Carry out one command, after what happens meanwhile."""
        with self.lock:
            self.writes += 1
            if self.meanwhile is not None and self.writes == self.at_write:
                happens, self.meanwhile = self.meanwhile, None
                happens()
            return super().run(command, wanted, secrets=secrets)


class HeldUp:
    """One action that stands at a point while the world goes on."""

    def __init__(self, conductor: Conductor) -> None:
        self._conductor = conductor

    @property
    def stands(self) -> bool:
        """Whether it still stands; else it has come to its end before."""
        return not self._conductor.over

    def go_on(self) -> None:
        """Let it go on to its end, past every further point."""
        while names := self._conductor.standing():
            self._conductor.go(names[0])
        for player in self._conductor.players.values():
            if isinstance(player.result, Exception):
                raise player.result


@contextmanager
def held_up(act: Callable[[], object], *, at: Point, times: int = 1) -> Iterator[HeldUp]:
    """Run an action in a thread up to the given time that it comes to a point."""
    with stage() as threads, hooked([at]):
        conductor = Conductor({"held up": act}, threads)
        try:
            conductor.begin()
            for _ in range(times - 1):
                if conductor.standing():
                    conductor.go("held up")
            conductor.standing()
            yield HeldUp(conductor)
        finally:
            conductor.finish()
