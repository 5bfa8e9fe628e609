"""What a kubelet knows of a pod when it has just been started: read from the stored status.

Running containers run on; back-offs go on from the last end. Times in a status are whole seconds.
"""

from __future__ import annotations

from typing import Any

from deployments.practice.jsons import seconds_of
from deployments.practice.world.kubelet.container import Container, Step
from deployments.practice.world.kubelet.environment import (
    ConfigProblem,
    StartProblem,
    arguments,
    environment,
)
from deployments.practice.world.kubelet.images import Image, InvalidName, Lookup, parse
from deployments.practice.world.program import NEVER, Exit, Program
from deployments.practice.world.view import View, is_over

Obj = dict[str, Any]


def containers_of(pod: Obj, view: View, lookup: Lookup) -> list[Container]:
    """Return the containers of a pod in the state that its status tells of."""
    statuses = {s["name"]: s for s in pod["status"].get("containerStatuses") or []}
    return [
        _container(pod, spec, statuses.get(spec["name"]), view, lookup)
        for spec in pod["spec"]["containers"]
    ]


def _container(pod: Obj, spec: Obj, said: Obj | None, view: View, lookup: Lookup) -> Container:
    container = Container(spec, {"waiting": {"reason": "ContainerCreating"}})
    if said is None:
        return container
    container.image = _image(spec, lookup)
    container.state, container.last_state = said["state"], said.get("lastState") or {}
    container.restarts = said["restartCount"]
    container.container_id = said.get("containerID", "")
    container.crashes = container.restarts
    container.created_before = "waiting" not in said["state"] or bool(container.last_state)
    container.previous = _previous(pod, container, view)
    if "running" in container.state:
        _run_on(pod, container, said, view)
    elif "terminated" in container.state:
        container.crashes += 1
        container.step = Step.OVER if is_over(pod) else Step.EXITED
    elif container.last_state:
        container.crashes += 1
        container.step = Step.EXITED
    return container


def _run_on(pod: Obj, container: Container, said: Obj, view: View) -> None:
    started_at = seconds_of(container.state["running"]["startedAt"])
    container.program = program_of(pod, container, started_at, view)
    container.step = Step.RUNNING
    container.watch(view.now)
    container.ready, container.started = said["ready"], bool(said.get("started"))
    if container.started:
        container.probes = [p for p in container.probes if p.kind != "Startup"]


def _image(spec: Obj, lookup: Lookup) -> Image | None:
    try:
        reference = parse(spec["image"])
    except InvalidName:
        return None
    return lookup(reference.host, reference.repository, reference.version)


def program_of(pod: Obj, container: Container, started_at: float, view: View) -> Program:
    """Return the program as it was started; where its Secret is gone since, without it."""
    image = container.image or Image(digest="")
    try:
        env = environment(pod, container.spec, image, view)
        words = arguments(container.spec, image, env)
    except (ConfigProblem, StartProblem):
        env, words = dict(image.env), image.command
    return Program(words, env, started_at, container.memory_limit)


def _previous(
    pod: Obj, container: Container, view: View
) -> tuple[Program, Exit, float | None] | None:
    """Return the run that ended last, for its output; whole seconds are too coarse for a program
    that ended itself.
    """
    ended = container.state.get("terminated") or container.last_state.get("terminated")
    if not ended or not ended.get("startedAt") or ended["reason"] == "StartError":
        return None
    program = program_of(pod, container, seconds_of(ended["startedAt"]), view)
    by_itself = program.ends(None)
    if by_itself is not None and by_itself.code == ended["exitCode"]:
        return program, by_itself, None
    at = seconds_of(ended["finishedAt"])
    return program, Exit(min(at, NEVER), ended["exitCode"], ended["reason"]), at
