"""What the practice cluster does by itself, with a clock that the test moves."""

from __future__ import annotations

from itertools import pairwise

import pytest

from deployments.practice.api import DialError
from deployments.practice.errors import ApiError
from tests.practice.driven import IMAGE, SPACE, Driven
from tests.recordings import walks


@pytest.fixture
def cluster() -> Driven:
    return Driven()


def worker(replicas: int = 1, **box: object) -> dict[str, object]:
    return walks.deployment("worker", replicas, walks.container(IMAGE, "work", **box))


def test_a_deployment_becomes_ready_within_seconds(cluster: Driven) -> None:
    cluster.web(2)

    slices = cluster.store.list("endpointslices", SPACE)
    assert [e["conditions"]["ready"] for e in slices[0]["endpoints"]] == [True, True]
    assert cluster.holds("deployments", "web", "Available")


def test_pods_go_to_both_nodes(cluster: Driven) -> None:
    cluster.web(2)

    assert {pod["spec"]["nodeName"] for pod in cluster.pods()} == {"node-1", "node-2"}


def test_a_pod_answers_through_its_port_and_nowhere_else(cluster: Driven) -> None:
    cluster.web(COLOUR="red")

    answer = cluster.world.answer(cluster.pod(), 8080, "GET", "/env/COLOUR", {})

    assert answer.body == b"red"
    with pytest.raises(DialError, match="connection refused"):
        cluster.world.answer(cluster.pod(), 9999, "GET", "/", {})


@pytest.mark.parametrize(
    ("url", "body"),
    [
        pytest.param("http://web", "sample 1\n", id="short name"),
        pytest.param("http://web.team.svc.cluster.local/", "sample 1\n", id="full name"),
        pytest.param("postgresql://web:80/shop", "connected", id="not http"),
        pytest.param(
            "http://nobody/",
            'Get "http://nobody/": dial tcp: lookup nobody on 10.244.0.1:53: no such host',
            id="unknown",
        ),
    ],
)
def test_a_pod_reaches_services_by_name(cluster: Driven, url: str, body: str) -> None:
    cluster.web(NEXT=url)

    answer = cluster.world.answer(cluster.pod(), 8080, "GET", "/call/NEXT", {})

    assert answer.body.decode() == body


def test_a_secret_reaches_the_program(cluster: Driven) -> None:
    cluster.create("secrets", {"metadata": {"name": "frozen"}, "stringData": {"WORD": "plum"}})
    box = walks.served(IMAGE, envFrom=[{"secretRef": {"name": "frozen"}}])
    cluster.create("deployments", walks.deployment("web", 1, box))
    cluster.until(lambda: cluster.ready() == 1)

    answer = cluster.world.answer(cluster.pod(), 8080, "GET", "/env/WORD", {})

    assert answer.body == b"plum"


def test_a_missing_secret_that_comes_later_lets_the_pod_start(cluster: Driven) -> None:
    source = {"secretKeyRef": {"name": "late", "key": "url"}}
    box = walks.container(IMAGE, "work", env=[{"name": "URL", "valueFrom": source}])
    cluster.create("deployments", walks.deployment("worker", 1, box))
    cluster.until(lambda: cluster.events("Failed"))

    cluster.create("secrets", {"metadata": {"name": "late"}, "stringData": {"url": "x"}})

    assert cluster.until(lambda: cluster.ready() == 1) < 20


def test_a_running_pod_takes_its_grace_period_to_go(cluster: Driven) -> None:
    cluster.create("deployments", worker(env=walks.variables(STOP_DELAY=60)))
    cluster.until(lambda: cluster.ready() == 1)

    cluster.change("deployments", "worker", replicas=0)

    assert 10 <= cluster.until(lambda: not cluster.pods()) < 13


def test_the_hook_before_the_signal_runs_inside_the_grace_period(cluster: Driven) -> None:
    sleep = {"preStop": {"sleep": {"seconds": 5}}}
    cluster.create("deployments", worker(lifecycle=sleep))
    cluster.until(lambda: cluster.ready() == 1)

    cluster.change("deployments", "worker", replicas=0)

    assert 5 <= cluster.until(lambda: not cluster.pods()) < 8


def test_back_off_doubles_between_restarts(cluster: Driven) -> None:
    cluster.create("deployments", worker(env=walks.variables(EXIT_AFTER=1)))

    moments = []
    for _ in range(5):
        before = _restarts(cluster)
        cluster.until(lambda: _restarts(cluster) > before, within=300)  # noqa: B023 - called at once
        moments.append(cluster.now)

    pauses = [later - earlier for earlier, later in pairwise(moments)]
    assert [round(pause, -1) for pause in pauses] == [10, 20, 40, 80]


def _restarts(cluster: Driven) -> int:
    return sum(
        status["restartCount"]
        for pod in cluster.pods()
        for status in pod["status"].get("containerStatuses", [])
    )


def test_a_program_that_turns_unready_leaves_the_endpoints(cluster: Driven) -> None:
    cluster.web(UNREADY_AFTER=20)

    cluster.until(lambda: cluster.ready() == 0)
    cluster.run(1)

    (piece,) = cluster.store.list("endpointslices", SPACE)
    assert piece["endpoints"][0]["conditions"]["ready"] is False
    assert cluster.container()["restartCount"] == 0


def test_a_restart_of_the_cluster_leaves_running_pods_alone(cluster: Driven) -> None:
    cluster.web(COLOUR="red")
    before = cluster.pod()

    after = Driven(earlier=cluster)
    after.run(60)

    status = after.pod()["status"]
    assert status["containerStatuses"] == before["status"]["containerStatuses"]
    assert status["podIP"] == before["status"]["podIP"]
    assert after.world.answer(after.pod(), 8080, "GET", "/env/COLOUR", {}).body == b"red"


def test_a_restart_of_the_cluster_goes_on_with_a_crash_loop(cluster: Driven) -> None:
    cluster.create("deployments", worker(env=walks.variables(EXIT_AFTER=1)))
    cluster.until(lambda: _restarts(cluster) == 2)
    cluster.until(lambda: "waiting" in cluster.container()["state"])

    after = Driven(earlier=cluster)

    assert 15 <= after.until(lambda: _restarts(after) == 3) < 25


def test_the_log_of_the_life_before_can_be_read(cluster: Driven) -> None:
    words = walks.variables(EXIT_AFTER=1, LAST_WORDS="no database")
    cluster.create("deployments", worker(env=words))
    cluster.until(lambda: _restarts(cluster) == 1)

    assert cluster.world.log(cluster.pod(), "web", previous=True).endswith("no database\n")


def test_there_is_no_log_of_a_life_before_the_first(cluster: Driven) -> None:
    cluster.web()

    with pytest.raises(ApiError, match='previous terminated container "web"'):
        cluster.world.log(cluster.pod(), "web", previous=True)


def test_a_job_keeps_its_output_after_it_is_done_and_after_a_restart(cluster: Driven) -> None:
    cluster.create("jobs", walks.job("once", walks.container(IMAGE, "run")))
    cluster.until(lambda: cluster.holds("jobs", "once", "Complete"))

    after = Driven(earlier=cluster)

    expected = "sample run 1 begins\nline 1\nline 2\nline 3\n"
    assert cluster.world.log(cluster.pod(), "web", previous=False) == expected
    assert after.world.log(after.pod(), "web", previous=False) == expected


def test_a_job_that_waits_for_its_pod_never_fails(cluster: Driven) -> None:
    box = walks.container("127.0.0.1:5000/sample:nope", "run")
    cluster.create("jobs", walks.job("once", box))

    cluster.run(300)

    status = cluster.store.get("jobs", SPACE, "once")["status"]
    assert status["active"] == 1
    assert "conditions" not in status


def test_suspending_a_running_job_stops_its_pod(cluster: Driven) -> None:
    box = walks.container(IMAGE, "run", env=walks.variables(RUN_LINES=9999))
    cluster.create("jobs", walks.job("once", box))
    cluster.until(lambda: cluster.ready() == 1)

    cluster.change("jobs", "once", suspend=True)

    cluster.until(lambda: not cluster.pods())
    assert cluster.holds("jobs", "once", "Suspended")


def test_a_deleted_job_takes_its_pod_along(cluster: Driven) -> None:
    cluster.create("jobs", walks.job("once", walks.container(IMAGE, "run")))
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


def test_a_silent_node_leaves_its_containers_ready_and_its_pods_not(cluster: Driven) -> None:
    cluster.web(2)

    cluster.world.silence("node-2")
    cluster.until(lambda: cluster.ready() == 1, within=40)

    (lost,) = [p for p in cluster.pods() if p["spec"]["nodeName"] == "node-2"]
    assert lost["status"]["containerStatuses"][0]["ready"] is True
    assert lost["status"]["phase"] == "Running"


def test_pods_of_a_silent_node_are_replaced_after_five_minutes(cluster: Driven) -> None:
    cluster.web(2)

    cluster.world.silence("node-2")
    cluster.run(330)

    going = [p for p in cluster.pods() if "deletionTimestamp" in p["metadata"]]
    assert len(going) == 1
    assert cluster.ready() == 2


def test_a_node_that_speaks_again_has_its_pods_ready_again(cluster: Driven) -> None:
    cluster.web(2)
    cluster.world.silence("node-2")
    cluster.until(lambda: cluster.ready() == 1, within=40)

    cluster.world.speak_again("node-2")

    assert cluster.until(lambda: cluster.ready() == 2) < 10


def test_a_cordoned_node_takes_no_further_pods(cluster: Driven) -> None:
    cluster.world.cordon("node-1")

    cluster.create("deployments", worker(4))
    cluster.until(lambda: cluster.ready() == 4)

    assert {pod["spec"]["nodeName"] for pod in cluster.pods()} == {"node-2"}


def test_what_does_not_fit_says_why_and_is_placed_when_there_is_room(cluster: Driven) -> None:
    room = {"requests": {"cpu": "1500m"}}
    cluster.create("deployments", worker(3, resources=room))
    cluster.until(lambda: cluster.events("FailedScheduling"))

    why = (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/2 nodes are available: 2 No preemption victims found for incoming pod."
    )
    assert cluster.events("FailedScheduling") == [why]
    cluster.change("deployments", "worker", replicas=2)
    cluster.until(lambda: len(cluster.pods()) == 2 and cluster.ready() == 2)


@pytest.mark.parametrize(
    ("hard", "why"),
    [
        pytest.param(
            {"requests.cpu": "1"},
            "exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, "
            "limited: requests.cpu=1",
            id="exceeded",
        ),
        pytest.param(
            {"limits.memory": "1Gi"},
            "failed quota: q: must specify limits.memory for: web",
            id="unspecified",
        ),
    ],
)
def test_a_quota_refuses_pods(cluster: Driven, hard: dict[str, str], why: str) -> None:
    cluster.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    cluster.create("deployments", worker(2, resources={"requests": {"cpu": "600m"}}))

    cluster.until(lambda: cluster.holds("deployments", "worker", "ReplicaFailure"))

    assert why in cluster.events("FailedCreate")[0]


def test_a_quota_counts_what_is_used(cluster: Driven) -> None:
    hard = {"pods": "5", "count/deployments.apps": "3", "requests.memory": "1Gi"}
    cluster.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    cluster.create("deployments", worker(2, resources={"requests": {"memory": "64Mi"}}))

    cluster.until(lambda: cluster.ready() == 2)
    cluster.run(1)

    used = cluster.store.get("resourcequotas", SPACE, "q")["status"]["used"]
    assert used == {"pods": "2", "count/deployments.apps": "1", "requests.memory": "128Mi"}


def test_a_rollout_that_stands_still_passes_its_deadline(cluster: Driven) -> None:
    box = walks.served(IMAGE, env=walks.variables(STATUS=500))
    wanted = walks.deployment("web", 1, box)
    wanted["spec"]["progressDeadlineSeconds"] = 30
    cluster.create("deployments", wanted)

    cluster.run(60)

    conditions = cluster.store.get("deployments", SPACE, "web")["status"]["conditions"]
    (progressing,) = [c for c in conditions if c["type"] == "Progressing"]
    assert progressing["reason"] == "ProgressDeadlineExceeded"


def test_a_cron_job_that_still_runs_forbids_the_next(cluster: Driven) -> None:
    box = walks.container(IMAGE, "run", env=walks.variables(RUN_LINES=9999))
    inner = {"spec": walks.job("x", box)["spec"]}
    wanted = {"schedule": "* * * * *", "concurrencyPolicy": "Forbid", "jobTemplate": inner}
    cluster.create("cronjobs", {"metadata": {"name": "nightly"}, "spec": wanted})

    cluster.run(190)

    assert len(cluster.store.list("jobs", SPACE)) == 1
    assert cluster.events("JobAlreadyActive")


def test_a_suspended_cron_job_does_not_fire(cluster: Driven) -> None:
    inner = {"spec": walks.job("x", walks.container(IMAGE, "run"))["spec"]}
    wanted = {"schedule": "* * * * *", "suspend": True, "jobTemplate": inner}
    cluster.create("cronjobs", {"metadata": {"name": "nightly"}, "spec": wanted})

    cluster.run(200)

    assert not cluster.store.list("jobs", SPACE)


def test_an_idle_cluster_writes_nothing(cluster: Driven) -> None:
    cluster.web(2)
    cluster.run(5)
    revision = cluster.store.revision

    cluster.run(120)

    assert cluster.store.revision == revision
