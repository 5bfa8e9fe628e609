"""From nothing to a running container: the image, its configuration, the start, and every way that
fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deployments.practice.world.kubelet import images
from deployments.practice.world.kubelet.container import Container, Step
from deployments.practice.world.kubelet.environment import (
    ConfigProblem,
    StartProblem,
    arguments,
    check_user,
    environment,
)
from deployments.practice.world.program import Program

if TYPE_CHECKING:
    from deployments.practice.world.kubelet.pod import PodRun

PULL_TAKES = 0.2
START_TAKES = 0.1
SHOWN_AFTER = 0.3
RUNNING_SHOWN_AFTER = 0.7
FIRST_RETRY = 1.0
RETRY_EVERY = 13.0


def begin(run: PodRun, container: Container, now: float) -> None:
    """Look for the image, on the node first."""
    if now < run.sandbox_at:
        container.due = run.sandbox_at
        return
    name = container.spec["image"]
    try:
        images.parse(name)
    except images.InvalidName as problem:
        _refuse_name(run, container, images.invalid_name(name, problem), now)
        return
    policy = container.spec.get("imagePullPolicy") or "IfNotPresent"
    if name in run.node.present and policy != "Always":
        message = f'Container image "{name}" already present on machine'
        run.tell(container, "Normal", "Pulled", message)
        container.step, container.due = Step.CREATE, now
    elif policy == "Never":
        _never_pull(run, container, now)
    else:
        run.tell(container, "Normal", "Pulling", f'Pulling image "{name}"')
        container.step, container.due = Step.PULLING, now + PULL_TAKES


def _refuse_name(run: PodRun, container: Container, message: str, now: float) -> None:
    run.tell(container, "Warning", "InspectFailed", message)
    run.tell(container, "Warning", "Failed", "Error: InvalidImageName")
    _wait(run, container, "InvalidImageName", message, now)


def _never_pull(run: PodRun, container: Container, now: float) -> None:
    name = container.spec["image"]
    message = f'Container image "{name}" is not present with pull policy of Never'
    run.tell(container, "Warning", "ErrImageNeverPull", message)
    run.tell(container, "Warning", "Failed", "Error: ErrImageNeverPull")
    _wait(run, container, "ErrImageNeverPull", message, now)


def _wait(run: PodRun, container: Container, reason: str, message: str, now: float) -> None:
    """Wait with a reason and begin again soon, later less soon."""
    again = container.state.get("waiting", {}).get("reason") == reason
    container.wait(reason, message)
    container.step = Step.BEGIN
    container.due = now + (RETRY_EVERY if again else FIRST_RETRY)
    run.show(SHOWN_AFTER, now)


def pulled(run: PodRun, container: Container, now: float) -> None:
    """See what the pull came to."""
    name = container.spec["image"]
    container.last_pull = now
    try:
        image = images.pull(images.parse(name), run.node.lookup, run.node.reach)
    except images.PullError as problem:
        container.pulls_failed += 1
        container.pull_problem = str(problem)
        run.tell(container, "Warning", "Failed", f'Failed to pull image "{name}": {problem}')
        run.tell(container, "Warning", "Failed", "Error: ErrImagePull")
        container.wait("ErrImagePull", str(problem))
        container.step, container.due = Step.PULL_FAILED, now + FIRST_RETRY
        run.show(SHOWN_AFTER, now)
        return
    container.pulls_failed = 0
    run.node.present.add(name)
    took = f"{int(PULL_TAKES * 1000)}ms"
    message = f'Successfully pulled image "{name}" in {took} ({took} including waiting).'
    run.tell(container, "Normal", "Pulled", f"{message} Image size: {image.size} bytes.")
    container.step, container.due = Step.CREATE, now


def wait_to_pull(run: PodRun, container: Container, now: float) -> None:
    """Wait for the next pull, saying so now and then."""
    resume = container.last_pull + container.pull_back_off()
    if now >= resume:
        container.step, container.due = Step.BEGIN, now
        return
    name = container.spec["image"]
    message = f'Back-off pulling image "{name}"'
    run.tell(container, "Normal", "BackOff", message)
    run.tell(container, "Warning", "Failed", "Error: ImagePullBackOff")
    container.wait("ImagePullBackOff", f"{message}: ErrImagePull: {container.pull_problem}")
    run.show(0, now)
    container.due = min(resume, now + RETRY_EVERY)


def create(run: PodRun, container: Container, now: float) -> None:
    """Resolve what the container needs, then start it."""
    image = _image(run, container)
    container.image = image
    try:
        check_user(run.pod, container.spec)
        env = environment(_with_address(run), container.spec, image, run.view)
    except ConfigProblem as problem:
        run.tell(container, "Warning", "Failed", f"Error: {problem}")
        _wait(run, container, "CreateContainerConfigError", str(problem), now)
        return
    if container.created_before:
        container.restarts += 1
    container.created_before = True
    run.tell(container, "Normal", "Created", f"Created container: {container.name}")
    try:
        words = arguments(container.spec, image, env)
    except StartProblem as problem:
        run.tell(container, "Warning", "Failed", f"Error: {problem}")
        if run.pod["spec"].get("restartPolicy") == "Never":
            container.fail_for_good(str(problem), now)
        else:
            container.fail_to_start(str(problem), now)
            container.due = now + FIRST_RETRY
        run.show(SHOWN_AFTER, now)
        return
    run.tell(container, "Normal", "Started", f"Started container {container.name}")
    container.run(Program(words, env, now + START_TAKES, container.memory_limit))
    container.due = now + START_TAKES
    run.show(RUNNING_SHOWN_AFTER, now)


def _image(run: PodRun, container: Container) -> images.Image:
    reference = images.parse(container.spec["image"])
    found = run.node.lookup(reference.host, reference.repository, reference.version)
    # The registry may have lost it since: what is on the node still runs.
    return found or container.image or images.Image(digest="")


def _with_address(run: PodRun) -> dict[str, object]:
    """Return the pod with the addresses that its status will have."""
    added = {"podIP": run.ip, "hostIP": run.node.host_ip}
    return {**run.pod, "status": {**run.pod["status"], **added}}
