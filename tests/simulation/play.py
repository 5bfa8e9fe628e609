"""Play a sequence: events happen to a cluster, to a driver's rows and its worker; an oracle
watches."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Protocol

from deployments.domain.deadlines import Limits
from deployments.domain.errors import StaleState
from deployments.domain.releases import Config, Process, ReleaseCommand
from tests.domain.world import cron, http, job, worker
from tests.simulation import events as e
from tests.simulation.events import Event, Image, Shape
from tests.simulation.kube import NODES, SERVICE, Died, Interrupt, Kube, chosen
from tests.simulation.oracle import Oracle, Violation
from tests.simulation.view import View

PERIOD = 4
QUIET_LOOKS = 150
STILL_LOOKS = 5
LOOKS_TO_A_POINT = 16

# Short, so that a sequence sees the end of each; looks are four seconds apart.
SHORT = Limits(
    qualifying=timedelta(seconds=60),
    unready=timedelta(seconds=12),
    switch_refused=timedelta(seconds=24),
    way_back=timedelta(seconds=60),
)

# Long enough that a look, and what befalls a pod, may fall into them.
TIMES: dict[str, Any] = {"stabilization_seconds": 8, "drain_seconds": 12}
SHAPES: dict[Shape, tuple[Process, ...]] = {
    Shape.PLAIN: (http(**TIMES),),
    Shape.TWO: (http(replicas=2, **TIMES),),
    Shape.ALL: (http(**TIMES), worker(**TIMES), cron(), job()),
    Shape.WORKER: (worker(primary=True, **TIMES),),
    Shape.CRON: (cron(),),
    Shape.COMMAND: (http(**TIMES),),
}


def config_of(shape: Shape) -> Config:
    """Return the configuration that a shape stands for."""
    command = ReleaseCommand(("migrate",)) if shape is Shape.COMMAND else None
    return Config(SHAPES[shape], command)


class Driver(Protocol):
    """Rows and a worker: in memory, or the product's own over its database."""

    kube: Kube

    def deploy(self, shape: Shape) -> tuple[int, int]:
        """Let a new release go ahead. Return its number and the deployment's id."""

    def again(self, pick: float) -> None:
        """Let a release that was healthy and is not active run again, where there is one."""

    def cancel(self, *, older: bool) -> None:
        """Cancel the newest deployment that moves, or the oldest. May raise StaleState."""

    def look(self) -> None:
        """Take one look. `Died` may come out of it."""

    def lose_lease(self) -> None:
        """Let the lease be over that some look holds."""

    def unguard(self, *, guarded: bool) -> None:
        """Let the look that is under way ask no more, or ask as ever."""

    def view(self) -> View:
        """Return the rows."""


class Play:
    """One sequence on one driver."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.kube = driver, driver.kube
        self.oracle = Oracle(self.kube, SHORT)
        self.kube.watch = self.oracle

    def run(self, events: Iterable[Event]) -> None:
        """Let the events happen, then let the world be quiet. Raises Violation."""
        for event in events:
            self._happen(event)
        self._become_quiet()

    def _become_quiet(self) -> None:
        self.kube.heal()
        self.driver.lose_lease()
        still = 0
        for _ in range(QUIET_LOOKS):
            written = len(self.kube.log)
            self._looks(1)
            still = still + 1 if self._is_still(written) else 0
            if still == STILL_LOOKS:
                break
        self.oracle.quiet(still=still == STILL_LOOKS)

    def _is_still(self, written: int) -> bool:
        view = self.oracle.view
        ended = all(fact.ended for fact in view.facts)
        return ended and view.settled and len(self.kube.log) == written

    def _looks(self, times: int) -> None:
        for _ in range(times):
            self._look()
            self.kube.wait(PERIOD)

    def _look(self, interrupt: Interrupt | None = None) -> None:
        self.kube.begin_look(interrupt)
        try:
            self.driver.look()
        except Died:
            pass
        finally:
            self.kube.end_look()
            self.driver.unguard(guarded=True)
        self.oracle.step(self.driver.view())

    def _happen(self, event: Event) -> None:  # noqa: C901, PLR0912 - a table of what may happen
        kube, now = self.kube, self.kube.now
        match event:
            case e.Deploy(image, shape):
                self._deploy(image, shape)
            case e.Again(pick):
                self.driver.again(pick)
            case e.Cancel(older):
                self._cancel(older=older)
            case e.Looks(times):
                self._looks(times)
            case e.Wait(seconds):
                kube.wait(seconds)
            case e.Ill(pick, seconds, one):
                kube.fall_ill(pick, seconds, one=one)
            case e.Ruin(pick):
                kube.ruin(pick)
            case e.Restart(pick):
                kube.fall_ill(pick, 4, one=True)
            case e.Slow():
                kube.slow = not kube.slow
            case e.Silent(pick):
                kube.silent = {} if kube.silent else {chosen([*NODES], pick): now}
            case e.Away(seconds):
                kube.away_until = now + timedelta(seconds=seconds)
            case e.Refuse(code, seconds, switch_only):
                kube.refuses = code, switch_only
                kube.refuses_until = now + timedelta(seconds=seconds)
            case e.DeleteByHand(pick):
                kube.delete_by_hand(pick)
            case e.EditService(pick):
                kube.edit_service(pick)
            case e.ScaleByHand(pick, replicas):
                kube.scale(pick, replicas)
            case e.NoRoom():
                kube.fill_or_free()
            case e.Taken():
                kube.taken = () if kube.taken else (f"Service {SERVICE}-r{len(kube.images) + 1}",)
            case e.Die():
                self._die(event)
            case e.Hold():
                self._hold(event)
        self.oracle.step(self.driver.view())

    def _deploy(self, image: Image, shape: Shape) -> None:
        number, deployment = self.driver.deploy(shape)
        self.kube.images[number] = image
        if image is Image.SAYS_NO:
            self.kube.answers_no.add(number)
        if image is Image.COMMAND_FAILS:
            self.kube.failing_jobs.add(f"{SERVICE}--release-d{deployment}")

    def _cancel(self, *, older: bool) -> None:
        try:
            self.driver.cancel(older=older)
        except StaleState:
            return  # it is already going back

    def _die(self, event: e.Die) -> None:
        self._interrupt(Interrupt(event.point, event.nth, self.kube.die))

    def _hold(self, event: e.Hold) -> None:
        def meanwhile() -> None:
            if event.lost:
                self.driver.lose_lease()
            for other in event.meanwhile:
                self._happen(other)
            self.kube.came_late(guarded=event.guarded)
            self.driver.unguard(guarded=event.guarded)

        self._interrupt(Interrupt(event.point, event.nth, meanwhile))

    def _interrupt(self, interrupt: Interrupt) -> None:
        idle = 0
        for _ in range(LOOKS_TO_A_POINT):
            written = len(self.kube.log)
            self._look(interrupt)
            self.kube.wait(PERIOD)
            idle = idle + 1 if self._is_still(written) else 0
            if interrupt.done or idle == STILL_LOOKS:
                return


__all__ = ["Driver", "Play", "Violation"]
