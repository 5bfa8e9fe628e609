"""pods/log: which container, and how much of its output. The output itself is the world's."""

from __future__ import annotations

from typing import Any

from deployments.practice import errors
from deployments.practice.api import World
from deployments.practice.kinds import Kind
from deployments.practice.requests import Request, Response
from deployments.practice.routes import Target
from deployments.practice.store import Store

Object = dict[str, Any]

PLAIN = "text/plain"
LOG_OPTIONS = Kind("", "v1", "podlogoptions", "PodLogOptions")


def pod_log(store: Store, world: World, request: Request, target: Target) -> Response:
    """Return a container's output: the whole, or the end that `tailLines` asks for."""
    tail, limit = _amounts(request, target)
    pod = store.get("pods", target.namespace, target.name)
    container = _container(pod, request.query.get("container", ""))
    if not pod["spec"].get("nodeName"):
        return Response(204, b"", PLAIN)
    text = world.log(pod, container, previous=request.flag("previous"))
    body = _end(text, tail).encode()
    return Response(200, body if limit is None else body[:limit], PLAIN)


def _amounts(request: Request, target: Target) -> tuple[int | None, int | None]:
    tail, limit = request.number("tailLines"), request.number("limitBytes")
    causes = []
    if tail is not None and tail < 0:
        message = f"Invalid value: {tail}: must be greater than or equal to 0"
        causes.append(errors.Cause("FieldValueInvalid", message, "tailLines"))
    if limit is not None and limit < 1:
        message = f"Invalid value: {limit}: must be greater than 0"
        causes.append(errors.Cause("FieldValueInvalid", message, "limitBytes"))
    if causes:
        raise errors.invalid(LOG_OPTIONS, target.name, causes)
    return tail, limit


def _container(pod: Object, asked: str) -> str:
    name = pod["metadata"]["name"]
    spec = pod["spec"]
    names = [found["name"] for found in spec.get("containers", [])]
    first = [found["name"] for found in spec.get("initContainers", [])]
    if asked:
        if asked not in [*names, *first]:
            raise errors.bad_request(f"container {asked} is not valid for pod {name}")
        return asked
    if len(names) == 1:
        return str(names[0])
    message = (
        f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
    )
    if first:
        message += f" or one of the init containers: [{' '.join(first)}]"
    raise errors.bad_request(message)


def _end(text: str, lines: int | None) -> str:
    if lines is None:
        return text
    found = text.splitlines(keepends=True)
    return "".join(found[-lines:]) if lines else ""
