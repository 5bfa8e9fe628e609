"""Pods of the practice cluster: start, answer, crash, stop, and what is left after a restart."""

from __future__ import annotations

from itertools import pairwise

import pytest

from deployments.practice.api import DialError
from deployments.practice.errors import ApiError
from tests.practice.driven import IMAGE, SPACE, Driven
from tests.recordings import manifests


@pytest.fixture
def cluster() -> Driven:
    return Driven()


def worker(replicas: int = 1, **box: object) -> dict[str, object]:
    return manifests.deployment("worker", replicas, manifests.container(IMAGE, "work", **box))


def _restarts(cluster: Driven) -> int:
    return sum(
        status["restartCount"]
        for pod in cluster.pods()
        for status in pod["status"].get("containerStatuses", [])
    )


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
    box = manifests.served(IMAGE, envFrom=[{"secretRef": {"name": "frozen"}}])
    cluster.create("deployments", manifests.deployment("web", 1, box))
    cluster.until(lambda: cluster.ready() == 1)

    answer = cluster.world.answer(cluster.pod(), 8080, "GET", "/env/WORD", {})

    assert answer.body == b"plum"


def test_a_missing_secret_that_comes_later_lets_the_pod_start(cluster: Driven) -> None:
    source = {"secretKeyRef": {"name": "late", "key": "url"}}
    box = manifests.container(IMAGE, "work", env=[{"name": "URL", "valueFrom": source}])
    cluster.create("deployments", manifests.deployment("worker", 1, box))
    cluster.until(lambda: cluster.events("Failed"))

    cluster.create("secrets", {"metadata": {"name": "late"}, "stringData": {"url": "x"}})

    assert cluster.until(lambda: cluster.ready() == 1) < 20


def test_a_running_pod_takes_its_grace_period_to_go(cluster: Driven) -> None:
    cluster.create("deployments", worker(env=manifests.variables(STOP_DELAY=60)))
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
    cluster.create("deployments", worker(env=manifests.variables(EXIT_AFTER=1)))

    moments = []
    for _ in range(5):
        before = _restarts(cluster)
        cluster.until(lambda: _restarts(cluster) > before, within=300)  # noqa: B023 - called at once
        moments.append(cluster.now)

    pauses = [later - earlier for earlier, later in pairwise(moments)]
    assert [round(pause, -1) for pause in pauses] == [10, 20, 40, 80]


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
    cluster.create("deployments", worker(env=manifests.variables(EXIT_AFTER=1)))
    cluster.until(lambda: _restarts(cluster) == 2)
    cluster.until(lambda: "waiting" in cluster.container()["state"])

    after = Driven(earlier=cluster)

    assert 15 <= after.until(lambda: _restarts(after) == 3) < 25


def test_the_log_of_the_life_before_can_be_read(cluster: Driven) -> None:
    words = manifests.variables(EXIT_AFTER=1, LAST_WORDS="no database")
    cluster.create("deployments", worker(env=words))
    cluster.until(lambda: _restarts(cluster) == 1)

    assert cluster.world.log(cluster.pod(), "web", previous=True).endswith("no database\n")


def test_there_is_no_log_of_a_life_before_the_first(cluster: Driven) -> None:
    cluster.web()

    with pytest.raises(ApiError, match='previous terminated container "web"'):
        cluster.world.log(cluster.pod(), "web", previous=True)
