"""The loop keeps the output of what has failed before it removes it, and not without."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deployments.agent.cluster import Unreachable
from deployments.domain.observations import Container, JobSeen, ObjectKind, Pod, Termination
from deployments.domain.outputs import Source
from deployments.domain.releases import ReleaseCommand
from deployments.domain.settings import Settings
from deployments.models import Deployment, DeploymentOutput, Slot
from tests.domain.world import http
from tests.factories import make_slot
from tests.walks.fake_cluster import FakeCluster
from tests.walks.test_walks import click, look, walk

pytestmark = pytest.mark.django_db

CRASHED = Container(
    "http",
    "CrashLoopBackOff",
    restarts=3,
    ended=Termination(7, "Error", "begins\nno route to ledger\n"),
)
WORKLOAD = ObjectKind.DEPLOYMENT, "web--http-r1"


def crash(slot: Slot, cluster: FakeCluster) -> str:
    """Let every pod of the slot crash, with its output, and return the name of one."""
    world = cluster.world(slot.pk)
    for uid, pod in world.pods.items():
        world.pods[uid] = replace(pod, containers=(CRASHED,))
        cluster.logs[Source(pod.name, "http", previous=True)] = "no route to ledger\n"
    return next(pod.name for pod in world.pods.values())


def failing(slot: Slot, cluster: FakeCluster) -> tuple[Deployment, str]:
    """Return a deployment that has just failed, its pods still there, and the name of a pod."""
    deployment = click(slot, cluster)
    while not cluster.world(slot.pk).pods:
        look(slot, cluster)
    pod = crash(slot, cluster)
    assert walk(slot, cluster, deployment) == "failed"
    return deployment, pod


def test_a_crash_quotes_its_last_words_and_its_output_is_kept(
    slot: Slot, cluster: FakeCluster
) -> None:
    deployment, pod = failing(slot, cluster)

    look(slot, cluster, times=5)

    deployment.refresh_from_db()
    assert deployment.what.endswith("exits with code 7. Last words: no route to ledger.")
    kept = DeploymentOutput.objects.get()
    assert (kept.deployment, kept.pod, kept.container) == (deployment, pod, "http")
    assert (kept.previous, kept.text) == (True, "no route to ledger\n")
    assert WORKLOAD not in cluster.world(slot.pk).objects


def test_while_the_api_server_is_silent_nothing_is_removed(
    slot: Slot, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(slot, cluster)
    with monkeypatch.context() as silence:
        silence.setattr(cluster, "output", _silent)
        look(slot, cluster, times=5)
        assert WORKLOAD in cluster.world(slot.pk).objects

    look(slot, cluster, times=5)

    assert WORKLOAD not in cluster.world(slot.pk).objects
    assert DeploymentOutput.objects.count() == 1


def _silent(*_: object) -> tuple[()]:
    raise Unreachable("timed out")


def test_a_release_command_whose_end_says_nothing_is_quoted_from_its_output(
    cluster: FakeCluster, answers: object
) -> None:
    settings = Settings((http(),), ReleaseCommand(("migrate",)))
    slot = make_slot(settings=settings.to_json())
    deployment = click(slot, cluster)
    world = cluster.world(slot.pk)
    while not world.pods:
        look(slot, cluster)
    (pod,) = world.pods.values()
    _fail_without_words(cluster, slot, pod)

    assert walk(slot, cluster, deployment) == "failed"

    deployment.refresh_from_db()
    assert deployment.what == (
        "The release command exited with code 3. Its last words: no such table."
    )
    kept = DeploymentOutput.objects.get()
    assert (kept.deployment, kept.text) == (deployment, "loading\nno such table\n")


def _fail_without_words(cluster: FakeCluster, slot: Slot, pod: Pod) -> None:
    world, end = cluster.world(slot.pk), Termination(3, "Error")
    world.pods[pod.uid] = replace(
        pod,
        phase="Failed",
        containers=(Container("release", ended=end),),
        terminations=(end,),
    )
    job = world.objects[ObjectKind.JOB, pod.job]
    assert isinstance(job, JobSeen)
    world.objects[ObjectKind.JOB, pod.job] = replace(job, failed="Failed")
    cluster.logs[Source(pod.name, "release", previous=False)] = "loading\nno such table\n"


def test_an_object_of_somebody_else_that_appears_late_fails_the_deployment(
    slot: Slot, cluster: FakeCluster
) -> None:
    deployment = click(slot, cluster)
    while deployment.state != "starting":
        look(slot, cluster)
        deployment.refresh_from_db()
    cluster.foreign = ("Secret web-r1",)

    look(slot, cluster)

    deployment.refresh_from_db()
    assert (deployment.state, deployment.blocker) == ("failed", "startup")
    assert deployment.what.startswith("Secret web-r1 exists in the namespace")
