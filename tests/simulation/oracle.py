"""What has to be true, read from the specification and not from the code that decides.

It judges each write of the agent as it comes, the rows after each step, and the whole once the
world is quiet. A violation names the rule of the manual that it breaks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from deployments.domain import commands as c
from deployments.domain.deadlines import Limits
from deployments.domain.observations import ObjectKind, Ref, ServiceSeen
from deployments.domain.states import State
from tests.simulation.events import Image
from tests.simulation.kube import SERVICE, Kube
from tests.simulation.view import Fact, View

P, A, R = State.PENDING, State.ADMITTED, State.RELEASING
S, Q, T, D = State.STARTING, State.QUALIFYING, State.ACTIVATING, State.DRAINING
H, F, C, U = State.HEALTHY, State.FAILED, State.CANCELLED, State.SUPERSEDED
ENDS_BADLY = {F, C, U}
EDGES = {
    P: {A, F, C, U},
    A: {R, S, F, C, U},
    R: {S, F, C, U},
    S: {Q, F, C, U},
    Q: {T, F, C, U},
    T: {D, F, C},
    D: {H, F, C},
}
RUNS_IN = {S, Q, T, D}
GAP = timedelta(seconds=20)
OF_RELEASE = re.compile(r"-r([0-9]+)\Z")
OF_DEPLOYMENT = re.compile(r"-d([0-9]+)\Z")


class Violation(AssertionError):
    """Something happened that must not."""


@dataclass
class Oracle:
    """The judge of one slot's life."""

    kube: Kube
    limits: Limits
    view: View = field(default_factory=lambda: View((), {}, None))
    seen_in: dict[tuple[int, State], timedelta] = field(default_factory=dict)
    looked_at: datetime | None = None
    retired: list[int] = field(default_factory=list)
    active: int | None = None

    # --- each write ---

    def wrote(self, command: c.Errand) -> None:
        """Judge a write just before it takes effect."""
        match command:
            case c.Create(kind=ObjectKind.JOB) | c.Resume(ref=Ref(kind=ObjectKind.JOB)):
                self._runs_job(_name(command))
            case c.Create(name=name) if name != SERVICE:
                self._brings_up(name)
            case c.Resume(ref=ref):
                self._brings_up(ref.name)
            case c.Scale(ref=ref, replicas=0):
                self._stops(ref.name, deleted=False)
            case c.Scale(ref=ref):
                self._brings_up(ref.name)
            case c.Delete(ref=ref):
                self._deletes(ref)
            case c.PointTraffic(release=number):
                self._points(number)

    def _runs_job(self, name: str) -> None:
        number = _number(OF_DEPLOYMENT, name)
        fact = next((fact for fact in self.view.facts if fact.id == number), None)
        if self.kube.loose:
            return
        if fact is None or fact.state in {P, A, *ENDS_BADLY}:
            raise Violation(f"I14/I19: {name} is written while its deployment is {fact}")

    def _brings_up(self, name: str) -> None:
        number = _number(OF_RELEASE, name)
        if number is None or self.kube.loose:
            return
        states = {fact.state for fact in self.view.of_release(number)}
        runs = states & RUNS_IN or (R in states and not name.startswith(f"{SERVICE}--"))
        if not runs and number not in {*self._by_right(), self._selected()}:
            rule = "I19" if states & {P, A} else "I14"
            raise Violation(f"{rule}: {name} is brought up though its deployments are {states}")

    def _by_right(self) -> set[int | None]:
        """Return the releases that may run though no deployment of theirs moves."""
        last = self.view.last_past
        previous = last.previous if last is not None else None
        return {self.view.in_charge, self.view.active, previous}

    def _selected(self) -> int | None:
        service = self.kube.objects.get((ObjectKind.SERVICE, SERVICE))
        return service.selects if isinstance(service, ServiceSeen) else None

    def _deletes(self, ref: Ref) -> None:
        if ref.kind is ObjectKind.JOB:
            number = _number(OF_DEPLOYMENT, ref.name)
            if any(fact.id == number and not fact.ended for fact in self.view.facts):
                raise Violation(f"I8: {ref.name} is deleted under its open deployment")
            return
        number = _number(OF_RELEASE, ref.name)
        if number is None:
            raise Violation(f"I8: {ref.name} is deleted")
        runs_again = any(not fact.ended for fact in self.view.of_release(number))
        if runs_again and number in self.retired and ref.kind is not ObjectKind.DEPLOYMENT:
            return  # what a rollback makes anew
        last = self.view.last_past
        if ref.kind is ObjectKind.CRON_JOB and last is not None and last.leaves:
            return  # CronJobs change places before traffic does
        if number in self._protected():
            raise Violation(f"I8: {ref.name} is deleted; protected are {self._protected()}")
        if ref.kind is ObjectKind.DEPLOYMENT:
            self._stops(ref.name, deleted=True)

    def _protected(self) -> set[int | None]:
        # With a verdict, and traffic gone from it, a deployment is cleaned up before it is ended.
        facts = [f for f in self.view.facts if not f.ended and not f.leaves]
        still_open = {f.release for f in facts} | {f.previous for f in facts if f.past}
        serving = set() if self.kube.edited else {self._selected()}
        return {self.active, self.view.in_charge, *self.retired[-3:], *still_open, *serving}

    def _stops(self, name: str, *, deleted: bool) -> None:
        number = _number(OF_RELEASE, name)
        if number is None or self.kube.loose:
            return
        last = self.view.last_past
        if number == self.view.in_charge:
            raise Violation(f"I9: {name} is stopped, and it is to serve")
        if last is None:
            return
        if not last.ended and not last.leaves and number == last.previous:
            self._previous_may_stop(last, name)
        if last.leaves and number == last.release and self._selected() == number:
            raise Violation(f"I9: {name} is stopped while traffic is on it")

    def _previous_may_stop(self, last: Fact, name: str) -> None:
        primary = self.view.configs[last.release].primary
        well = primary is None or self.kube.ready_at_read.get(last.release)
        if last.state is not D or not well or self._seen(last, D) < self._drain(last):
            raise Violation(f"I9: {name} is stopped while r-{last.release} is {last.state}")

    def _drain(self, fact: Fact) -> timedelta:
        config = self.view.configs[fact.previous or fact.release]
        primary = config.primary
        if primary is None:
            return timedelta(0)
        seconds = primary.drain_seconds if fact.previous else primary.stabilization_seconds
        return timedelta(seconds=seconds)

    def _points(self, number: int | None) -> None:
        if number is None:
            if self.view.has_port(self.view.in_charge) and not self.kube.loose:
                raise Violation(f"I9: traffic goes nowhere instead of to r-{self.view.in_charge}")
            return
        if number != self.view.in_charge and not self.kube.loose:
            raise Violation(f"I9: traffic goes to r-{number} instead of r-{self.view.in_charge}")
        nobody = not self.kube.ready_now(number)
        put_right = not self.kube.endpoints(SERVICE) and number == self.view.in_charge
        by_world = self.kube.late and number not in self.kube.stopped_by_agent
        if nobody and not put_right and not by_world:
            raise Violation(f"I9: traffic goes to r-{number}, of which nobody is ready")

    def emptied(self) -> None:
        """Judge that the agent has taken the last ready endpoint away."""
        serving = self.view.in_charge
        nothing_is_to_serve = not self.view.has_port(serving)
        by_world = self.kube.late and self._selected() not in self.kube.stopped_by_agent
        if not nothing_is_to_serve and not by_world and not self.kube.edited:
            raise Violation(f"I9: nobody is behind the Service any more; r-{serving} is to serve")

    # --- each look ---

    def looked(self) -> None:
        """Count the time in which the cluster was seen, in the state of each deployment."""
        now = self.kube.read_at
        gap = now - self.looked_at if self.looked_at is not None else timedelta(0)
        for fact in self.view.facts:
            if gap <= GAP and not (fact.ended and not fact.leaves):
                key = (fact.id, fact.state)
                self.seen_in[key] = self.seen_in.get(key, timedelta(0)) + gap
        self.looked_at = now

    def _seen(self, fact: Fact, *states: State) -> timedelta:
        return sum((self.seen_in.get((fact.id, s), timedelta(0)) for s in states), timedelta(0))

    # --- each step ---

    def step(self, view: View) -> None:
        """Judge the rows after something was done."""
        before = {fact.id: fact for fact in self.view.facts}
        self.view = view
        for fact in view.facts:
            known = before.get(fact.id)
            self._walked(fact, known.path if known is not None else ())
            if known is not None and not known.verdict and fact.verdict:
                self._least(fact, min(self.limits.unready, self.limits.switch_refused), T, D)
            if known is not None and not known.given_up and fact.given_up:
                self._gives_up(fact)
        self._lanes(view)
        if view.active != self.active:
            raise Violation(f"I7: r-{view.active} is active instead of r-{self.active}")
        self._held(view)

    def _gives_up(self, fact: Fact) -> None:
        """What a way back is given up for has to be there still, or nothing would serve."""
        there = any(
            kind is ObjectKind.DEPLOYMENT and _number(OF_RELEASE, name) == fact.release
            for kind, name in self.kube.objects
        )
        gone = self.view.configs[fact.release].primary is not None and not there
        if gone and not self.kube.hands_on and not self.kube.late:
            raise Violation(f"§2: the way back from r-{fact.release} is given up after its end")

    def _walked(self, fact: Fact, known: tuple[State, ...]) -> None:
        if fact.path[: len(known)] != known or fact.path[0] is not P:
            raise Violation(f"I1: {fact.path} was {known}")
        for start, to in zip(fact.path, fact.path[1:], strict=False):
            if to not in EDGES.get(start, ()):
                raise Violation(f"I2: there is no arrow from {start} to {to}")
        for to in fact.path[len(known) or 1 :]:
            self._entered(fact, to)
        if fact.path[-1] is not fact.state:
            raise Violation(f"I3: the events say {fact.path[-1]}, the row {fact.state}")
        if fact.state is U and (fact.superseded_by or 0) <= fact.id:
            raise Violation(f"I15: superseded by {fact.superseded_by}")

    def _entered(self, fact: Fact, to: State) -> None:
        if to is T and not self.kube.late:
            self._is_stable(fact)
        if to is H:
            self._is_healthy(fact)
        if to is F and fact.path[-2] is Q and fact.blocker == "readiness":
            self._least(fact, self.limits.qualifying, Q)

    def _least(self, fact: Fact, least: timedelta, *states: State) -> None:
        if self._seen(fact, *states) < least:
            seen = self._seen(fact, *states)
            raise Violation(f"§7: r-{fact.release} was judged after {seen} of {least}")

    def _is_stable(self, fact: Fact) -> None:
        primary = self.view.configs[fact.release].primary
        if primary is None:
            return
        since = timedelta(seconds=primary.stabilization_seconds)
        ready = self.kube.ready_at_read.get(fact.release, ())
        if not any(self.kube.read_at - at >= since for at in ready):
            raise Violation(f"§7: r-{fact.release} takes over and has not stayed ready")

    def _is_healthy(self, fact: Fact) -> None:
        if self.view.configs[fact.release].primary is not None and not self.kube.late:
            if not self.kube.ready_at_read.get(fact.release):
                raise Violation(f"F12: r-{fact.release} is healthy with nobody ready")
            self._least(fact, self._drain(fact), D)
        if fact.verdict:
            raise Violation("§2: a deployment with a verdict became healthy")
        if self.active not in {None, fact.release}:
            self.retired.append(self.active or 0)
        self.retired = [number for number in self.retired if number != fact.release]
        self.active = fact.release

    def _lanes(self, view: View) -> None:
        for past in (True, False):
            lane = [fact.id for fact in view.facts if not fact.ended and fact.past is past]
            if len(lane) > 1:
                raise Violation(f"I5: {lane} move side by side")

    def _held(self, view: View) -> None:
        held = {f.release for f in view.facts if not f.ended and f.state in {P, A}}
        ours = {_number(OF_RELEASE, name) for _, name in self.kube.objects}
        fresh = {n for n in held if {f.state for f in view.of_release(n)} <= {P, A}}
        if fresh & ours and not self.kube.ever_loose:
            raise Violation(f"I19: held, but there are objects of {fresh & ours}")

    # --- once the world is quiet ---

    def quiet(self, *, still: bool) -> None:
        """Judge the end: all has healed and the agent has looked often."""
        view = self.view
        still_open = [fact for fact in view.facts if not fact.ended]
        if still_open:
            raise Violation(f"it never ends: {still_open}")
        serving = view.in_charge
        if not still and self._can_serve(serving):
            raise Violation("it never settles")
        running = {p.release for p in self.kube.pods.values() if not p.job or not p.finished}
        # Where what is to serve cannot, traffic and pods stay where they are.
        stays = set() if self._can_serve(serving) else {self._selected()}
        if running - {serving} - stays:
            raise Violation(f"I14: pods of {running} are left; r-{serving} is to serve")
        self._traffic_is_right(serving)

    def _traffic_is_right(self, serving: int | None) -> None:
        expected = serving if self.view.has_port(serving) else None
        if not self._can_serve(serving):
            return  # it waits for somebody to be ready
        if self._selected() != expected:
            raise Violation(f"the Service selects {self._selected()} instead of {expected}")
        if serving is None:
            return
        primary = self.view.configs[serving].primary
        if primary is not None and not self.kube.ready_now(serving):
            raise Violation(f"nobody of r-{serving} is ready, and all is well")

    def _can_serve(self, number: int | None) -> bool:
        if number is None:
            return True
        good = self.kube.images[number] in {Image.GOOD, Image.SLOW}
        return good and number not in self.kube.ruined


def _name(command: c.Create | c.Resume) -> str:
    return command.name if isinstance(command, c.Create) else command.ref.name


def _number(pattern: re.Pattern[str], name: str) -> int | None:
    found = pattern.search(name)
    return int(found[1]) if found else None
