"""A slot without a database: looks are decided by the product and written down as values here, in
the same way as the actions write rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from deployments.agent.cluster import CommandRefused, Stale
from deployments.domain import readiness, reconcile, traffic
from deployments.domain.clocks import Clock
from deployments.domain.commands import Create, Errand
from deployments.domain.names import Place, release_tag
from deployments.domain.observations import ObjectKind, Seen
from deployments.domain.releases import RETIRED_RELEASES_KEPT, Config, Process, ReleaseCommand
from deployments.domain.states import FINAL, State
from deployments.domain.step import Change, Explain, GiveUp, GoBack, Move, Step
from deployments.domain.wanted import Attempt, Release, Verdict, Wanted
from tests.domain.world import NOON, World, http

PLACE = Place("inst", 7, "shop", "staging", "web", "shop-staging")


@dataclass
class Play:
    """A slot, its cluster and everything that was decided."""

    world: World = field(default_factory=World)
    wanted: Wanted = field(default_factory=lambda: Wanted(PLACE, fence=0, releases=()))
    steps: list[Step] = field(default_factory=list)
    states: dict[int, list[State]] = field(default_factory=dict)
    ended: list[Attempt] = field(default_factory=list)
    retired: list[Release] = field(default_factory=list)
    serial: int = 0

    # --- what a person does ---

    def deploy(self, *processes: Process, command: ReleaseCommand | None = None) -> int:
        """Let a new release go ahead, and return its number (and the deployment's id)."""
        self.serial += 1
        config = Config(processes or (http(),), command)
        release = Release(self.serial, self.serial, config, f"registry/web@{self.serial}")
        return self.go_ahead(release)

    def go_ahead(self, release: Release) -> int:
        """Let a release go ahead: what is before the point of no return ends."""
        if self.wanted.before is not None:
            self._end(replace(self.wanted.before, state=State.SUPERSEDED))
        number = max((*self.states, release.id - 1)) + 1 if self.states else release.id
        attempt = Attempt(number, State.PENDING, NOON, release, title=release_tag(release.number))
        of = {key: ended for key, ended in self.wanted.ended_of.items() if key != release.number}
        fence = self.wanted.fence + 1
        self.wanted = replace(self.wanted, before=attempt, fence=fence, ended_of=of)
        self.states[number] = [State.PENDING]
        self._keep_releases()
        return number

    def cancel(self) -> None:
        """Cancel what moves, as a person would."""
        attempt = self.wanted.moving[-1]
        self._write(replace(attempt, state=State.CANCELLED))

    # --- what the agent does ---

    def look(self, *, writes: int | None = None) -> Step:
        """Take one look. With `writes` the worker dies after so many, before it records."""
        world = self.world
        step = reconcile.decide(self.wanted, self.seen())
        self.steps.append(step)
        refusal = ""
        uids: dict[tuple[int, str], str] = {}
        for command in step.commands[:writes]:
            refusal = self._run(world, command, uids) or refusal
        if writes is None:
            self._record(step, uids, refusal)
        return step

    def seen(self) -> Seen:
        """Return what the agent sees now."""
        return self.world.seen(self.wanted, readiness.check_wanted(self.wanted))

    def _run(self, world: World, command: Errand, uids: dict[tuple[int, str], str]) -> str:
        try:
            made = world.run(command, self.wanted)
        except Stale:
            return ""
        except CommandRefused as refusal:
            return str(refusal) if traffic.switches(command) else ""
        if isinstance(command, Create) and command.kind is ObjectKind.JOB and made is not None:
            assert command.deployment is not None
            uids[command.deployment, command.name] = made.ref.uid
        return ""

    def until(self, *, looks: int = 200, seconds: float = 2) -> None:
        """Look again and again until nothing is left to do."""
        for _ in range(looks):
            step = self.look()
            self.world.wait(seconds)
            if step.settled:
                return
        raise AssertionError(f"still not settled: {self.steps[-1]}")

    def until_state(self, state: State, *, looks: int = 200) -> None:
        """Look until some deployment is in this state."""
        for _ in range(looks):
            if any(path[-1] is state for path in self.states.values()):
                return
            self.look()
            self.world.wait()
        raise AssertionError(f"nobody became {state}: {self.states}")

    def until_state_of(self, deployment: int, state: State, *, looks: int = 200) -> None:
        """Look until this deployment is in this state."""
        for _ in range(looks):
            if self.states[deployment][-1] is state:
                return
            self.look()
            self.world.wait()
        raise AssertionError(f"{deployment} did not become {state}: {self.states}")

    # --- writing down ---

    def _record(self, step: Step, uids: dict[tuple[int, str], str], refusal: str) -> None:
        seen = self.seen()
        for ticking in step.ticking:
            clocks = ticking.clocks
            last = self.wanted.last_past
            if refusal and last is not None and last.id == ticking.deployment:
                clocks = reconcile.clocks_after_refusal(clocks, refusal, self.wanted, seen)
            self._tick(ticking.deployment, clocks, uids)
        for change in step.changes:
            self._change(change)

    def _attempts(self) -> tuple[Attempt, ...]:
        both = (self.wanted.last_past, self.wanted.before)
        return tuple(attempt for attempt in both if attempt is not None)

    def _tick(
        self, deployment: int, clocks: tuple[Clock, ...], uids: dict[tuple[int, str], str]
    ) -> None:
        attempt = next(a for a in self._attempts() if a.id == deployment)
        mine = {name: uid for (owner, name), uid in uids.items() if owner == deployment}
        self._put(replace(attempt, clocks=clocks, job_uids={**attempt.job_uids, **mine}))

    def _change(self, change: Change) -> None:
        attempt = next(a for a in self._attempts() if a.id == change.deployment)
        match change:
            case Explain():
                self._put(replace(attempt, waits=change.blocker is not None))
            case Move():
                assert attempt.state is change.expected
                self._write(replace(attempt, state=change.to, waits=False))
            case GoBack():
                verdict = Verdict(change.blocker, change.message)
                self._put(replace(attempt, verdict=verdict))
                self._raise_fence()
            case GiveUp():
                self._put(replace(attempt, given_up=True))
                if change.move is not None:
                    self._change(change.move)

    def _write(self, attempt: Attempt) -> None:
        self.states[attempt.id].append(attempt.state)
        if attempt.state is State.ACTIVATING:
            attempt = replace(attempt, past=True, previous=self._previous())
            self.wanted = replace(self.wanted, before=None, last_past=attempt)
            self._raise_fence()
        elif attempt.state is State.HEALTHY:
            self._make_active(attempt)
        elif attempt.state in FINAL:
            self._end(attempt)
        else:
            self._put(attempt)
        self._keep_releases()

    def _previous(self) -> Release | None:
        last = self.wanted.last_past
        if last is None or last.state is State.HEALTHY:
            return self.wanted.active
        return last.release if last.given_up else last.previous

    def _make_active(self, attempt: Attempt) -> None:
        old = self.wanted.active
        release = replace(attempt.release, once_healthy=True)
        if old is not None and old.number != release.number:
            self.retired.append(replace(old, once_healthy=True))
        self.retired = [r for r in self.retired if r.number != release.number]
        self.retired = self.retired[-RETIRED_RELEASES_KEPT:]
        self._put(replace(attempt, release=release))
        self.wanted = replace(self.wanted, active=release, last_healthy=attempt.id)
        self._raise_fence()

    def _end(self, attempt: Attempt) -> None:
        self.ended.append(attempt)
        if self.states[attempt.id][-1] is not attempt.state:
            self.states[attempt.id].append(attempt.state)
        self._put(attempt)
        before = None if not attempt.past else self.wanted.before
        ended = self.wanted.ended | {attempt.id}
        of = {**self.wanted.ended_of, attempt.release.number: attempt.id}
        self.wanted = replace(self.wanted, before=before, ended=ended, ended_of=of)
        if attempt.past:
            self._raise_fence()
        self._keep_releases()

    def _put(self, attempt: Attempt) -> None:
        if attempt.past:
            self.wanted = replace(self.wanted, last_past=attempt)
        else:
            self.wanted = replace(self.wanted, before=attempt)

    def _raise_fence(self) -> None:
        self.wanted = replace(self.wanted, fence=self.wanted.fence + 1)

    def _keep_releases(self) -> None:
        named = {release.number: release for release in self.retired}
        if self.wanted.active is not None:
            named[self.wanted.active.number] = self.wanted.active
        for attempt in self._attempts():
            named.setdefault(attempt.release.number, attempt.release)
            if attempt.previous is not None:
                named.setdefault(attempt.previous.number, attempt.previous)
        kept = tuple(named[number] for number in sorted(named))
        self.wanted = replace(self.wanted, releases=kept)
