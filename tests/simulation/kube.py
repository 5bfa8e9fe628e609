"""A cluster of values that things happen to, and that knows on whose account somebody lost the
last ready endpoint. What an API server and its controllers do otherwise is `tests/domain/world`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from deployments.agent.cluster import CommandRefused, Stale, Unreachable
from deployments.domain import commands as c
from deployments.domain import names
from deployments.domain.observations import (
    Container,
    JobSeen,
    Meta,
    NodeRoom,
    ObjectKind,
    Pod,
    Room,
    Seen,
    ServiceSeen,
    Termination,
    Workload,
)
from deployments.domain.readiness import Check
from deployments.domain.wanted import Wanted
from tests.domain.world import NOON, READY_AFTER, STARTS_AFTER, STOPS_AFTER, Listed, World
from tests.simulation.events import Image, Point

TICK = timedelta(seconds=2)
NODES = ("node-1", "node-2")
EVICTS_AFTER = timedelta(seconds=30)
ROOM = Room((NodeRoom("node-1", 100_000, 2**40, 110),))
NO_ROOM = Room((NodeRoom("node-1", 100_000, 2**40, 0),))
SERVICE = "web"
PULL_FAILED = "failed to pull: registry/web: not found"


T = TypeVar("T")


class Died(BaseException):
    """The worker is killed here."""


class Watch(Protocol):
    """Who is told what the agent writes and what comes of it."""

    def wrote(self, command: c.Errand) -> None:
        """Judge a write just before it takes effect."""

    def looked(self) -> None:
        """Hear that the cluster was read."""

    def emptied(self) -> None:
        """Judge that the agent has taken the last ready endpoint away."""


@dataclass
class Interrupt:
    """What happens when a look comes to a point, after passing it `left` times."""

    point: Point
    left: int
    act: Callable[[], None]
    done: bool = False

    def is_at(self, point: str) -> bool:
        """Whether this is the point, and the time, at which to act."""
        if point != self.point and (self.point is not Point.ANY or point == Point.NOTED):
            return False
        self.left -= 1
        return self.left < 0


class Kube(World):
    """One namespace with two nodes; `late` and `loose` say how a held-up look's write came."""

    def __init__(self, now: datetime = NOON) -> None:
        super().__init__(now)
        self.images: dict[int, Image] = {}
        self.ill: dict[str | int, datetime] = {}
        self.ruined: set[int] = set()
        self.restarted: dict[str, datetime] = {}
        self.slow = False
        self.silent: dict[str, datetime] = {}
        self.away_until = now
        self.refuses_until = now
        self.refuses: tuple[int, bool] = (409, False)
        self.taken: tuple[str, ...] = ()
        self.edited = self.hands_on = False
        self.stopped_by_agent: set[int] = set()
        self.by_hand: set[str] = set()
        self.interrupt: Interrupt | None = None
        self.alive = True
        self.late = self.loose = self.ever_loose = self._unguarded = False
        self.read_at = now
        self.ready_at_read: dict[int, tuple[datetime, ...]] = {}
        self.watch: Watch | None = None
        self._serving = False

    # --- what the agent does ---

    def answer_or_raise(self) -> None:
        """Raise Unreachable while the API server is away."""
        if self.now < self.away_until:
            raise Unreachable("timed out")

    def run(self, command: c.Errand, wanted: Wanted) -> Meta | None:
        """Carry out a write, unless something happens to it before."""
        self.pass_point(type(command).__name__)
        self.answer_or_raise()
        self._refuse(command)
        if isinstance(command, c.Try | c.KeepOutput):
            return None
        self._check_version(command)
        if self.watch is not None:
            self.watch.wrote(command)
        self._blame(command)
        made = super().run(command, wanted)
        self.notice(by_agent=True)
        return made

    def pass_point(self, point: str) -> None:
        """Come to a point at which a look can be interrupted: a write's name, or `record`."""
        waiting = self.interrupt
        if waiting is None:
            self.loose = self.loose and self._unguarded
        elif waiting.is_at(point):
            self.interrupt, waiting.done = None, True
            waiting.act()

    def came_late(self, *, guarded: bool) -> None:
        """Mark the rest of this look: its writes follow a reading of long ago."""
        self.late = self.loose = self.ever_loose = True
        self._unguarded = not guarded

    def begin_look(self, interrupt: Interrupt | None) -> None:
        """Begin a look that is not late."""
        self.interrupt, self.alive = interrupt, True
        self.late = self.loose = self._unguarded = False

    def end_look(self) -> None:
        """Forget an interrupt that the look did not come to."""
        self.interrupt = None

    def die(self) -> None:
        """Kill the worker."""
        self.alive = False
        raise Died

    def _check_version(self, command: c.Errand) -> None:
        if isinstance(command, c.Create | c.Try | c.KeepOutput):
            return
        if command.ref.kind is not ObjectKind.SECRET:
            self._read(command.ref)

    def _refuse(self, command: c.Errand) -> None:
        code, switch_only = self.refuses
        if self.now >= self.refuses_until or (switch_only and not _switches(command)):
            return
        if code == 409:
            raise Stale("somebody was faster")
        if code == 500:
            raise Unreachable("500")
        raise CommandRefused(403, "Forbidden", "not allowed")

    def _blame(self, command: c.Errand) -> None:
        if isinstance(command, c.PointTraffic):
            self.edited = False
        found = None if isinstance(command, c.Create) else self._found(command)
        if not isinstance(found, Workload) or found.meta.release is None:
            return
        if isinstance(command, c.Delete) or (isinstance(command, c.Scale) and not command.replicas):
            self.stopped_by_agent.add(found.meta.release)
        if isinstance(command, c.Scale):
            self.by_hand.discard(found.meta.name)
            if command.replicas:
                self.stopped_by_agent.discard(found.meta.release)

    def _found(self, command: c.Errand) -> Listed | None:
        assert not isinstance(command, c.Create | c.Try | c.KeepOutput)
        return self.objects.get((command.ref.kind, command.ref.name))

    def notice(self, *, by_agent: bool = False) -> None:
        """Tell the watch when the agent has taken the last ready endpoint away."""
        serves = bool(self.endpoints(SERVICE))
        before, self._serving = self._serving, serves
        if before and not serves and by_agent and self.watch is not None:
            self.watch.emptied()

    # --- what happens to it ---

    def numbers(self) -> list[int]:
        """Return the releases that have pods."""
        return sorted({pod.release for pod in self.pods.values() if pod.release and not pod.job})

    def delete_by_hand(self, pick: float) -> None:
        """Delete one of the objects."""
        if not self.objects:
            return
        there: list[tuple[ObjectKind, str]] = sorted(self.objects)
        kind, name = chosen(there, pick)
        self.remove(kind, name)
        self.hands_on = True
        self.notice()

    def edit_service(self, pick: float) -> None:
        """Let the stable Service select some release, or none."""
        found = self.objects.get((ObjectKind.SERVICE, SERVICE))
        if not isinstance(found, ServiceSeen):
            return
        tag = chosen([names.NO_RELEASE, *map(names.release_tag, self.numbers())], pick)
        self._put(replace(found, selector={**found.selector, names.RELEASE: tag}))
        self.edited = True
        self.notice()

    def scale(self, pick: float, replicas: int) -> None:
        """Scale one Deployment by hand."""
        there = sorted(w.meta.name for w in self.objects.values() if isinstance(w, Workload))
        if there:
            name = chosen(there, pick)
            self.scale_by_hand(name, replicas)
            self.by_hand.add(name)

    def fall_ill(self, pick: float, seconds: int, *, one: bool) -> None:
        """Let a release's pods, or one pod, be unready for a while."""
        keys: list[str | int] = [*sorted(p.uid for p in self.pods.values() if not p.job)]
        there: list[str | int] = keys if one else [*self.numbers()]
        if there:
            self.ill[chosen(there, pick)] = self.now + timedelta(seconds=seconds)

    def ruin(self, pick: float) -> None:
        """Let a release's pods never be ready again."""
        if self.numbers():
            self.ruined.add(chosen(self.numbers(), pick))

    def fill_or_free(self) -> None:
        """Let the cluster be full, or have room again."""
        self.room = ROOM if self.room == NO_ROOM else NO_ROOM

    def ready_now(self, number: int) -> bool:
        """Whether a pod of a release is ready at this moment."""
        return any(p.ready and p.release == number and not p.job for p in self.pods.values())

    def heal(self) -> None:
        """Let everything that can pass have passed."""
        self.ill.clear()
        self.slow = False
        self.silent.clear()
        self.away_until = self.refuses_until = self.now
        self.taken = ()
        self.room = ROOM

    # --- what a cluster does by itself ---

    def wait(self, seconds: float = 2) -> None:
        """Let time pass in ticks, and look after each change who serves."""
        for _ in range(int(timedelta(seconds=seconds) / TICK)):
            self.now += TICK
            for found in list(self.objects.values()):
                if isinstance(found, Workload):
                    self._keep_replicas(found)
                elif isinstance(found, JobSeen):
                    self._work_off(found)
            for pod in list(self.pods.values()):
                self._live_on(pod)
            self.notice()

    def _keep_replicas(self, workload: Workload) -> None:
        alive = [p for p in self.pods.values() if self._runs_for(p, workload) and not p.deleting]
        for _ in range(workload.replicas - len(alive)):
            self._start(workload.meta.release, workload.meta.process)
        surplus = sorted(alive, key=lambda pod: pod.ready)[: max(len(alive) - workload.replicas, 0)]
        for pod in surplus:
            self._stop(pod)
        if surplus:
            self.notice(by_agent=workload.meta.name not in self.by_hand)
        if not workload.settled:
            key = ObjectKind.DEPLOYMENT, workload.meta.name
            self.objects[key] = replace(workload, settled=True)

    def _start(self, release: int | None, process: str, *, job: str = "") -> None:
        uid = f"pod-{self._next()}"
        node = next(n for n in (*NODES[len(uid) % 2 :], *NODES) if n not in self.silent)
        self.pods[uid] = Pod(uid, uid, release, process, node=node, job=job)
        self.born[uid] = self.now

    def _live_on(self, pod: Pod) -> None:
        if pod.node in self.silent:
            self._unseen(pod)
        elif pod.deletion_due is not None:
            if self.now >= pod.deletion_due:
                del self.pods[pod.uid]
        elif pod.job:
            super()._live_on(pod)
        else:
            self._be(pod)

    def _unseen(self, pod: Pod) -> None:
        since = self.silent[pod.node or ""]
        if pod.ready:
            pod = replace(pod, ready=False, ready_changed=self.now)
        if not pod.deleting and self.now - since >= EVICTS_AFTER:
            pod = replace(pod, deletion_due=self.now + STOPS_AFTER)
        self.pods[pod.uid] = pod

    def _be(self, pod: Pod) -> None:
        image = self.images.get(pod.release or 0, Image.GOOD)
        age = self.now - self.born[pod.uid]
        started = pod.started or (age >= STARTS_AFTER and image is not Image.NO_PULL)
        ready = started and self._is_ready(pod, image, age)
        container = _container(image, int(age.total_seconds()), started=started)
        if (ready, started, (container,)) == (pod.ready, pod.started, pod.containers):
            return
        self.pods[pod.uid] = replace(
            pod,
            started=started,
            started_at=self.born[pod.uid] if started else None,
            phase="Running" if started else "Pending",
            ready=ready,
            ready_changed=pod.ready_changed if pod.ready == ready else self.now,
            containers=(container,),
        )

    def _is_ready(self, pod: Pod, image: Image, age: timedelta) -> bool:
        until = max(
            (self.ill.get(key, self.now) for key in (pod.uid, pod.release or 0)), default=self.now
        )
        if until > self.now or pod.release in self.ruined:
            return False
        needs = timedelta(seconds=40) if self.slow or image is Image.SLOW else READY_AFTER
        match image:
            case Image.CRASHES | Image.NEVER_READY:
                return False
            case Image.FALLS:
                return READY_AFTER <= age < timedelta(seconds=30)
            case Image.FLAPS:
                return age >= READY_AFTER and int(age.total_seconds()) % 24 < 16
        return age >= needs or pod.ready

    # --- how it is seen ---

    def seen(self, wanted: Wanted, check: Check | None = None) -> Seen:
        """Return one look at the slot, unless nobody answers."""
        self.answer_or_raise()
        self.read_at = self.now
        self.ready_at_read = self._ready()
        if self.watch is not None:
            self.watch.looked()
        return replace(super().seen(wanted, check), silent_nodes=frozenset(self.silent))

    def _ready(self) -> dict[int, tuple[datetime, ...]]:
        found: dict[int, tuple[datetime, ...]] = {}
        for pod in self.pods.values():
            if pod.release and pod.ready and pod.ready_changed and not pod.job:
                found[pod.release] = (*found.get(pod.release, ()), pod.ready_changed)
        return found


def chosen(there: list[T], pick: float) -> T:
    """Return the one that a fraction names."""
    return there[int(pick * len(there))]


def _switches(command: c.Errand) -> bool:
    if isinstance(command, c.Create):
        return command.name == SERVICE
    return isinstance(command, c.PointTraffic | c.WriteFence) and command.ref.name == SERVICE


def _container(image: Image, age: int, *, started: bool) -> Container:
    if image is Image.NO_PULL:
        return Container("http", waiting="ImagePullBackOff", message=PULL_FAILED)
    if image is Image.CRASHES:
        runs = age % 10 < 4
        end = Termination(1, "Error", "boom") if age >= 4 else None
        return Container("http", restarts=age // 10, running=runs, ended=end)
    return Container("http", running=started)
