"""What the oracle reads of a slot's rows, whoever keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deployments.domain.releases import Config
from deployments.domain.states import FINAL, State


@dataclass(frozen=True)
class Fact:
    """One deployment as its row and its events say it. Releases are given by number."""

    id: int
    release: int
    path: tuple[State, ...]
    state: State
    past: bool
    previous: int | None
    verdict: bool
    given_up: bool
    superseded_by: int | None
    blocker: str
    what: str

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.state in FINAL

    @property
    def leaves(self) -> bool:
        """Whether traffic is to leave its release, or has left it."""
        back = self.verdict or (self.ended and self.state is not State.HEALTHY)
        return self.past and back and not self.given_up


@dataclass(frozen=True)
class View:
    """A slot: its deployments in the order of their ids, its releases and the active one."""

    facts: tuple[Fact, ...]
    configs: Mapping[int, Config]
    active: int | None
    settled: bool = False

    @property
    def last_past(self) -> Fact | None:
        """Return the deployment that passed the point of no return last."""
        return next((fact for fact in reversed(self.facts) if fact.past), None)

    @property
    def in_charge(self) -> int | None:
        """Return the release that is to serve (specification §2 and §7)."""
        last = self.last_past
        if last is None:
            return None
        return last.previous if last.leaves else last.release

    def of_release(self, number: int) -> tuple[Fact, ...]:
        """Return the deployments of one release."""
        return tuple(fact for fact in self.facts if fact.release == number)

    def has_port(self, number: int | None) -> bool:
        """Whether a release takes traffic by the stable Service."""
        return number is not None and self.configs[number].has_port
