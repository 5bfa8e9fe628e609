"""A worker that is killed: after each of its writes the next look goes on as if nothing was."""

from __future__ import annotations

import pytest

from deployments.actions import record
from deployments.domain.commands import Command, Create
from deployments.domain.observations import Meta, ObjectKind
from deployments.domain.releases import ReleaseCommand
from deployments.domain.settings import Settings
from deployments.domain.wanted import Wanted
from deployments.models import Deployment, Slot
from tests.domain.world import cron, http, job, worker
from tests.factories import make_slot
from tests.walks.fake_cluster import FakeCluster
from tests.walks.test_scenarios_state import until
from tests.walks.test_walks import click, look, states_of

pytestmark = pytest.mark.django_db

ALL_KINDS = Settings((http(), worker(), cron(), job()), ReleaseCommand(("migrate",)))
MOST_WRITES = 30


class KilledError(BaseException):
    """The worker is gone: no handler of the agent's may catch this."""


def kill_after(cluster: FakeCluster, nth: int, patch: pytest.MonkeyPatch) -> list[Command]:
    """Kill the worker right after its n-th write from now on; return the writes that were made."""
    run, made = cluster.run, list[Command]()

    def dying(command: Command, wanted: Wanted, **more: object) -> Meta | None:
        result = run(command, wanted, **more)  # type: ignore[arg-type]
        made.append(command)
        if len(made) == nth:
            raise KilledError
        return result

    patch.setattr(cluster, "run", dying)
    return made


def look_on(slot: Slot, cluster: FakeCluster) -> None:
    try:
        look(slot, cluster)
    except KilledError:
        cluster.wait(2)


def walk_on(slot: Slot, cluster: FakeCluster, deployment: Deployment) -> str:
    for _ in range(200):
        deployment.refresh_from_db()
        if deployment.ended_at is not None:
            return deployment.state
        look_on(slot, cluster)
    raise AssertionError(f"still {deployment.state}: {deployment.what}")


@pytest.mark.parametrize("nth", range(1, MOST_WRITES, 4))
def test_a_worker_killed_after_its_nth_write_delays_and_repeats_nothing(
    nth: int, cluster: FakeCluster, answers: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    slot = make_slot(settings=ALL_KINDS.to_json())
    made = kill_after(cluster, nth, monkeypatch)
    deployment = click(slot, cluster)

    assert walk_on(slot, cluster, deployment) == "healthy"

    look(slot, cluster, times=5)
    jobs = [c.name for c in made if isinstance(c, Create) and c.kind is ObjectKind.JOB]
    uids = dict(deployment.jobs.values_list("name", "uid"))
    assert set(jobs) == set(uids), "each Job is made, and known"
    ran = [pod for pod in cluster.world(slot.pk).pods.values() if pod.job]
    assert len({pod.job for pod in ran}) == len(ran), "each Job ran once"
    assert cluster.world(slot.pk).running("http") == {1}


@pytest.mark.parametrize("nth", range(1, 9))
def test_a_worker_killed_on_the_way_back_still_brings_traffic_back_first(
    nth: int, slot: Slot, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk_on(slot, cluster, click(slot, cluster))
    second = click(slot, cluster, "shop/web:2")
    until(slot, cluster, second, "draining")
    world = cluster.world(slot.pk)
    world.answers_no.add(2)
    kill_after(cluster, nth, monkeypatch)

    served = []
    while second.ended_at is None or 2 in world.running():
        look_on(slot, cluster)
        second.refresh_from_db()
        served.append((world.serves(), 2 in world.running()))

    assert (second.state, second.leaves) == ("failed", "r-1 keeps serving.")
    assert all(behind for behind, _ in served), "somebody ready was behind the Service all along"
    assert all(runs for behind, runs in served if 2 in behind)
    assert states_of(second)[-1] == "failed"
    assert served[-1] == ({1}, False)


def test_a_worker_killed_before_it_could_write_down_what_it_did_does_it_again_harmlessly(
    slot: Slot, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = click(slot, cluster)
    remember = record.record
    killed: list[int] = []

    def dying(slot_id: int, *given: object, **more: object) -> bool:
        if len(killed) % 2 == 0:
            killed.append(slot_id)
            raise KilledError
        killed.append(0)
        return remember(slot_id, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(record, "record", dying)

    assert walk_on(slot, cluster, deployment) == "healthy"
    assert cluster.world(slot.pk).running() == {1}
