"""Deployments, Jobs, CronJobs and deletion in the practice cluster."""

from __future__ import annotations

import pytest

from tests.practice.driven import IMAGE, SPACE, Driven
from tests.recordings import manifests


@pytest.fixture
def cluster() -> Driven:
    return Driven()


def test_a_deployment_becomes_ready_within_seconds(cluster: Driven) -> None:
    cluster.web(2)

    slices = cluster.store.list("endpointslices", SPACE)
    assert [e["conditions"]["ready"] for e in slices[0]["endpoints"]] == [True, True]
    assert cluster.holds("deployments", "web", "Available")


def test_a_job_keeps_its_output_after_it_is_done_and_after_a_restart(cluster: Driven) -> None:
    cluster.create("jobs", manifests.job("once", manifests.container(IMAGE, "run")))
    cluster.until(lambda: cluster.holds("jobs", "once", "Complete"))

    after = Driven(earlier=cluster)

    expected = "sample run 1 begins\nline 1\nline 2\nline 3\n"
    assert cluster.world.log(cluster.pod(), "web", previous=False) == expected
    assert after.world.log(after.pod(), "web", previous=False) == expected


def test_a_job_that_waits_for_its_pod_never_fails(cluster: Driven) -> None:
    box = manifests.container("127.0.0.1:5000/sample:nope", "run")
    cluster.create("jobs", manifests.job("once", box))

    cluster.run(300)

    status = cluster.store.get("jobs", SPACE, "once")["status"]
    assert status["active"] == 1
    assert "conditions" not in status


def test_suspending_a_running_job_stops_its_pod(cluster: Driven) -> None:
    box = manifests.container(IMAGE, "run", env=manifests.variables(RUN_LINES=9999))
    cluster.create("jobs", manifests.job("once", box))
    cluster.until(lambda: cluster.ready() == 1)

    cluster.change("jobs", "once", suspend=True)

    cluster.until(lambda: not cluster.pods())
    assert cluster.holds("jobs", "once", "Suspended")


def test_a_deleted_job_takes_its_pod_along(cluster: Driven) -> None:
    cluster.create("jobs", manifests.job("once", manifests.container(IMAGE, "run")))
    cluster.until(lambda: cluster.holds("jobs", "once", "Complete"))

    cluster.store.delete("jobs", SPACE, "once")

    assert cluster.until(lambda: not cluster.pods()) < 5


def test_a_foreground_deletion_waits_for_what_is_owned(cluster: Driven) -> None:
    cluster.web()

    cluster.store.delete("deployments", SPACE, "web", propagation="Foreground")
    cluster.run(0.5)

    assert cluster.store.find("deployments", SPACE, "web") is not None
    cluster.until(lambda: cluster.store.find("deployments", SPACE, "web") is None)
    assert not cluster.pods()


def test_an_orphaning_deletion_leaves_what_was_owned(cluster: Driven) -> None:
    cluster.web()

    cluster.store.delete("deployments", SPACE, "web", propagation="Orphan")
    cluster.run(30)

    assert cluster.store.find("deployments", SPACE, "web") is None
    assert len(cluster.pods()) == 1


def test_a_namespace_goes_with_everything_in_it_after_a_while(cluster: Driven) -> None:
    cluster.web()

    cluster.store.delete("namespaces", None, SPACE)
    took = cluster.until(lambda: cluster.store.find("namespaces", None, SPACE) is None)

    assert 1 < took < 20
    assert not cluster.store.list("events", SPACE)


def test_a_rollout_that_stands_still_passes_its_deadline(cluster: Driven) -> None:
    box = manifests.served(IMAGE, env=manifests.variables(STATUS=500))
    wanted = manifests.deployment("web", 1, box)
    wanted["spec"]["progressDeadlineSeconds"] = 30
    cluster.create("deployments", wanted)

    cluster.run(60)

    conditions = cluster.store.get("deployments", SPACE, "web")["status"]["conditions"]
    (progressing,) = [c for c in conditions if c["type"] == "Progressing"]
    assert progressing["reason"] == "ProgressDeadlineExceeded"


def test_a_cron_job_that_still_runs_forbids_the_next(cluster: Driven) -> None:
    box = manifests.container(IMAGE, "run", env=manifests.variables(RUN_LINES=9999))
    inner = {"spec": manifests.job("x", box)["spec"]}
    wanted = {"schedule": "* * * * *", "concurrencyPolicy": "Forbid", "jobTemplate": inner}
    cluster.create("cronjobs", {"metadata": {"name": "nightly"}, "spec": wanted})

    cluster.run(190)

    assert len(cluster.store.list("jobs", SPACE)) == 1
    assert cluster.events("JobAlreadyActive")


def test_a_suspended_cron_job_does_not_fire(cluster: Driven) -> None:
    inner = {"spec": manifests.job("x", manifests.container(IMAGE, "run"))["spec"]}
    wanted = {"schedule": "* * * * *", "suspend": True, "jobTemplate": inner}
    cluster.create("cronjobs", {"metadata": {"name": "nightly"}, "spec": wanted})

    cluster.run(200)

    assert not cluster.store.list("jobs", SPACE)
