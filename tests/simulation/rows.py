"""One slot's rows in memory, kept by the rules of `actions/`: the same checks, the same fields.

`database.py` drives the real ones; what differs between the two is a fault of this file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from deployments.domain import messages, succession
from deployments.domain.clocks import Clock
from deployments.domain.errors import StaleState
from deployments.domain.messages import NOTHING, Message
from deployments.domain.names import Place
from deployments.domain.releases import RETIRED_RELEASES_KEPT, Config
from deployments.domain.states import FINAL, State, check_move
from deployments.domain.step import Change, Explain, GiveUp, GoBack, Move, Step
from deployments.domain.succession import Open
from deployments.domain.wanted import Attempt, Release, Verdict, Wanted
from tests.simulation.view import Fact, View

PLACE = Place("inst", 7, "shop", "staging", "web", "shop-staging")
LEASE = timedelta(seconds=40)


@dataclass
class ReleaseRow:
    """A release."""

    number: int
    config: Config
    digest: str = ""
    healthy: bool = False
    retired_at: datetime | None = None
    removed: bool = False

    def value(self) -> Release:
        """Return it as a decision reads it."""
        return Release(
            id=self.number,
            number=self.number,
            config=self.config,
            image=f"registry/web@{self.digest}" if self.digest else None,
            asked_for=f"registry/web:{self.number}",
            once_healthy=self.healthy,
            kept=not self.removed,
        )


@dataclass
class DeploymentRow:
    """A deployment, with the states that its events say it was in."""

    id: int
    release: ReleaseRow
    since: datetime
    state: State = State.PENDING
    path: list[State] = field(default_factory=lambda: [State.PENDING])
    past: bool = False
    previous: ReleaseRow | None = None
    verdict: Verdict | None = None
    given_up: bool = False
    superseded_by: int | None = None
    blocker: str = ""
    what: str = ""
    jobs: dict[str, str] = field(default_factory=dict)
    clocks: tuple[Clock, ...] = ()

    @property
    def moving(self) -> bool:
        """Whether it has not ended."""
        return self.state not in FINAL

    def fact(self) -> Fact:
        """Return it as the oracle reads it."""
        return Fact(
            id=self.id,
            release=self.release.number,
            path=tuple(self.path),
            state=self.state,
            past=self.past,
            previous=self.previous.number if self.previous is not None else None,
            verdict=self.verdict is not None,
            given_up=self.given_up,
            superseded_by=self.superseded_by,
            blocker=self.blocker,
            what=self.what,
        )

    def attempt(self) -> Attempt:
        """Return it as a decision reads it."""
        return Attempt(
            id=self.id,
            state=self.state,
            state_since=self.since,
            release=self.release.value(),
            title=messages.title("deploy", self.release.number),
            waits=self.blocker == "waiting",
            past=self.past,
            previous=self.previous.value() if self.previous is not None else None,
            verdict=self.verdict,
            given_up=self.given_up,
            job_uids=dict(self.jobs),
            clocks=self.clocks,
        )


@dataclass
class Rows:
    """A slot."""

    fence: int = 0
    generation: int = 0
    settled: bool = True
    releases: list[ReleaseRow] = field(default_factory=list)
    deployments: list[DeploymentRow] = field(default_factory=list)
    active: ReleaseRow | None = None
    lease_until: datetime | None = None
    lease: int = 0
    observed_at: datetime | None = None

    # --- what a person does ---

    def deploy(self, config: Config, now: datetime) -> int:
        """Let a new release go ahead, and return its number."""
        release = ReleaseRow(len(self.releases) + 1, config)
        self.releases.append(release)
        self.let_run(release, now)
        return release.number

    def let_run(self, release: ReleaseRow, now: datetime) -> None:
        """Let a release go ahead: what it replaces ends."""
        newer = len(self.deployments) + 1
        others = [Open(row.id, row.state, row.past) for row in self.deployments]
        for earlier in succession.succeed(newer, others).ends:
            row = self.row(earlier)
            self.move(row.id, expected=row.state, to=State.SUPERSEDED, now=now)
            row.superseded_by = newer
        self.deployments.append(DeploymentRow(newer, release, now))
        self.generation += 1
        self.fence += 1
        self.settled = False

    def cancel(self, deployment: int, now: datetime) -> None:
        """End an open deployment; StaleState where it has a verdict."""
        self.move(deployment, expected=self.row(deployment).state, to=State.CANCELLED, now=now)

    # --- what the agent records ---

    def take_lease(self, now: datetime) -> int | None:
        """Take the lease, None while another look holds it."""
        if self.lease_until is not None and self.lease_until > now:
            return None
        self.lease += 1
        self.lease_until = now + LEASE
        return self.lease

    def give_lease_back(self, lease: int) -> None:
        """Let the next look begin."""
        if self.lease == lease:
            self.lease_until = None

    def record(self, step: Step, *, generation: int, now: datetime) -> None:
        """Write down a look, unless the slot has gone ahead or a later look was written down."""
        late = self.observed_at is not None and self.observed_at > now
        if self.generation != generation or late:
            return
        self.observed_at = now
        self.settled = step.settled
        for ticking in step.ticking:
            self.row(ticking.deployment).clocks = ticking.clocks
        for change in step.changes:
            try:
                self._write(change, now)
            except StaleState:
                continue

    def _write(self, change: Change, now: datetime) -> None:
        match change:
            case Explain():
                self._explain(change)
            case Move():
                self.move(
                    change.deployment,
                    expected=change.expected,
                    to=change.to,
                    now=now,
                    blocker=change.blocker or "",
                    message=change.message,
                )
            case GoBack():
                self._go_back(change)
            case GiveUp():
                self.row(change.deployment).given_up = True
                if change.move is not None:
                    self._write(change.move, now)

    def _explain(self, change: Explain) -> None:
        row = self.row(change.deployment)
        if row.state is change.state:
            row.blocker, row.what = change.blocker or "", change.message.what

    def _go_back(self, change: GoBack) -> None:
        row = self.row(change.deployment)
        if row.state is not change.expected or row.verdict is not None:
            raise StaleState("moved meanwhile")
        row.verdict = Verdict(change.blocker, change.message)
        row.blocker, row.what = change.blocker, change.message.what
        self.fence += 1
        self.settled = False

    def move(
        self,
        deployment: int,
        *,
        expected: State,
        to: State,
        now: datetime,
        blocker: str = "",
        message: Message = NOTHING,
    ) -> None:
        """Write a state."""
        row = self.row(deployment)
        if row.state is not expected or (row.verdict is not None and to is not State.FAILED):
            raise StaleState("moved meanwhile")
        route = row.release.config.route
        check_move(row.state, to, route=route, past_point_of_no_return=row.past)
        if to is State.ACTIVATING:
            row.previous, row.past = self._previous(), True
            self.fence += 1
        elif row.past and to in FINAL:
            self.fence += 1
        row.state, row.since, row.blocker, row.what = to, now, blocker, message.what
        row.path.append(to)
        if to is State.HEALTHY:
            self._make_active(row.release, now)
        self.settled = False

    def _previous(self) -> ReleaseRow | None:
        last = next((row for row in reversed(self.deployments) if row.past), None)
        if last is None or last.state is State.HEALTHY:
            return self.active
        return last.release if last.given_up else last.previous

    def _make_active(self, release: ReleaseRow, now: datetime) -> None:
        if self.active is not None and self.active is not release:
            self.active.retired_at = now
        release.healthy, release.retired_at = True, None
        self.active = release
        retired = [r for r in self.releases if r.retired_at is not None and not r.removed]
        retired.sort(key=lambda r: (r.retired_at, r.number), reverse=True)
        still_open = [row.release for row in self.deployments if row.moving]
        for old in retired[RETIRED_RELEASES_KEPT:]:
            old.removed = old not in still_open

    # --- how it is read ---

    def row(self, deployment: int) -> DeploymentRow:
        """Return a deployment."""
        return self.deployments[deployment - 1]

    def moving(self) -> tuple[DeploymentRow, ...]:
        """Return the deployments that have not ended, the older first."""
        return tuple(row for row in self.deployments if row.moving)

    def stands(self, lease: int, read: Wanted, now: datetime) -> bool:
        """Whether a look may still write: its lease runs and the slot is as it was read."""
        runs = self.lease == lease and self.lease_until is not None and self.lease_until > now
        known = {(attempt.id, attempt.state) for attempt in read.moving}
        return runs and self.fence == read.fence and known == _states(self.moving())

    def wanted(self) -> Wanted:
        """Return what should be true of the slot."""
        past = [row for row in self.deployments if row.past]
        last = past[-1].attempt() if past else None
        before = next((row.attempt() for row in self.moving() if not row.past), None)
        ended = {row.id for row in self.deployments if _ended_badly(row)}
        latest = {row.release.number: row.id for row in self.deployments}
        return Wanted(
            place=PLACE,
            fence=self.fence,
            releases=self._named(last, before),
            active=self.active.value() if self.active is not None else None,
            before=before,
            last_past=last,
            ended=frozenset(ended),
            ended_of={number: pk for number, pk in latest.items() if pk in ended},
            last_healthy=last.id if last is not None and last.state is State.HEALTHY else 0,
        )

    def _named(self, *attempts: Attempt | None) -> tuple[Release, ...]:
        named = {r.number: r.value() for r in self.releases if r.healthy and not r.removed}
        for attempt in attempts:
            if attempt is None:
                continue
            named[attempt.release.number] = attempt.release
            if attempt.previous is not None:
                named.setdefault(attempt.previous.number, attempt.previous)
        return tuple(named[number] for number in sorted(named))

    def view(self) -> View:
        """Return it as the oracle reads it."""
        return View(
            facts=tuple(row.fact() for row in self.deployments),
            configs={release.number: release.config for release in self.releases},
            active=self.active.number if self.active is not None else None,
            settled=self.settled,
        )


def _states(rows: tuple[DeploymentRow, ...]) -> set[tuple[int, State]]:
    return {(row.id, row.state) for row in rows}


def _ended_badly(row: DeploymentRow) -> bool:
    return not row.moving and row.state is not State.HEALTHY
