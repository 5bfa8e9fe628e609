"""What happens to a slot in the same moment: deploys, moves, looks.

Where a deploy takes part the test fails when `lock_slot` takes no lock: two deploys then draw the
same release number, a deploy and a move wait on each other for ever, or one overwrites the slot of
the other. Two moves are parted by the deployment's own row, two looks by the lease.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from deployments.actions import leases, record
from deployments.actions.move import move
from deployments.actions.start import Started, deploy
from deployments.domain.actors import agent
from deployments.domain.errors import StaleState
from deployments.domain.states import MOVING, State
from deployments.domain.step import Move, Report, Step
from deployments.models import Cluster, Deployment, DeploymentEvent, Slot, User
from tests.factories import NOON, make_cluster, make_deployment, make_slot, make_user
from tests.races.together import at_once

pytestmark = [pytest.mark.race, pytest.mark.django_db(transaction=True)]

AGENT = agent("practice")
TRIALS = range(8)
trials = pytest.mark.parametrize("trial", TRIALS)


def deploying(slot: Slot, by: User) -> Callable[[], Started]:
    return lambda: deploy(slot.pk, image="shop/web:1", reason="", by=by, now=NOON)


def moving(deployment: Deployment, start: State, to: State) -> Callable[[], Deployment]:
    return lambda: move(deployment.pk, expected=start, to=to, now=NOON, actor=AGENT)


def events_are_in_order(slot: Slot) -> bool:
    for deployment in Deployment.objects.filter(slot=slot):
        numbers = list(deployment.events.values_list("number", flat=True))
        if numbers != list(range(1, len(numbers) + 1)):
            return False
    return True


@trials
def test_of_two_deploys_at_once_the_later_replaces_the_earlier(trial: int) -> None:
    slot, ana, bob = make_slot(), make_user(), make_user()

    outcomes = at_once(deploying(slot, ana), deploying(slot, bob))

    first, second = Deployment.objects.order_by("release__number")
    assert all(isinstance(outcome, Started) for outcome in outcomes)
    assert (first.state, first.what) == ("superseded", "Superseded by r-2")
    assert second.state == "pending"
    assert first.superseded_by == second
    assert sorted(outcome.ended for outcome in outcomes if isinstance(outcome, Started)) == [
        (),
        (first.pk,),
    ]
    assert [first.release.number, second.release.number] == [1, 2]
    slot.refresh_from_db()
    assert (slot.generation, slot.releases_made) == (2, 2)
    assert events_are_in_order(slot)


@trials
def test_of_six_deploys_at_once_one_is_left(trial: int) -> None:
    slot, people = make_slot(), [make_user() for _ in range(6)]

    at_once(*(deploying(slot, person) for person in people))

    states = list(Deployment.objects.order_by("release__number").values_list("state", flat=True))
    assert states == ["superseded"] * 5 + ["pending"]
    slot.refresh_from_db()
    assert slot.generation == 6


@trials
def test_a_deploy_against_the_move_into_activating_ends_it_or_waits_behind_it(trial: int) -> None:
    older = make_deployment(state=State.QUALIFYING)
    ana = make_user()

    started, moved = at_once(
        deploying(older.slot, ana), moving(older, State.QUALIFYING, State.ACTIVATING)
    )

    older.refresh_from_db()
    assert isinstance(started, Started)
    newer = Deployment.objects.get(pk=started.deployment.pk)
    if isinstance(moved, StaleState):
        assert (older.state, newer.blocker, started.ended) == ("superseded", "", (older.pk,))
    else:
        assert (older.state, newer.blocker, started.ended) == ("activating", "waiting", ())
        assert older.past_point_of_no_return
    assert events_are_in_order(older.slot)


@trials
def test_a_deploy_against_the_move_to_healthy_never_ends_it(trial: int) -> None:
    older = make_deployment(state=State.DRAINING)
    ana = make_user()

    started, _ = at_once(deploying(older.slot, ana), moving(older, State.DRAINING, State.HEALTHY))

    older.refresh_from_db()
    assert isinstance(started, Started)
    assert (older.state, started.ended) == ("healthy", ())
    slot = Slot.objects.get(pk=older.slot_id)
    assert slot.active_release == older.release
    assert (slot.generation, slot.fence) == (2, 2)


@trials
def test_of_two_moves_at_once_one_wins_and_the_other_is_told(trial: int) -> None:
    deployment = make_deployment(state=State.DRAINING)

    outcomes = at_once(
        moving(deployment, State.DRAINING, State.HEALTHY),
        moving(deployment, State.DRAINING, State.CANCELLED),
    )

    assert sum(isinstance(outcome, StaleState) for outcome in outcomes) == 1
    assert DeploymentEvent.objects.filter(deployment=deployment).count() == 1


@trials
def test_a_look_recorded_beside_a_deploy_is_of_one_generation_or_dropped(trial: int) -> None:
    deployment = make_deployment(state=State.STARTING)
    slot, ana = deployment.slot, make_user()
    step = Step(
        commands=(),
        changes=(Move(deployment.pk, State.STARTING, State.QUALIFYING),),
        ticking=(),
        report=Report(None, 0, 1, rolling=False),
        settled=False,
    )

    recorded, started = at_once(
        lambda: record.record(slot.pk, step, generation=1, now=NOON, actor=AGENT),
        deploying(slot, ana),
    )

    deployment.refresh_from_db()
    assert isinstance(started, Started)
    path = list(deployment.events.values_list("to_state", flat=True))
    assert path == (["qualifying", "superseded"] if recorded else ["superseded"])
    moving_states = [state.value for state in MOVING]
    assert Deployment.objects.filter(slot=slot, state__in=moving_states).count() == 1


@trials
def test_of_two_looks_at_a_cluster_one_gets_the_lease(trial: int) -> None:
    cluster = make_cluster()

    tokens = at_once(*[lambda: leases.take_lease(cluster.pk, now=NOON)] * 4)

    (token,) = [token for token in tokens if token is not None]
    assert Cluster.objects.get(pk=cluster.pk).lease_token == token
    assert leases.take_lease(cluster.pk, now=NOON + timedelta(seconds=39.9)) is None
    assert leases.take_lease(cluster.pk, now=NOON + timedelta(seconds=40)) is not None
