"""Pods, endpoints, Jobs and the readiness check as the agent sees them, on both clusters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deployments.agent import registry
from deployments.domain import images
from deployments.domain.commands import Delete, PointTraffic, Resume
from deployments.domain.observations import Answer, Seen
from deployments.domain.releases import ProcessKind, ReleaseCommand
from tests.cluster.hands import JOB, SECRET, SERVICE, WEB, Slot, process
from tests.cluster.target import Target


@pytest.fixture
def slot(on: Target, namespace: str) -> Slot:
    return Slot(on, namespace)


def start(slot: Slot, number: int, replicas: int = 1) -> Seen:
    """Bring a release's pods to life, with its own Service, and wait until they have started."""
    slot.make_workload(number)
    slot.make(SERVICE, f"web-r{number}", number, "web")
    slot.scale(f"web--web-r{number}", replicas)
    return slot.until(lambda seen: _started(seen, number) == replicas)


def _started(seen: Seen, number: int) -> int:
    return sum(pod.started for pod in seen.pods_of(number, "web"))


def ready(slot: Slot, number: int, replicas: int = 1) -> Seen:
    start(slot, number, replicas)
    return slot.until(lambda seen: _ready(seen, number) == replicas)


def point(slot: Slot, number: int | None) -> None:
    slot.change(SERVICE, "web", lambda ref: PointTraffic(ref, number, "web"))


def _ready(seen: Seen, number: int) -> int:
    return sum(pod.ready for pod in seen.pods_of(number, "web"))


def test_a_pod_is_seen_from_its_start_to_its_end(slot: Slot) -> None:
    ready(slot, slot.release())
    seen = slot.until(lambda seen: seen.workloads[0].ready == 1)
    pod = seen.pods[0]

    assert (pod.release, pod.process, pod.phase, pod.job) == (1, "web", "Running", "")
    assert pod.started_at is not None
    assert pod.ready_changed is not None
    assert pod.node in {"node-1", "node-2"}

    slot.scale("web--web-r1", 0)
    slot.until(lambda seen: any(pod.deletion_due for pod in seen.pods))
    slot.until(lambda seen: not seen.pods)


def test_endpoints_follow_the_switch(slot: Slot) -> None:
    first, second = slot.release(), slot.release(image="sample:2")
    slot.make(SERVICE, "web", None)
    ready(slot, first, 2)
    ready(slot, second)

    point(slot, first)
    old = slot.until(lambda seen: len(seen.endpoints) == 2)
    point(slot, second)
    new = slot.until(lambda seen: len(seen.endpoints) == 1)
    point(slot, None)
    slot.until(lambda seen: not seen.endpoints)

    assert {e.pod for e in old.endpoints} == {p.uid for p in old.pods_of(first, "web")}
    assert {e.pod for e in new.endpoints} == {p.uid for p in new.pods_of(second, "web")}
    assert all(endpoint.ready for endpoint in (*old.endpoints, *new.endpoints))


@pytest.mark.parametrize(
    ("status", "answer", "detail"),
    [("204", Answer.YES, "204"), ("404", Answer.YES, "404"), ("500", Answer.NO, "500")],
)
def test_the_programs_own_answer_counts(
    slot: Slot, status: str, answer: Answer, detail: str
) -> None:
    number = slot.release(variables={"STATUS": status})
    ready(slot, number)

    result = slot.until_check(number, lambda found: found.detail.startswith("/"))

    assert (result.answer, result.detail) == (answer, f"/ answered {detail}")


def test_a_readiness_path_may_have_a_query(slot: Slot) -> None:
    number = slot.release(variables={"COLOUR": "blue"})
    ready(slot, number)

    result = slot.until_check(
        number, lambda found: found.answer is Answer.YES, path="/a%20b?c=d%26"
    )

    assert result.detail == "/a%20b?c=d%26 answered 200"


def test_a_release_that_has_nobody_ready_does_not_pass(slot: Slot) -> None:
    number = slot.release(process(readiness_path="/"), variables={"STATUS": "503"})
    start(slot, number)

    result = slot.until_check(number, lambda found: found.answer is Answer.NO)

    assert result.detail == "no replica is ready behind its Service"


def test_a_service_that_is_not_there_is_neither_yes_nor_no(slot: Slot) -> None:
    result = slot.on.cluster.check(slot.place, slot.check(9))

    assert result.answer is Answer.UNKNOWN
    assert "not found" in result.detail


def test_a_worker_passes_once_its_port_takes_connections(slot: Slot) -> None:
    worker = replace(WEB, kind=ProcessKind.WORKER, command=("tcp",), port=9000)
    number = slot.release(worker, variables={"PORT": "9000"})
    ready(slot, number)

    result = slot.until_check(
        number, lambda found: found.answer is Answer.YES, kind="tcp", port=9000
    )

    assert result.detail == "connected"


def test_silence_is_a_connection_for_a_worker_and_nothing_for_a_program_that_speaks_http(
    slot: Slot,
) -> None:
    number = slot.release(variables={"ANSWER_DELAY_MS": "7000"})
    ready(slot, number)
    slot.until_check(number, lambda found: not found.detail.startswith("no endpoints"))

    web = slot.on.cluster.check(slot.place, slot.check(number))
    worker = slot.on.cluster.check(slot.place, slot.check(number, kind="tcp"))

    assert (web.answer, web.detail) == (Answer.UNKNOWN, "timed out")
    assert (worker.answer, worker.detail) == (Answer.YES, "connected")


def test_a_release_command_runs_only_when_it_is_resumed(slot: Slot) -> None:
    slot.release(WEB, command=ReleaseCommand(("run",)))
    slot.make(SECRET, "web-r1", 1)
    made = slot.make(JOB, "web--release-d7", 1, "release", 7)

    slot.change(JOB, "web--release-d7", Resume)
    seen = slot.until(lambda seen: seen.jobs[0].finished)

    job = seen.jobs[0]
    assert (job.meta.ref.uid, job.succeeded, job.failed) == (made.ref.uid, True, "")
    assert [(pod.job, pod.process) for pod in seen.pods] == [("web--release-d7", "release")]
    assert seen.pods[0].started_at is not None


def test_a_failed_release_command_leaves_its_code_and_last_words(slot: Slot) -> None:
    variables = {"EXIT_AFTER": "0", "EXIT_CODE": "3", "LAST_WORDS": "no such table: orders"}
    slot.release(WEB, variables=variables, command=ReleaseCommand(("run",)))
    slot.make(SECRET, "web-r1", 1)
    slot.make(JOB, "web--release-d7", 1, "release", 7)

    slot.change(JOB, "web--release-d7", Resume)
    seen = slot.until(lambda seen: seen.jobs[0].finished)

    assert seen.jobs[0].failed == "BackoffLimitExceeded"
    assert seen.pods[0].terminations[0].exit_code == 3
    assert "no such table: orders" in seen.pods[0].terminations[0].message


def test_a_deleted_job_takes_its_running_pod_with_it(slot: Slot) -> None:
    slot.release(WEB, command=ReleaseCommand(("pause",)))
    slot.make(SECRET, "web-r1", 1)
    slot.make(JOB, "web--release-d7", 1, "release", 7)
    slot.change(JOB, "web--release-d7", Resume)
    slot.until(lambda seen: any(pod.started for pod in seen.pods))

    slot.change(JOB, "web--release-d7", Delete)

    slot.until(lambda seen: not seen.jobs and all(pod.deleting for pod in seen.pods))


def test_a_tag_stands_for_a_digest(on: Target, settings) -> None:
    settings.PILOTHOUSE_INSECURE_REGISTRIES = [on.registry]

    digest = registry.resolve(images.parse("sample:1", default_registry=on.registry))

    assert digest.startswith("sha256:")
    again = images.parse(f"sample@{digest}", default_registry=on.registry)
    assert registry.resolve(again) == digest


def test_an_unknown_tag_is_refused_in_the_registrys_words(on: Target, settings) -> None:
    settings.PILOTHOUSE_INSECURE_REGISTRIES = [on.registry]

    with pytest.raises(registry.RegistryRefused, match="manifest unknown"):
        registry.resolve(images.parse("sample:nope", default_registry=on.registry))
