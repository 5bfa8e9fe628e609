"""From the click to healthy: the product's own deploy path and loop on a cluster of values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from deployments import encryption
from deployments.actions.move import move
from deployments.actions.start import deploy
from deployments.agent import loop, registry
from deployments.domain.actors import person
from deployments.domain.releases import Config, ReleaseCommand
from deployments.domain.settings import Settings
from deployments.domain.states import Cause, State
from deployments.models import (
    CauseClock,
    Cluster,
    Deployment,
    DeploymentJob,
    Observation,
    SecretValue,
    Slot,
    Variable,
)
from tests.domain.world import cron, http, job, worker
from tests.factories import DIGEST, make_slot, make_user
from tests.walks.fake_cluster import FakeCluster

pytestmark = pytest.mark.django_db

ANOTHER_LOOK = "0123456789abcdef"
ROUTE = ["pending", "admitted", "starting", "qualifying", "activating", "draining", "healthy"]
KINDS = {
    "http": (http(),),
    "worker": (worker(primary=True),),
    "worker with a port": (worker(primary=True, port=9000),),
    "cron": (cron(),),
    "job": (job(),),
    "all kinds": (http(replicas=2), worker(), cron(), job()),
}


def click(slot: Slot, cluster: FakeCluster, image: str = "shop/web:1") -> Deployment:
    user = make_user()
    return deploy(slot.pk, image=image, reason="", by=user, now=cluster.now).deployment


def look(slot: Slot, cluster: FakeCluster, times: int = 1) -> None:
    for _ in range(times):
        cluster_id = slot.environment.cluster_id
        assert cluster_id is not None
        loop.look(cluster_id, now=cluster.now)
        cluster.wait(2)


def walk(slot: Slot, cluster: FakeCluster, deployment: Deployment, *, looks: int = 120) -> str:
    """Look until the deployment has ended, and return how."""
    for _ in range(looks):
        deployment.refresh_from_db()
        if deployment.ended_at is not None:
            return deployment.state
        look(slot, cluster)
    raise AssertionError(f"still {deployment.state}: {deployment.what}")


def states_of(deployment: Deployment) -> list[str]:
    return list(deployment.events.filter(kind="move").values_list("to_state", flat=True))


@pytest.mark.parametrize("kind", KINDS)
def test_every_process_kind_walks_from_the_click_to_healthy(
    kind: str, cluster: FakeCluster, answers: object
) -> None:
    slot = make_slot(settings=Settings(KINDS[kind]).to_json())
    deployment = click(slot, cluster)

    assert walk(slot, cluster, deployment) == "healthy"

    assert states_of(deployment) == ROUTE
    slot.refresh_from_db()
    assert slot.active_release == deployment.release
    assert deployment.release.digest == DIGEST
    look(slot, cluster, times=5)
    slot.refresh_from_db()
    assert not slot.unsettled


def test_a_release_command_runs_once_and_its_job_is_remembered(
    cluster: FakeCluster, answers: object
) -> None:
    settings = Settings((http(),), ReleaseCommand(("migrate",)))
    slot = make_slot(settings=settings.to_json())
    deployment = click(slot, cluster)

    assert walk(slot, cluster, deployment) == "healthy"

    assert states_of(deployment) == [*ROUTE[:2], "releasing", *ROUTE[2:]]
    assert DeploymentJob.objects.get().name == f"web--release-d{deployment.pk}"


def test_a_second_version_takes_over_without_a_moment_in_which_nobody_serves(
    slot: Slot, cluster: FakeCluster
) -> None:
    walk(slot, cluster, click(slot, cluster))
    second = click(slot, cluster, "shop/web:2")
    world = cluster.world(slot.pk)
    served: list[set[int | None]] = []
    for _ in range(60):
        look(slot, cluster)
        served.append(world.serves())

    second.refresh_from_db()
    assert second.state == "healthy"
    first_new = served.index({2})
    assert served == [{1}] * first_new + [{2}] * (len(served) - first_new)
    assert world.running() == {2}


def test_a_deploy_while_one_starts_replaces_it_and_leaves_nothing_of_it(
    slot: Slot, cluster: FakeCluster
) -> None:
    first = click(slot, cluster)
    while first.state != "qualifying":
        look(slot, cluster)
        first.refresh_from_db()

    second = click(slot, cluster, "shop/web:2")

    assert walk(slot, cluster, second) == "healthy"
    first.refresh_from_db()
    assert (first.state, first.what) == ("superseded", "Superseded by r-2")
    assert not [n for n in cluster.world(slot.pk).names() if n.endswith("-r1")]


def test_a_deploy_while_one_takes_over_waits_and_starts_right_behind_it(
    slot: Slot, cluster: FakeCluster
) -> None:
    first = click(slot, cluster)
    while first.state != "draining":
        look(slot, cluster)
        first.refresh_from_db()
    second = click(slot, cluster, "shop/web:2")

    assert second.what == "Waiting for r-1 to finish taking over traffic"
    assert walk(slot, cluster, first) == "healthy"
    look(slot, cluster)
    second.refresh_from_db()
    assert (second.state, second.blocker) == ("admitted", "")
    assert walk(slot, cluster, second) == "healthy"


# --- tags ---


def test_a_tag_that_the_registry_does_not_know_fails_within_thirty_seconds(
    slot: Slot, cluster: FakeCluster, answers: Callable[[object], None]
) -> None:
    answers(registry.RegistryRefused("manifest unknown"))
    began, deployment = cluster.now, click(slot, cluster)

    assert walk(slot, cluster, deployment) == "failed"

    assert deployment.blocker == "image-pull"
    assert deployment.what == (
        "The registry answered for registry.example/shop/web:1: manifest unknown."
    )
    assert deployment.leaves == "web is not running."
    assert cluster.now - began <= timedelta(seconds=30)
    assert cluster.world(slot.pk).names() == set()


def test_a_registry_that_does_not_answer_has_three_minutes(
    slot: Slot, cluster: FakeCluster, answers: Callable[[object], None]
) -> None:
    answers(registry.RegistryUnreachable("timed out"))
    began, deployment = cluster.now, click(slot, cluster)

    assert walk(slot, cluster, deployment) == "failed"

    assert deployment.blocker == "image-pull"
    assert timedelta(minutes=3) <= cluster.now - began <= timedelta(minutes=4)


def test_a_tag_that_appears_in_time_is_deployed(
    slot: Slot, cluster: FakeCluster, answers: Callable[[object], None]
) -> None:
    answers(registry.RegistryRefused("manifest unknown"))
    deployment = click(slot, cluster)
    look(slot, cluster)
    answers(DIGEST)

    assert walk(slot, cluster, deployment) == "healthy"


# --- admitted, secrets ---


def test_a_name_that_is_taken_fails_it_and_nothing_was_made(
    slot: Slot, cluster: FakeCluster
) -> None:
    cluster.foreign = ("Service web",)
    deployment = click(slot, cluster)

    assert walk(slot, cluster, deployment) == "failed"
    assert deployment.blocker == "startup"
    assert deployment.what.startswith("Service web exists")
    assert cluster.world(slot.pk).log == []


def test_a_release_gets_its_variables_with_the_secrets_in_the_clear(
    slot: Slot, cluster: FakeCluster
) -> None:
    Variable.objects.create(slot=slot, key="MODE", value="fast")
    secret = Variable.objects.create(slot=slot, key="API_KEY", secret=True)
    SecretValue.objects.create(variable=secret, ciphertext=encryption.encrypt("s3cret"))

    walk(slot, cluster, click(slot, cluster))

    assert cluster.secrets == {"web-r1": {"MODE": "fast", "API_KEY": "s3cret"}}


# --- going back ---


def test_a_release_that_falls_while_it_drains_goes_back_and_says_so(
    slot: Slot, cluster: FakeCluster
) -> None:
    walk(slot, cluster, click(slot, cluster))
    second = click(slot, cluster, "shop/web:2")
    while second.state != "draining":
        look(slot, cluster)
        second.refresh_from_db()
    cluster.world(slot.pk).never_ready.add(2)

    assert walk(slot, cluster, second) == "failed"

    assert second.blocker == second.verdict_blocker == "readiness"
    assert second.leaves == "r-1 keeps serving."
    slot.refresh_from_db()
    assert slot.active_release is not None
    assert slot.active_release.number == 1
    look(slot, cluster, times=10)
    assert cluster.world(slot.pk).running() == {1}
    assert not [n for n in cluster.world(slot.pk).names() if n.endswith("-r2")]


def test_a_cancel_past_the_point_is_made_true_and_the_next_one_waits_for_it(
    slot: Slot, cluster: FakeCluster
) -> None:
    walk(slot, cluster, click(slot, cluster))
    second = click(slot, cluster, "shop/web:2")
    while second.state != "draining":
        look(slot, cluster)
        second.refresh_from_db()
    move(
        second.pk,
        expected=State.DRAINING,
        to=State.CANCELLED,
        now=cluster.now,
        actor=person("ana"),
        cause=Cause.PERSON,
    )
    third = click(slot, cluster, "shop/web:3")
    look(slot, cluster)
    third.refresh_from_db()
    assert third.what == "Waiting for traffic to return to r-1"

    assert walk(slot, cluster, third) == "healthy"
    assert cluster.world(slot.pk).running() == {3}


# --- silence, leases, several slots ---


def test_silence_is_written_down_and_decides_nothing(slot: Slot, cluster: FakeCluster) -> None:
    deployment = click(slot, cluster)
    look(slot, cluster)
    cluster.silent = True
    version = Deployment.objects.get().version

    look(slot, cluster, times=100)

    row = Cluster.objects.get()
    assert (row.unreachable_reason, bool(row.unreachable_since)) == ("timed out", True)
    assert Deployment.objects.get().version == version
    cluster.silent = False
    assert walk(slot, cluster, deployment) == "healthy"
    row.refresh_from_db()
    assert (row.unreachable_reason, row.unreachable_since) == ("", None)


def test_a_second_look_while_one_holds_the_lease_does_nothing(
    slot: Slot, cluster: FakeCluster
) -> None:
    click(slot, cluster)
    Cluster.objects.update(
        lease_token=ANOTHER_LOOK, lease_until=cluster.now + timedelta(seconds=40)
    )

    look(slot, cluster)
    assert not Observation.objects.exists()
    cluster.wait(40)
    look(slot, cluster)
    assert Observation.objects.exists()


def test_a_look_whose_lease_was_taken_over_writes_nothing_more(
    slot: Slot, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = click(slot, cluster)
    while deployment.state != "starting":
        look(slot, cluster)
        deployment.refresh_from_db()
    read = cluster.read

    def overtaken(*asked: object) -> object:
        Cluster.objects.update(lease_token=ANOTHER_LOOK)
        return read(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(cluster, "read", overtaken)
    look(slot, cluster)

    assert cluster.world(slot.pk).log == []
    assert CauseClock.objects.filter(mark="starting").count() == 0


def test_what_was_cancelled_while_the_cluster_was_read_is_not_written_to(
    slot: Slot, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = click(slot, cluster)
    while deployment.state != "starting":
        look(slot, cluster)
        deployment.refresh_from_db()
    read = cluster.read

    def cancelled(*asked: object) -> object:
        move(
            deployment.pk,
            expected=State.STARTING,
            to=State.CANCELLED,
            now=cluster.now,
            actor=person("ana"),
            cause=Cause.PERSON,
        )
        return read(*asked)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(cluster, "read", cancelled)
        look(slot, cluster)
    assert cluster.world(slot.pk).log == []
    look(slot, cluster, times=5)

    deployment.refresh_from_db()
    slot.refresh_from_db()
    assert deployment.state == "cancelled"
    assert not slot.unsettled


@pytest.mark.parametrize(
    ("image", "step"), [("not an image:::", "the snapshot"), ("registry.example/web:1", "a write")]
)
def test_broken_data_of_one_slot_does_not_hold_up_the_others(
    image: str, step: str, slot: Slot, cluster: FakeCluster, caplog: pytest.LogCaptureFixture
) -> None:
    broken = make_slot(slot.environment, "broken")
    click(broken, cluster)
    broken.releases.update(image=image)
    if step == "a write":
        cluster.world(broken.pk).run = None  # type: ignore[assignment, method-assign]
    deployment = click(slot, cluster)

    assert walk(slot, cluster, deployment) == "healthy"

    assert f"slot {broken.pk} was set aside" in caplog.text


def test_two_slots_of_a_cluster_walk_side_by_side(slot: Slot, cluster: FakeCluster) -> None:
    other = make_slot(slot.environment, "mail")
    first, second = click(slot, cluster), click(other, cluster)

    assert walk(slot, cluster, first) == "healthy"
    second.refresh_from_db()
    assert second.state == "healthy"
    assert "mail" in cluster.world(other.pk).names()


def test_a_settled_slot_is_looked_at_every_fifteen_seconds_only(
    slot: Slot, cluster: FakeCluster
) -> None:
    walk(slot, cluster, click(slot, cluster))
    look(slot, cluster, times=5)
    seen_at = set()
    for _ in range(16):
        look(slot, cluster)
        seen_at.add(Observation.objects.get().observed_at)

    assert len(seen_at) in {2, 3}


def test_a_config_is_read_back_as_it_was_frozen() -> None:
    config = Config(KINDS["all kinds"], ReleaseCommand(("migrate", "--all")), {"A": "1"})

    assert Config.from_json(config.to_json()) == config
