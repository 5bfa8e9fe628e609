"""A client that speaks HTTP to the practice API, and a world that answers what a test wants."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deployments.practice.access import Denial, Users
from deployments.practice.api import Answer, DialError
from deployments.practice.handlers import Api
from deployments.practice.jsons import Json
from deployments.practice.requestlog import RequestLog
from deployments.practice.server import ApiServer
from deployments.practice.store import Store

Object = dict[str, Any]

TOKEN = "administrator"  # noqa: S105 - it opens nothing but this test's own cluster
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass
class FakeWorld:
    """Pods answer `answered`, or refuse when it is None; logs are `text`."""

    answered: Answer | None = None
    text: str = "one\ntwo\nthree\n"
    asked: list[tuple[str, int, str, str]] = field(default_factory=list)

    def answer(
        self, pod: Object, port: int, method: str, path: str, headers: Mapping[str, str]
    ) -> Answer:
        self.asked.append((pod["metadata"]["name"], port, method, path))
        if self.answered is None:
            raise DialError(f"dial tcp {pod['status']['podIP']}:{port}: connect: refused")
        return self.answered

    def log(self, pod: Object, container: str, *, previous: bool) -> str:
        return f"previous {self.text}" if previous else self.text


@dataclass
class Reply:
    code: int
    body: Any
    headers: dict[str, str]

    @property
    def message(self) -> str:
        return str(self.body["message"])

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.body["items"]]


class Cluster:
    """The API in this process on a free port, without controllers: what is stored stays so."""

    def __init__(self, server: ApiServer, store: Store, world: FakeWorld) -> None:
        self.server = server
        self.store = store
        self.world = world

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        media_type: str = "application/json",
        token: str = TOKEN,
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        headers = {"Authorization": f"Bearer {token}", "User-Agent": "tests/1"}
        sent = None if body is None else body if isinstance(body, str) else json.dumps(body)
        if sent is not None:
            headers["Content-Type"] = media_type
        connection.request(method, path, sent, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return Reply(response.status, _decoded(content), dict(response.getheaders()))

    def get(self, path: str) -> Reply:
        return self.call("GET", path)

    def post(self, path: str, body: object) -> Reply:
        return self.call("POST", path, body)

    def patch(self, path: str, body: object, media_type: str = MERGE_PATCH) -> Reply:
        return self.call("PATCH", path, body, media_type=media_type)

    def apply(self, path: str, body: object, manager: str, *, options: str = "") -> Reply:
        return self.patch(f"{path}?fieldManager={manager}{options}", body, APPLY_PATCH)

    def events(self, path: str) -> list[Object]:
        """Return what a watch said until its time was over."""
        body = self.get(path).body
        lines = body.splitlines() if isinstance(body, str) else [json.dumps(body)] if body else []
        return [json.loads(line) for line in lines]


def _decoded(content: bytes) -> Json:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode()


@contextmanager
def running(directory: Path, *, denied: tuple[Denial, ...] = ()) -> Iterator[Cluster]:
    """Yield a running API whose token `limited` is denied these rules."""
    store, world = Store(None), FakeWorld()
    store.create("namespaces", {"metadata": {"name": "shop"}})
    users = Users(TOKEN)
    users.add("limited", "limited", denied)
    log = RequestLog(directory)
    server = ApiServer(0, Api(store, world), users, log)
    server.start()
    try:
        yield Cluster(server, store, world)
    finally:
        server.stop()
        log.close()


def later(seconds: float, action: Callable[[], object]) -> threading.Timer:
    """Do something while the test waits for its effect."""
    timer = threading.Timer(seconds, action)
    timer.start()
    return timer


def config_map(name: str, **data: str) -> Object:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    return {**kind, "metadata": {"name": name, "namespace": "shop"}, "data": data}


def labelled(name: str, /, **labels: str) -> Object:
    made = config_map(name)
    made["metadata"]["labels"] = labels
    return made


def deployment(name: str = "web", *, replicas: int = 1) -> Object:
    container = {
        "name": "web",
        "image": "127.0.0.1:5000/sample:1",
        "ports": [{"name": "main", "containerPort": 8080}],
        "env": [{"name": "A", "value": "1"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [container]},
            },
        },
    }


def service(name: str = "web", **selector: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "selector": selector or {"release": "r-1"},
            "ports": [{"name": "http", "port": 80, "targetPort": "main"}],
        },
    }


def pod(name: str = "web-1", *, node: str = "node-1") -> Object:
    container = {"name": "web", "image": "127.0.0.1:5000/sample:1"}
    metadata = {"name": name, "namespace": "shop"}
    return {"metadata": metadata, "spec": {"nodeName": node, "containers": [container]}}
