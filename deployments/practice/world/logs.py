"""Logs of a container: what its program printed, or the kubelet's words when there is nothing to
read.
"""

from __future__ import annotations

from typing import Any

from deployments.practice import errors
from deployments.practice.world.kubelet.container import Container

Obj = dict[str, Any]

WHY_WAITING = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


def log_of(pod: Obj, name: str, known: list[Container], now: float, *, previous: bool) -> str:
    """Return the output of a container. Raises ApiError 400 in the kubelet's words."""
    container = next(c for c in known if c.name == name)
    if previous:
        return _of_previous(pod, container)
    if container.program is not None:
        end = container.exit()
        until = min(now, end.at) if end is not None else now
        return _text(container.program.output(until, container.told_to_stop))
    if container.previous is not None:
        return _of_last_end(container)
    waiting = container.state.get("waiting", {}).get("reason", "ContainerCreating")
    if waiting == "RunContainerError" or container.last_state or "terminated" in container.state:
        return ""
    why = WHY_WAITING.get(waiting, waiting)
    where = f'container "{name}" in pod "{pod["metadata"]["name"]}"'
    raise errors.bad_request(f"{where} is waiting to start: {why}")


def _of_previous(pod: Obj, container: Container) -> str:
    if container.previous is None or not container.last_state:
        where = f'"{container.name}" in pod "{pod["metadata"]["name"]}" not found'
        raise errors.bad_request(f"previous terminated container {where}")
    return _of_last_end(container)


def _of_last_end(container: Container) -> str:
    if container.previous is None:
        return ""
    program, end, told_to_stop = container.previous
    return _text(program.output(end.at, told_to_stop))


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
