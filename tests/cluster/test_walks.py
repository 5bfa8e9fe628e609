"""From the click to healthy on both clusters, with everything that is in the namespace then.

What is expected is written out, so both clusters have to give the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from deployments.domain.observations import ObjectKind
from deployments.domain.releases import Process, ReleaseCommand
from deployments.models import Installation, Slot
from tests.cluster.product import (
    BESIDE,
    ONCE,
    ROUTE,
    TICK,
    WEB,
    WORK,
    Json,
    Product,
    Walked,
    states_of,
)

DEPLOYMENT, JOB, CRON_JOB = ObjectKind.DEPLOYMENT, ObjectKind.JOB, ObjectKind.CRON_JOB
SERVICE, SECRET = ObjectKind.SERVICE, ObjectKind.SECRET
SUSPENDED = "pilothouse.dev/suspended"
OF_A_RELEASE = {
    "app.kubernetes.io/component",
    "app.kubernetes.io/version",
    "pilothouse.dev/process",
    "pilothouse.dev/release",
}
LISTENING = replace(WORK, command=("tcp",), port=8080)
HEALTHY = Walked(ROUTE, "", "")

KINDS: dict[str, tuple[tuple[Process, ...], set[str]]] = {
    "http": ((WEB,), {"Deployment web--web-r1", "Service web", "Service web-r1"}),
    "a worker with a port": (
        (LISTENING,),
        {"Deployment web--work-r1", "Service web", "Service web-r1"},
    ),
    "a worker without one": ((WORK,), {"Deployment web--work-r1"}),
    "cron alone": ((TICK,), {"CronJob web--tick-r1"}),
    "a job alone": ((ONCE,), {"Job web--once-d{id}"}),
    "all together": (
        (replace(WEB, replicas=2), BESIDE, TICK, ONCE),
        {
            "Deployment web--web-r1",
            "Deployment web--work-r1",
            "Service web",
            "Service web-r1",
            "CronJob web--tick-r1",
            "Job web--once-d{id}",
        },
    ),
}


def replicas(product: Product, name: str) -> int:
    return int(product.get(DEPLOYMENT, name)["spec"]["replicas"])


def suspended(product: Product, name: str) -> tuple[bool, bool]:
    """Return whether a CronJob is suspended, and whether it is marked as suspended by us."""
    found = product.get(CRON_JOB, name)
    return found["spec"]["suspend"], SUSPENDED in found["metadata"]["annotations"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_process_walks_to_healthy(kind: str, product: Product) -> None:
    processes, expected = KINDS[kind]
    slot = product.slot(*processes)
    deployment = product.deploy(slot)

    assert product.ended(deployment) == HEALTHY

    product.settle(slot)
    names = {name.format(id=deployment.pk) for name in expected}
    assert product.names() == names | {"Secret web-r1"}
    assert [found["spec"]["suspend"] for found in product.all(CRON_JOB)] == [
        False for name in names if name.startswith("CronJob")
    ]
    for process in processes:
        if process.long_running:
            assert replicas(product, f"web--{process.name}-r1") == process.replicas


def slot_labels(slot: Slot) -> dict[str, str]:
    return {
        "pilothouse.dev/installation": str(Installation.objects.get()),
        "pilothouse.dev/slot": str(slot.pk),
    }


def labels(slot: Slot, process: str) -> dict[str, str]:
    """Return the labels of release 1's objects of one process."""
    return {
        "app.kubernetes.io/name": "web",
        "app.kubernetes.io/instance": "web-staging",
        "app.kubernetes.io/component": process,
        "app.kubernetes.io/part-of": slot.service.project.slug,
        "app.kubernetes.io/managed-by": "pilothouse",
        "app.kubernetes.io/version": "r-1",
        **slot_labels(slot),
        "pilothouse.dev/release": "r-1",
        "pilothouse.dev/process": process,
    }


def labels_of(found: Json) -> dict[str, Any]:
    return dict(found["metadata"]["labels"])


def test_names_labels_and_selectors_are_the_manuals(product: Product) -> None:
    slot = product.slot(WEB, BESIDE, TICK, ONCE)
    deployment = product.deploy(slot)
    product.ended(deployment)
    selector = {
        **slot_labels(slot),
        "pilothouse.dev/release": "r-1",
        "pilothouse.dev/process": "web",
    }

    workload = product.get(DEPLOYMENT, "web--web-r1")
    assert labels_of(workload) == labels(slot, "web")
    assert labels_of(workload["spec"]["template"]) == labels(slot, "web")
    assert workload["spec"]["selector"] == {"matchLabels": selector}
    assert labels_of(product.get(CRON_JOB, "web--tick-r1")) == labels(slot, "tick")
    job = product.get(JOB, f"web--once-d{deployment.pk}")
    of_the_deployment = {"pilothouse.dev/deployment": str(deployment.pk)}
    assert labels_of(job) == labels(slot, "once") | of_the_deployment
    own, stable = product.get(SERVICE, "web-r1"), product.get(SERVICE, "web")
    assert labels_of(own) == labels(slot, "web")
    assert own["spec"]["selector"] == stable["spec"]["selector"] == selector
    assert labels_of(stable) == {
        key: value for key, value in labels(slot, "web").items() if key not in OF_A_RELEASE
    }


def test_pods_are_counted_and_get_a_wait_before_their_stop_and_no_rights(product: Product) -> None:
    slot = product.slot(replace(WEB, replicas=2))
    product.walk(slot)

    product.settle(slot)

    slot = Slot.objects.get(pk=slot.pk)
    assert slot.active_release == slot.serving_release == slot.releases.get()
    assert (slot.observation.ready, slot.observation.desired) == (2, 2)
    pod, _ = product.pods(1)
    container = pod["spec"]["containers"][0]
    assert container["lifecycle"] == {"preStop": {"sleep": {"seconds": 5}}}
    assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"
    assert container["securityContext"] == {"allowPrivilegeEscalation": False}
    assert container["image"].startswith(f"{product.on.registry}/sample@sha256:")
    assert pod["spec"]["terminationGracePeriodSeconds"] == 6
    assert pod["spec"]["enableServiceLinks"] is False
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert pod["spec"]["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}


def test_a_release_command_runs_before_anything_starts(product: Product) -> None:
    slot = product.slot(WEB, command=ReleaseCommand(("run",), timeout_seconds=60))
    deployment = product.reach(slot, "releasing")
    early = product.names()

    walked = product.ended(deployment)

    assert walked == Walked((*ROUTE[:2], "releasing", *ROUTE[2:]), "", "")
    assert not {name for name in early if name.startswith("Deployment")}
    job = product.get(JOB, f"web--release-d{deployment.pk}")
    assert job["status"]["succeeded"] == 1
    assert deployment.jobs.get().uid == job["metadata"]["uid"]


def test_a_second_version_takes_over_and_the_first_one_rests(product: Product) -> None:
    slot = product.slot(WEB, BESIDE, TICK, ONCE)
    first = product.deploy(slot)
    product.ended(first)
    second = product.deploy(slot, "sample:2")

    assert product.ended(second) == HEALTHY

    product.settle(slot)
    assert product.serves() == "r-2"
    # A pod that has ended counts as stopped, and is listed for a moment longer.
    product.until(lambda: not product.pods(1))
    assert [replicas(product, f"web--{name}-r1") for name in ("web", "work")] == [0, 0]
    assert [replicas(product, f"web--{name}-r2") for name in ("web", "work")] == [1, 1]
    assert suspended(product, "web--tick-r1") == (True, True)
    assert suspended(product, "web--tick-r2") == (False, False)
    jobs = {found["metadata"]["name"] for found in product.all(JOB)}
    assert jobs == {f"web--once-d{second.pk}"}, "the first one's went once the second was healthy"
    assert {"Secret web-r1", "Service web-r1"} <= product.names(), "kept for a rollback"
    a_further_look_writes_nothing(product, slot)


def a_further_look_writes_nothing(product: Product, slot: Slot) -> None:
    before = {kind: _written(product, kind) for kind in (DEPLOYMENT, SERVICE, CRON_JOB, SECRET)}
    Slot.objects.filter(pk=slot.pk).update(unsettled=True)
    assert not product.look()
    assert before == {kind: _written(product, kind) for kind in before}


def test_the_three_latest_retired_releases_stay(product: Product) -> None:
    # CronJobs alone: what is kept is the same, and there are no pods to wait for.
    slot = product.slot(TICK)
    for version in range(1, 6):
        assert product.walk(slot, f"sample:{version}").state == "healthy"

    product.settle(slot)

    kept = range(2, 6)
    expected = {f"CronJob web--tick-r{number}" for number in kept}
    assert product.names() == expected | {f"Secret web-r{number}" for number in kept}
    suspensions = [suspended(product, f"web--tick-r{number}") for number in kept]
    assert suspensions == [(True, True)] * 3 + [(False, False)]


def _written(product: Product, kind: ObjectKind) -> dict[str, object]:
    """Return how often somebody has changed what an object is to be, by name."""
    found = [item["metadata"] for item in product.all(kind)]
    return {item["name"]: (item["uid"], item.get("generation")) for item in found}


def test_each_deployment_has_an_event_for_each_move(product: Product) -> None:
    deployment = product.deploy(product.slot(TICK))

    product.ended(deployment)

    assert states_of(deployment) == ROUTE
    events = list(deployment.events.values_list("number", flat=True))
    assert events == list(range(1, len(events) + 1))
