"""The walks that are recorded: what is created, what is waited for.

What was seen on the way is normalise.py's matter.

Each takes the namespace to walk in and the registry that holds the sample images.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.recordings.client import Namespace
from tests.recordings.manifests import container, deployment, job, served, service, variables
from tests.recordings.waits import (
    statuses,
    wait_condition,
    wait_endpoints,
    wait_event,
    wait_line,
    wait_message,
    wait_no_pods,
    wait_ready,
    wait_serving,
    wait_waiting,
)

Walk = Callable[[Namespace, str], None]


# --- walks to healthy ---------------------------------------------------------------------


def http_becomes_ready(space: Namespace, registry: str) -> None:
    space.create("deployments", deployment("web", 2, served(f"{registry}/sample:1")))
    space.create("services", service("web", "web"))
    wait_ready(space, "web", 2)
    wait_endpoints(space, "web", 2)


def scale_to_zero(space: Namespace, registry: str) -> None:
    sleep = {"preStop": {"sleep": {"seconds": 3}}}
    box = served(f"{registry}/sample:1", lifecycle=sleep, env=variables(STOP_DELAY=1))
    space.create("deployments", deployment("web", 1, box))
    space.create("services", service("web", "web"))
    wait_ready(space, "web", 1)
    wait_endpoints(space, "web", 1)
    space.patch("deployments", "web", {"spec": {"replicas": 0}})
    wait_no_pods(space)
    wait_endpoints(space, "web", 0)


def killed_at_the_end_of_grace(space: Namespace, registry: str) -> None:
    box = container(f"{registry}/sample:1", "work", env=variables(STOP_DELAY=60))
    space.create("deployments", deployment("worker", 1, box, terminationGracePeriodSeconds=4))
    wait_ready(space, "worker", 1)
    space.patch("deployments", "worker", {"spec": {"replicas": 0}})
    wait_no_pods(space)


def worker_without_port(space: Namespace, registry: str) -> None:
    box = container(f"{registry}/sample:1", "work")
    space.create("deployments", deployment("worker", 1, box))
    wait_ready(space, "worker", 1)


def tcp_worker(space: Namespace, registry: str) -> None:
    probe = {"tcpSocket": {"port": "main"}, "periodSeconds": 2, "timeoutSeconds": 5}
    ports = [{"name": "main", "containerPort": 9000}]
    box = container(
        f"{registry}/sample:1", "tcp", env=variables(PORT=9000), ports=ports, readinessProbe=probe
    )
    space.create("deployments", deployment("queue", 1, box))
    space.create("services", service("queue", "queue"))
    wait_ready(space, "queue", 1)
    wait_endpoints(space, "queue", 1)


def slow_start(space: Namespace, registry: str) -> None:
    box = served(f"{registry}/sample:1", env=variables(START_DELAY=4, READY_DELAY=8))
    space.create("deployments", deployment("web", 1, box))
    wait_ready(space, "web", 1)


def job_suspended_resumed(space: Namespace, registry: str) -> None:
    box = container(f"{registry}/sample:1", "run")
    space.create("jobs", job("once", box, suspend=True))
    wait_condition(space, "jobs", "once", "Suspended")
    space.patch("jobs", "once", {"spec": {"suspend": False}})
    wait_condition(space, "jobs", "once", "Complete")


def release_command(space: Namespace, registry: str) -> None:
    env = variables(RUN_LINES=4, LINE_DELAY_MS=200)
    space.create("jobs", job("release", container(f"{registry}/sample:2", "run", env=env)))
    wait_condition(space, "jobs", "release", "Complete")
    said = space.log(space.list("pods")[0]["metadata"]["name"])
    assert said == "sample run 2 begins\nline 1\nline 2\nline 3\nline 4\n", said


def release_command_fails(space: Namespace, registry: str) -> None:
    env = variables(EXIT_CODE=3, LAST_WORDS="no such column: colour")
    space.create("jobs", job("release", container(f"{registry}/sample:2", "run", env=env)))
    wait_condition(space, "jobs", "release", "Failed")


def job_past_its_deadline(space: Namespace, registry: str) -> None:
    env = variables(RUN_LINES=1000, STOP_DELAY=60)
    box = container(f"{registry}/sample:2", "run", env=env)
    space.create("jobs", job("release", box, activeDeadlineSeconds=4))
    wait_condition(space, "jobs", "release", "Failed")
    wait_no_pods(space)


def cronjob_fires(space: Namespace, registry: str) -> None:
    box = container(f"{registry}/sample:1", "run")
    inner = {"spec": job("x", box)["spec"]}
    wanted = {
        "schedule": "* * * * *",
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 30,
        "jobTemplate": inner,
    }
    space.create("cronjobs", {"metadata": {"name": "nightly"}, "spec": wanted})
    wait_event(space, "SawCompletedJob")


def second_version(space: Namespace, registry: str) -> None:
    space.create("deployments", deployment("web-r1", 1, served(f"{registry}/sample:1")))
    space.create("services", service("web", "web-r1"))
    wait_ready(space, "web-r1", 1)
    wait_endpoints(space, "web", 1)
    with space.asking("web"):
        space.create("deployments", deployment("web-r2", 1, served(f"{registry}/sample:2")))
        wait_ready(space, "web-r2", 1)
        space.patch("services", "web", {"spec": {"selector": {"app": "web-r2"}}})
        wait_serving(space, "web", "web-r2")
        space.patch("deployments", "web-r1", {"spec": {"replicas": 0}})
        space.until(
            lambda: len(space.list("pods")) == 1, seconds=60, what="the first version going"
        )


def rolling_update(space: Namespace, registry: str) -> None:
    space.create("deployments", deployment("web", 1, served(f"{registry}/sample:1")))
    wait_ready(space, "web", 1)
    box = served(f"{registry}/sample:2")
    template = {"spec": {"containers": [box]}}
    space.patch("deployments", "web", {"spec": {"template": template}})
    space.until(
        lambda: space.get("deployments", "web")["status"].get("observedGeneration") == 2,
        seconds=20,
        what="the change being seen",
    )
    space.until(lambda: len(space.list("pods")) == 1, seconds=60, what="the old pod going")
    wait_ready(space, "web", 1)


# --- walks that fail ----------------------------------------------------------------------


def unknown_tag(space: Namespace, registry: str) -> None:
    box = served(f"{registry}/sample:nope")
    space.create("deployments", deployment("web", 1, box))
    wait_event(space, "Pulling", count=3)
    wait_waiting(space, "ImagePullBackOff")


def crash_at_start(space: Namespace, registry: str) -> None:
    words = variables(EXIT_AFTER=1, EXIT_CODE=7, LAST_WORDS="no database")
    box = container(f"{registry}/sample:1", "serve", env=words)
    space.create("deployments", deployment("web", 1, box))
    wait_waiting(space, "CrashLoopBackOff", restarts=2)


def liveness_fails(space: Namespace, registry: str) -> None:
    probe = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 2, "failureThreshold": 2}
    words = variables(UNREADY_AFTER=3)
    box = container(f"{registry}/sample:1", "serve", env=words, livenessProbe=probe)
    space.create("deployments", deployment("web", 1, box))
    space.until(
        lambda: any(s["restartCount"] for s in statuses(space)), seconds=60, what="a restart"
    )


def out_of_memory(space: Namespace, registry: str) -> None:
    room = {"limits": {"memory": "32Mi"}}
    words = variables(ALLOCATE_MB=100)
    box = container(f"{registry}/sample:1", "work", env=words, resources=room)
    space.create("deployments", deployment("worker", 1, box))
    wait_waiting(space, "CrashLoopBackOff", restarts=2)


def missing_command(space: Namespace, registry: str) -> None:
    box = container(f"{registry}/sample:1", command=["/nope"])
    space.create("deployments", deployment("web", 1, box))
    wait_waiting(space, "CrashLoopBackOff", restarts=2)


def missing_secret(space: Namespace, registry: str) -> None:
    source = {"secretKeyRef": {"name": "absent", "key": "url"}}
    env = [{"name": "DATABASE_URL", "valueFrom": source}]
    space.create("deployments", deployment("web", 1, served(f"{registry}/sample:1", env=env)))
    wait_waiting(space, "CreateContainerConfigError")


def too_large_for_any_node(space: Namespace, registry: str) -> None:
    room = {"requests": {"cpu": "64"}}
    box = container(f"{registry}/sample:1", "work", resources=room)
    space.create("deployments", deployment("worker", 1, box))
    wait_event(space, "FailedScheduling")


def quota_refuses(space: Namespace, registry: str) -> None:
    space.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}})
    space.until(
        lambda: space.list("resourcequotas")[0].get("status", {}).get("used"),
        seconds=20,
        what="the quota being counted",
    )
    box = container(f"{registry}/sample:1", "work")
    space.create("deployments", deployment("worker", 1, box))
    wait_condition(space, "deployments", "worker", "ReplicaFailure")
    wait_message(space, "(combined from similar events)")


def invalid_image_name(space: Namespace, registry: str) -> None:
    box = container(f"{registry}/Sample:1", "work")
    space.create("deployments", deployment("worker", 1, box))
    wait_waiting(space, "InvalidImageName")
    wait_event(space, "InspectFailed")


def registry_unreachable(space: Namespace, registry: str) -> None:
    box = container("127.0.0.1:5999/sample:1", "work")
    space.create("deployments", deployment("worker", 1, box))
    wait_event(space, "Pulling", count=2)
    wait_waiting(space, "ImagePullBackOff")


def pull_error_is_removed(space: Namespace, registry: str) -> None:
    box = served(f"{registry}/sample:nope")
    space.create("deployments", deployment("web", 1, box))
    wait_waiting(space, "ImagePullBackOff")
    space.patch("deployments", "web", {"spec": {"replicas": 0}})
    wait_no_pods(space)


def crash_loop_is_removed(space: Namespace, registry: str) -> None:
    words = variables(EXIT_AFTER=3, EXIT_CODE=7, LAST_WORDS="no database")
    box = container(f"{registry}/sample:1", "serve", env=words)
    space.create("deployments", deployment("web", 1, box))
    wait_waiting(space, "CrashLoopBackOff", restarts=2)
    space.patch("deployments", "web", {"spec": {"replicas": 0}})
    wait_no_pods(space)


def turns_unready(space: Namespace, registry: str) -> None:
    box = served(f"{registry}/sample:1", env=variables(UNREADY_AFTER=6))
    space.create("deployments", deployment("web", 1, box))
    space.create("services", service("web", "web"))
    wait_ready(space, "web", 1)
    space.until(
        lambda: not space.get("deployments", "web")["status"].get("readyReplicas"),
        seconds=60,
        what="web turning unready",
    )


def running_job_is_deleted(space: Namespace, registry: str) -> None:
    env = variables(RUN_LINES=1000)
    space.create("jobs", job("release", container(f"{registry}/sample:2", "run", env=env)))
    wait_line(space, "line 30")
    space.delete("jobs", "release")
    wait_no_pods(space)


def running_job_is_suspended(space: Namespace, registry: str) -> None:
    env = variables(RUN_LINES=1000)
    space.create("jobs", job("release", container(f"{registry}/sample:2", "run", env=env)))
    wait_line(space, "line 30")
    space.patch("jobs", "release", {"spec": {"suspend": True}})
    wait_condition(space, "jobs", "release", "Suspended")
    wait_no_pods(space)


def pull_error_of_a_job(space: Namespace, registry: str) -> None:
    space.create("jobs", job("release", container(f"{registry}/sample:nope", "run")))
    wait_waiting(space, "ImagePullBackOff")


WALKS: tuple[Walk, ...] = (
    http_becomes_ready,
    scale_to_zero,
    killed_at_the_end_of_grace,
    worker_without_port,
    tcp_worker,
    slow_start,
    job_suspended_resumed,
    release_command,
    release_command_fails,
    job_past_its_deadline,
    cronjob_fires,
    second_version,
    rolling_update,
    unknown_tag,
    crash_at_start,
    liveness_fails,
    out_of_memory,
    missing_command,
    missing_secret,
    too_large_for_any_node,
    quota_refuses,
    invalid_image_name,
    registry_unreachable,
    pull_error_is_removed,
    crash_loop_is_removed,
    turns_unready,
    running_job_is_deleted,
    running_job_is_suspended,
    pull_error_of_a_job,
)
