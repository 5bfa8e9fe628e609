"""A driver without a database: rows in memory and the worker that reads and writes them."""

from __future__ import annotations

from tests.simulation.events import Shape
from tests.simulation.kube import Kube, chosen
from tests.simulation.play import SHORT, config_of
from tests.simulation.rows import Rows
from tests.simulation.view import View
from tests.simulation.worker import Worker


class Memory:
    """Everything of one slot as values."""

    def __init__(self) -> None:
        self.kube, self.rows = Kube(), Rows()
        self.worker = Worker(self.rows, self.kube, SHORT)

    def deploy(self, shape: Shape) -> tuple[int, int]:
        """Let a new release go ahead."""
        number = self.rows.deploy(config_of(shape), self.kube.now)
        return number, len(self.rows.deployments)

    def again(self, pick: float) -> None:
        """Let a retired release run again."""
        there = [r for r in self.rows.releases if r.retired_at is not None and not r.removed]
        if there:
            self.rows.let_run(chosen(there, pick), self.kube.now)

    def cancel(self, *, older: bool) -> None:
        """Cancel what moves."""
        moving = self.rows.moving()
        if moving:
            self.rows.cancel(moving[0 if older else -1].id, self.kube.now)

    def look(self) -> None:
        """Take one look."""
        self.worker.look()

    def lose_lease(self) -> None:
        """Let the lease be over."""
        self.rows.lease_until = None

    def unguard(self, *, guarded: bool) -> None:
        """Let the look ask no more."""
        self.worker.guarded = guarded

    def view(self) -> View:
        """Return the rows."""
        return self.rows.view()
