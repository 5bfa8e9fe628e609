"""A look that is held up between what it read and what it writes, while others carry on.

Its lease is over by then. Here the lease and the guard are switched off besides, so that only the
fence is left: what the look writes at last is refused by the cluster or has no effect.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deployments.actions import explain, leases, record
from deployments.actions.start import deploy
from deployments.actions.stop import cancel
from deployments.agent import clients, loop, registry
from deployments.domain.actors import agent
from deployments.domain.blockers import Blocker
from deployments.domain.messages import Message
from deployments.domain.observations import CronJobSeen, JobSeen, ServiceSeen, Workload
from deployments.domain.settings import Settings
from deployments.domain.states import FINAL, State
from deployments.domain.step import GiveUp, Step
from deployments.models import Deployment, Observation, Slot, User
from deployments.reads.clock import database_now
from deployments.reads.snapshots import LOOK_AT_SETTLED_EVERY
from tests.domain.world import World, cron, http, job
from tests.factories import DIGEST, make_installation, make_slot, make_user
from tests.races import invariants
from tests.races.clusters import SharedCluster
from tests.races.orders import TRIALS

pytestmark = [pytest.mark.race, pytest.mark.django_db]

AGENT = agent("practice")
SETTINGS = Settings((http(), cron(), job()))
MORE_THAN_A_LEASE = 41
WRITES_OF_A_WALK = 18
WHOLE = 1000
VERDICT = Message("It was not ready for 30 s.", "Traffic goes back.", "Deploy again.")


class Space:
    """A slot on a cluster of values with r-1 healthy, and everything that happens to it."""

    def __init__(self, cluster: SharedCluster, slot: Slot, by: User) -> None:
        self.cluster, self.slot, self.by = cluster, slot, by
        self.serial = 0

    @property
    def world(self) -> World:
        return self.cluster.world(self.slot.pk)

    def click(self) -> Deployment:
        self.serial += 1
        image, now = f"shop/web:{self.serial}", self.cluster.now
        return deploy(self.slot.pk, image=image, reason="", by=self.by, now=now).deployment

    def look(self, times: int = 1, seconds: float = 3) -> None:
        assert self.slot.environment.cluster_id is not None
        for _ in range(times):
            loop.look(self.slot.environment.cluster_id, now=self.cluster.now)
            self.cluster.wait(seconds)

    def settle(self) -> None:
        """Look until everything has ended and nothing is left to do."""
        for _ in range(80):
            self.look()
            self.slot.refresh_from_db()
            if not self.slot.unsettled:
                return
        raise AssertionError(f"not settled: {list(Deployment.objects.values('state', 'what'))}")

    def newest(self) -> Deployment:
        return Deployment.objects.filter(slot=self.slot).latest("pk")

    def rows(self) -> object:
        """Return what the database says, without when it was last looked at."""
        slot = Slot.objects.values("generation", "fence", "active_release", "serving_release")
        seen = Observation.objects.values("generation", "ready", "desired")
        deployments = Deployment.objects.filter(slot=self.slot).order_by("pk").values()
        return slot.get(pk=self.slot.pk), list(seen), list(deployments)


@pytest.fixture
def space(db: None, monkeypatch: pytest.MonkeyPatch) -> Space:
    """A slot whose first release is healthy."""
    make_installation()
    cluster = SharedCluster(now=database_now())
    monkeypatch.setattr(clients, "of_cluster", lambda _: cluster)
    monkeypatch.setattr(registry, "resolve", lambda _: DIGEST)
    made = Space(cluster, make_slot(settings=SETTINGS.to_json()), make_user())
    made.click()
    made.settle()
    return made


@pytest.fixture
def only_the_fence(monkeypatch: pytest.MonkeyPatch) -> None:
    """No lease and no guard: every look may write whenever it comes to it."""
    monkeypatch.setattr(leases, "take_lease", lambda cluster_id, *, now: "any")
    monkeypatch.setattr(loop.Guard, "stands", lambda self: True)


def effects(world: World) -> dict[object, object]:
    """Return what objects do: who is selected, how many run, what is suspended."""
    found: dict[object, object] = {}
    for key, thing in world.objects.items():
        match thing:
            case Workload():
                found[key] = thing.replicas
            case CronJobSeen() | JobSeen():
                found[key] = 0 if thing.suspended else 1
            case ServiceSeen():
                # A release's own Service has an effect only where its pods are.
                found[key] = 0 if thing.meta.release else (dict(thing.selector), thing.ports)
    return {key: effect for key, effect in found.items() if effect}


# --- what happens meanwhile ---


def cancelled(space: Space) -> None:
    row = space.newest()
    if State(row.state) not in FINAL and not row.verdict_blocker:
        cancel(row.pk, reason="no", by=space.by, now=space.cluster.now)
    space.settle()


def judged(space: Space) -> None:
    row = space.newest()
    if State(row.state) in FINAL or not row.past_point_of_no_return:
        return cancelled(space)
    explain.go_back(
        row.pk,
        expected=State(row.state),
        blocker=Blocker.READINESS,
        message=VERDICT,
        now=space.cluster.now,
        actor=AGENT,
    )
    return space.settle()


def overtaken(space: Space) -> None:
    space.click()
    space.settle()


MEANWHILE: dict[str, Callable[[Space], None]] = {
    "it is cancelled": cancelled,
    "it is judged": judged,
    "a newer one is deployed": overtaken,
}


def walk_with_one_look_held_up(space: Space, write: int, meanwhile: Callable[[Space], None]) -> int:
    """Deploy, hold the look up that comes to this write, and judge what it does when it goes on.

    Return how many writes of how many looks were held up: 0 where there is no such write.
    """
    held: list[tuple[dict[object, object], object]] = []

    def happens() -> None:
        space.cluster.wait(MORE_THAN_A_LEASE)
        meanwhile(space)
        held.append((effects(space.world), space.rows()))

    space.click()
    space.cluster.writes, space.cluster.at_write = 0, write
    space.cluster.meanwhile = happens
    for _ in range(80):
        space.look(seconds=0)
        if held:
            judge(space, *held[0])
            return 1
        space.cluster.wait(3)
        if State(space.newest().state) in FINAL:
            break
    space.cluster.meanwhile = None
    space.settle()
    return 0


def judge(space: Space, effect: dict[object, object], rows: object) -> None:
    """Check that the held-up look has changed nothing, and that nothing of it stays."""
    assert effects(space.world) == effect
    assert space.rows() == rows
    # What it made without effect is seen and removed when the settled slot is looked at next.
    space.cluster.wait(LOOK_AT_SETTLED_EVERY.total_seconds())
    space.settle()
    assert effects(space.world) == effect
    assert {name for _, name in space.world.objects if name.endswith(gone(space))} == set()
    invariants.check(space.slot)


def gone(space: Space) -> tuple[str, ...]:
    """Return the endings of the names of releases that never became healthy."""
    never = space.slot.releases.filter(healthy_at__isnull=True).values_list("number", flat=True)
    return tuple(f"-r{number}" for number in never) or ("-r0",)


def some_writes(meanwhile: str, step: int) -> range:
    """Return which writes of a walk are held up: each of them in `make races`, else a part.

    The parts of the three things that may happen meanwhile are together the whole.
    """
    if TRIALS >= WHOLE:
        return range(1, WRITES_OF_A_WALK + 1)
    return range(1 + list(MEANWHILE).index(meanwhile), WRITES_OF_A_WALK + 1, step)


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.usefixtures("only_the_fence")
def test_with_only_the_fence_left_a_look_that_goes_on_changes_nothing(
    meanwhile: str, space: Space
) -> None:
    writes = some_writes(meanwhile, 3)

    held = [walk_with_one_look_held_up(space, write, MEANWHILE[meanwhile]) for write in writes]

    assert sum(held) >= len(writes) - 1


@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_a_look_whose_lease_is_over_changes_nothing(meanwhile: str, space: Space) -> None:
    writes = some_writes(meanwhile, 8)

    held = [walk_with_one_look_held_up(space, write, MEANWHILE[meanwhile]) for write in writes]

    assert sum(held) >= len(writes) - 1


@pytest.mark.usefixtures("only_the_fence")
def test_a_way_back_that_has_arrived_is_not_given_up_by_an_older_look(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    space.click()
    while space.newest().state != "draining":
        space.look()
    space.world.never_ready.add(1)
    row = space.newest()
    cancel(row.pk, reason="no", by=space.by, now=space.cluster.now)
    recorded = record.record
    given_up: list[Step] = []

    def held_up(slot_id: int, step: Step, **named: object) -> bool:
        if not given_up and any(isinstance(change, GiveUp) for change in step.changes):
            given_up.append(step)
            space.world.never_ready.clear()
            space.cluster.wait(MORE_THAN_A_LEASE)
            space.settle()
        return recorded(slot_id, step, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(record, "record", held_up)
    for _ in range(300):
        space.look()
        if given_up:
            break

    assert given_up
    assert space.newest().way_back_given_up_at is None
    assert space.world.serves() == {1}
