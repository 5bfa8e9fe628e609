"""Two looks at one cluster, and a look and a person, in every order of their steps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import get_ident

import pytest

from deployments.actions import events, leases, locks, observe, record
from deployments.actions.start import deploy
from deployments.actions.stop import cancel
from deployments.agent import clients, loop, registry
from deployments.domain.actors import agent
from deployments.domain.errors import StaleState
from deployments.domain.settings import Settings
from deployments.domain.states import State
from deployments.domain.step import Move, Report, Step
from deployments.models import Deployment, Observation, Slot
from deployments.reads import snapshots
from deployments.reads.clock import database_now
from tests.domain.world import http
from tests.factories import DIGEST, make_installation, make_slot, make_user
from tests.races import invariants
from tests.races.clusters import SharedCluster, held_up
from tests.races.orders import Race, Results, play_all
from tests.races.points import after, at_first, before
from tests.races.rows import LATER, deployment_in, make_place, new_slot

pytestmark = [pytest.mark.race, pytest.mark.django_db(transaction=True)]

AGENT = agent("practice")
LOOKING = (
    before(leases, "take_lease"),
    after(snapshots, "slots_of"),
    at_first(SharedCluster, "run"),
    before(record, "record"),
)
RECORDING = (
    at_first(locks, "lock_slot"),
    after(observe, "_serving"),  # between what it has asked and what it writes
    after(observe, "observe"),
    before(events, "record_event"),
)


@pytest.fixture
def cluster(db: None, monkeypatch: pytest.MonkeyPatch) -> SharedCluster:
    """A cluster of values, with a registry that knows every tag."""
    make_installation()
    made = SharedCluster(now=database_now())
    monkeypatch.setattr(clients, "of_cluster", lambda _: made)
    monkeypatch.setattr(registry, "resolve", lambda _: DIGEST)
    return made


def looking(slot: Slot, now: datetime) -> Callable[[], bool]:
    cluster_id = slot.environment.cluster_id
    assert cluster_id is not None
    return lambda: loop.look(cluster_id, now=now)


def step(*changes: Move, ready: int = 0, settled: bool = False) -> Step:
    return Step((), changes, (), Report(None, ready, 3, rolling=False), settled)


def recording(slot: Slot, taken: Step, now: datetime, generation: int = 1) -> Callable[[], bool]:
    return lambda: record.record(slot.pk, taken, generation=generation, now=now, actor=AGENT)


def test_of_two_looks_at_a_cluster_one_comes_after_the_other_or_not_at_all(
    cluster: SharedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, inside, at_once = make_user(), set[int](), list[int]()
    give_back = leases.give_lease_back

    def enters(_: int) -> SharedCluster:
        inside.add(get_ident())
        at_once.append(len(inside))
        return cluster

    def leaves(cluster_id: int, lease: str) -> None:
        inside.discard(get_ident())
        give_back(cluster_id, lease)

    monkeypatch.setattr(clients, "of_cluster", enters)
    monkeypatch.setattr(leases, "give_lease_back", leaves)

    def prepare() -> Race:
        slot = make_slot(settings=Settings((http(),)).to_json())
        deploy(slot.pk, image="shop/web:1", reason="", by=person, now=cluster.now)
        at_once.clear()

        def check(results: Results) -> None:
            assert set(results.values()) <= {True, False}
            assert set(at_once) == {1}
            row = Deployment.objects.get(slot=slot)
            path = list(row.events.values_list("to_state", flat=True))
            assert path == ["pending", "admitted"][: len(path)]
            invariants.check(slot)

        return Race({who: looking(slot, cluster.now) for who in ("one", "two")}, check)

    play_all(prepare, at=LOOKING)


@pytest.mark.parametrize("what", ["deploy", "cancel"])
def test_a_look_against_a_person_writes_about_what_is_or_nothing(
    what: str, cluster: SharedCluster
) -> None:
    person = make_user()

    def prepare() -> Race:
        slot = make_slot(settings=Settings((http(),)).to_json())
        now = cluster.now
        first = deploy(slot.pk, image="shop/web:1", reason="", by=person, now=now).deployment
        acts: dict[str, Callable[[], object]] = {
            "deploy": lambda: deploy(
                slot.pk, image="shop/web:2", reason="", by=person, now=now + timedelta(seconds=1)
            ),
            "cancel": lambda: cancel(
                first.pk, reason="", by=person, now=now + timedelta(seconds=1)
            ),
        }

        def check(results: Results) -> None:
            assert not isinstance(results[what], Exception), results[what]
            first.refresh_from_db()
            assert first.state == {"deploy": "superseded", "cancel": "cancelled"}[what]
            assert cluster.world(slot.pk).objects == {}
            invariants.check(slot)

        return Race({"look": looking(slot, now), what: acts[what]}, check)

    play_all(prepare, at=(*LOOKING, at_first(locks, "lock_slot")))


def test_of_two_observers_of_one_slot_the_move_is_made_once_and_the_later_one_is_kept() -> None:
    place = make_place()

    def prepare() -> Race:
        row = deployment_in(place, State.STARTING)
        move = Move(row.pk, State.STARTING, State.QUALIFYING)
        later = LATER + timedelta(seconds=2)

        def check(results: Results) -> None:
            kept = Observation.objects.get(slot=row.slot)
            assert (kept.ready, kept.observed_at) == (2, later)
            assert results["later"] is True
            path = list(row.events.values_list("to_state", flat=True))
            assert path.count("qualifying") == 1
            invariants.check(row.slot)

        acts = {
            "earlier": recording(row.slot, step(move, ready=1), LATER),
            "later": recording(row.slot, step(move, ready=2), later),
        }
        return Race(acts, check)

    play_all(prepare, at=RECORDING)


def test_an_observation_of_before_a_deploy_is_kept_before_it_or_not_at_all() -> None:
    place, person = make_place(), make_user()

    def prepare() -> Race:
        row = deployment_in(place, State.STARTING)
        move = Move(row.pk, State.STARTING, State.QUALIFYING)

        def check(results: Results) -> None:
            old = deploy_is_older(row)
            assert results["look"] is (not old)
            row.refresh_from_db()
            assert row.state == "superseded"
            seen = Observation.objects.filter(slot=row.slot)
            assert seen.exists() is (not old)
            assert row.slot.__class__.objects.get(pk=row.slot_id).unsettled
            invariants.check(row.slot)

        acts: dict[str, Callable[[], object]] = {
            "look": recording(row.slot, step(move, settled=True), LATER),
            "deploy": lambda: deploy(
                row.slot_id, image="shop/web:3", reason="", by=person, now=LATER
            ),
        }
        return Race(acts, check)

    play_all(prepare, at=RECORDING)


def deploy_is_older(row: Deployment) -> bool:
    """Whether the deploy was committed before the look's move could be."""
    return not row.events.filter(to_state="qualifying").exists()


def test_a_look_that_read_the_clock_before_a_deploy_never_writes_an_event_before_it(
    cluster: SharedCluster,
) -> None:
    slot = make_slot(settings=Settings((http(),)).to_json())
    began = cluster.now
    clicked = began + timedelta(seconds=1)
    row = deploy(
        slot.pk, image=f"shop/web@{DIGEST}", reason="", by=make_user(), now=clicked
    ).deployment

    looking(slot, began)()

    row.refresh_from_db()
    assert (row.state, row.state_since) == ("admitted", clicked)
    invariants.check(slot)


@pytest.mark.parametrize("generation", [1, 2])
def test_an_observation_that_arrives_late_changes_nothing(generation: int) -> None:
    slot = new_slot(make_place())
    person = make_user()
    for number in (1, 2):
        deploy(slot.pk, image=f"shop/web:{number}", reason="", by=person, now=LATER)
    seen = LATER + timedelta(minutes=5)
    assert record.record(slot.pk, step(ready=3), generation=2, now=seen, actor=AGENT)
    newest = Deployment.objects.latest("pk")
    late = step(Move(newest.pk, State.PENDING, State.ADMITTED), settled=True)

    assert not record.record(slot.pk, late, generation=generation, now=LATER, actor=AGENT)

    assert Observation.objects.get().ready == 3
    newest.refresh_from_db()
    slot.refresh_from_db()
    assert (newest.state, slot.unsettled) == ("pending", True)


def test_an_observation_of_an_older_generation_is_dropped_however_new_it_is() -> None:
    slot = new_slot(make_place())
    person = make_user()
    for number in (1, 2):
        deploy(slot.pk, image=f"shop/web:{number}", reason="", by=person, now=LATER)

    new = LATER + timedelta(minutes=5)
    assert not record.record(slot.pk, step(settled=True), generation=1, now=new, actor=AGENT)

    assert not Observation.objects.exists()
    assert Slot.objects.get(pk=slot.pk).unsettled


def test_a_look_that_holds_the_slot_lets_a_cancel_wait_and_both_are_written() -> None:
    row = deployment_in(make_place(), State.STARTING)
    person = make_user()
    move = Move(row.pk, State.STARTING, State.QUALIFYING)

    with held_up(recording(row.slot, step(move), LATER), at=before(events, "record_event")) as look:
        assert look.stands
        look.go_on()
    cancel(row.pk, reason="", by=person, now=LATER)

    with pytest.raises(StaleState, match="already Cancelled"):
        cancel(row.pk, reason="", by=person, now=LATER)
    invariants.check(row.slot)


def test_a_look_that_another_one_has_overtaken_writes_nothing_when_it_goes_on(
    cluster: SharedCluster,
) -> None:
    slot = make_slot(settings=Settings((http(),)).to_json())
    person = make_user()
    first = deploy(slot.pk, image="shop/web:1", reason="", by=person, now=cluster.now).deployment
    while first.state != "starting":
        looking(slot, cluster.now)()
        cluster.wait(2)
        first.refresh_from_db()

    with held_up(looking(slot, cluster.now), at=after(SharedCluster, "read")) as older:
        assert older.stands
        cluster.wait(41)
        assert looking(slot, cluster.now)()
        written, seen = list(cluster.world(slot.pk).log), Observation.objects.get().observed_at
        older.go_on()

    assert written
    assert cluster.world(slot.pk).log == written
    assert Observation.objects.get().observed_at == seen
