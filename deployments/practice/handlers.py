"""From a request to its response: what is asked of which resource, and by whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deployments.practice import access, errors, reviews, writes
from deployments.practice.api import World
from deployments.practice.discovery import discovery
from deployments.practice.lists import Lister, revision_of, wait_for_revision
from deployments.practice.podlogs import pod_log
from deployments.practice.proxying import proxy
from deployments.practice.requests import Request, Response, error_response, json_response
from deployments.practice.routes import Target, target_of
from deployments.practice.scale import of as scale_of
from deployments.practice.store import Store
from deployments.practice.watches import watch
from deployments.practice.wire import outgoing

VERBS = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}

_CHANGES: Mapping[str, Callable[[Store, Request, Target], Response]] = {
    "PUT": writes.update,
    "PATCH": writes.patch,
    "DELETE": writes.delete,
}


class Api:
    """The API server without its sockets."""

    def __init__(self, store: Store, world: World) -> None:
        self.store = store
        self.world = world
        self.lister = Lister(store)

    def respond(self, request: Request, ended: Callable[[], bool]) -> Response:
        """Return the response, a refusal included. `ended` tells a watch when to stop."""
        try:
            return self._answer(request, ended)
        except errors.ApiError as error:
            return error_response(error)

    def _answer(self, request: Request, ended: Callable[[], bool]) -> Response:
        if request.method == "GET" and (found := discovery(request.path)) is not None:
            return found
        if request.path == reviews.PATH and request.method == "POST":
            return reviews.review(request)
        target = target_of(request.path)
        if target is None:
            return _missing(request.path)
        access.check(request.user, verb_of(request, target), target)
        return self._of_resource(request, target, ended)

    def _of_resource(self, request: Request, target: Target, ended: Callable[[], bool]) -> Response:
        if target.subresource == "proxy":
            return proxy(self.store, self.world, request, target)
        if target.subresource == "log" and request.method == "GET":
            return pod_log(self.store, self.world, request, target)
        if verb_of(request, target) == "watch":
            return Response(lines=watch(self.store, request, target, ended))
        if target.name:
            return self._of_object(request, target)
        return self._of_collection(request, target)

    def _of_object(self, request: Request, target: Target) -> Response:
        if request.method == "GET":
            return self._get(request, target)
        change = _CHANGES.get(request.method)
        if change is None or (request.method == "DELETE" and target.subresource):
            raise errors.method_not_allowed()
        return change(self.store, request, target)

    def _of_collection(self, request: Request, target: Target) -> Response:
        if request.method == "GET":
            return json_response(self.lister.list(request, target))
        # Across namespaces everything can be read and nothing can be written.
        if target.namespace or not target.kind.namespaced:
            if request.method == "POST":
                return writes.create(self.store, request, target)
            if request.method == "DELETE":
                return self._delete_collection(request, target)
        raise errors.method_not_allowed()

    def _get(self, request: Request, target: Target) -> Response:
        wait_for_revision(self.store, revision_of(request.query.get("resourceVersion", "")))
        found = self.store.get(target.plural, target.namespace, target.name)
        if target.subresource == "scale":
            return json_response(scale_of(found))
        return json_response(outgoing(target.kind, found))

    def _delete_collection(self, request: Request, target: Target) -> Response:
        """Delete everything that the selectors match; answer what it was."""
        with self.store.lock:
            found = self.lister.list(request, target)
            for item in found["items"]:
                name = item["metadata"]["name"]
                namespace = item["metadata"].get("namespace", "")
                writes.delete(self.store, request, Target(target.kind, namespace, name))
        return json_response(found)


def _missing(path: str) -> Response:
    """Answer a path of no resource: in plain text where not even its group is served."""
    group = path.strip("/").split("/")[:3]
    prefix = group[:2] if group[0] == "api" else group
    if discovery("/" + "/".join(prefix)) is None:
        return Response(404, b"404 page not found\n", "text/plain; charset=utf-8")
    raise errors.no_such_resource()


def verb_of(request: Request, target: Target) -> str:
    """Return what the user does in the words of a role."""
    if request.method in ("GET", "HEAD") and target.subresource != "proxy":
        if request.flag("watch"):
            return "watch"
        return "get" if target.name else "list"
    if request.method == "DELETE" and not target.name:
        return "deletecollection"
    return VERBS.get(request.method, request.method.lower())
