"""A small client of one namespace of a Kubernetes API, and the film of everything that happens in
it.

Standard library and YAML only, so that what it records owes nothing to the code under test.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

Obj = dict[str, Any]

GROUPS = {
    "namespaces": "/api/v1",
    "pods": "/api/v1",
    "services": "/api/v1",
    "secrets": "/api/v1",
    "events": "/api/v1",
    "resourcequotas": "/api/v1",
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "jobs": "/apis/batch/v1",
    "cronjobs": "/apis/batch/v1",
    "endpointslices": "/apis/discovery.k8s.io/v1",
}
FILMED = (
    "pods",
    "events",
    "deployments",
    "replicasets",
    "jobs",
    "cronjobs",
    "endpointslices",
)


class Refusal(Exception):
    """An answer of 400 or above."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body


@dataclass(frozen=True)
class Address:
    """Where a cluster answers, and as whom we speak."""

    url: str
    token: str = ""
    authority: str = ""

    @classmethod
    def from_kubeconfig(cls, path: Path) -> Address:
        """Read the current context of a kubeconfig that holds its token and authority inline."""
        config = yaml.safe_load(path.read_text())
        contexts = {c["name"]: c["context"] for c in config["contexts"]}
        context = contexts[config["current-context"]]
        cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
        user = next(u["user"] for u in config["users"] if u["name"] == context["user"])
        authority = base64.b64decode(cluster.get("certificate-authority-data", "")).decode()
        return cls(cluster["server"], user.get("token", ""), authority)

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        if parts.scheme == "http":
            return http.client.HTTPConnection(parts.netloc, timeout=timeout)
        context = ssl.create_default_context(cadata=self.authority or None)
        return http.client.HTTPSConnection(parts.netloc, timeout=timeout, context=context)

    def headers(self, content: str) -> dict[str, str]:
        words = {"Content-Type": content, "Accept": "application/json"}
        if self.token:
            words["Authorization"] = f"Bearer {self.token}"
        return words


@dataclass
class Film:
    """Every change of the filmed kinds in one namespace, in the order in which it was told.

    `answers` are those that a client got who asked all the while.
    """

    changes: list[tuple[str, str, Obj]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    stopped: bool = False


class Namespace:
    """One namespace of a cluster: made on entering, removed on leaving, filmed in between."""

    def __init__(self, address: Address, name: str) -> None:
        self.address = address
        self.name = name
        self.film = Film()
        self._sockets: list[socket.socket] = []
        self._watchers: list[threading.Thread] = []

    def __enter__(self) -> Namespace:
        self.request("POST", "/api/v1/namespaces", {"metadata": {"name": self.name}})
        self._wait_for_what_pods_need()
        self._open_watches()
        return self

    def __exit__(self, *_: object) -> None:
        self.film.stopped = True
        for opened in self._sockets:
            # Already closed where the server ended the watch.
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
        for watcher in self._watchers:
            watcher.join(timeout=10)
        self.request("DELETE", f"/api/v1/namespaces/{self.name}")

    def create(self, plural: str, obj: Obj) -> Obj:
        return self.request("POST", self.path(plural), obj)

    def get(self, plural: str, name: str) -> Obj:
        return self.request("GET", self.path(plural, name))

    def list(self, plural: str) -> list[Obj]:
        items: list[Obj] = self.request("GET", self.path(plural))["items"]
        return items

    def patch(self, plural: str, name: str, change: Obj) -> Obj:
        content = "application/merge-patch+json"
        return self.request("PATCH", self.path(plural, name), change, content=content)

    def delete(self, plural: str, name: str) -> Obj:
        options = {"propagationPolicy": "Background"}
        return self.request("DELETE", self.path(plural, name), options)

    @contextmanager
    def asking(self, service: str) -> Iterator[None]:
        """Ask a Service again and again in the meantime, with a new connection each time."""
        over = threading.Event()
        path = f"{self.path('services', f'http:{service}:80')}/proxy/"

        def ask() -> None:
            while not over.is_set():
                self.film.answers.append(self._said_by(path))

        client = threading.Thread(target=ask, daemon=True)
        client.start()
        yield
        over.set()
        client.join(timeout=20)

    def _said_by(self, path: str) -> str:
        try:
            return self.text("GET", path)
        except (Refusal, OSError) as refusal:
            return str(refusal)

    def log(self, pod: str) -> str:
        return self.text("GET", f"{self.path('pods', pod)}/log")

    def until(self, condition: Callable[[], object], *, seconds: float, what: str) -> None:
        """Wait until something is true. Raises AssertionError, naming it, when it never is."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.2)
        raise AssertionError(f"{what} did not happen within {seconds:.0f} s in {self.name}")

    def path(self, plural: str, name: str = "") -> str:
        tail = f"/{name}" if name else ""
        return f"{GROUPS[plural]}/namespaces/{self.name}/{plural}{tail}"

    def request(
        self, method: str, path: str, body: Obj | None = None, *, content: str = "application/json"
    ) -> Obj:
        answer: Obj = json.loads(self.text(method, path, body, content=content))
        return answer

    def text(
        self, method: str, path: str, body: Obj | None = None, *, content: str = "application/json"
    ) -> str:
        connection = self.address.connect(timeout=20)
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, path, payload, self.address.headers(content))
            answer = connection.getresponse()
            said = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 400:
            raise Refusal(answer.status, said)
        return said

    def _wait_for_what_pods_need(self) -> None:
        # A pod made before its namespace's account exists is refused: not part of any walk.
        def account_exists() -> bool:
            try:
                path = f"/api/v1/namespaces/{self.name}/serviceaccounts/default"
                self.request("GET", path)
            except Refusal:
                return False
            return True

        self.until(account_exists, seconds=20, what="the account of the pods")

    def _open_watches(self) -> None:
        """Return when every kind is being filmed: what happens from now on is seen."""
        opened = threading.Barrier(len(FILMED) + 1, timeout=20)
        for plural in FILMED:
            watcher = threading.Thread(target=self._watch, args=(plural, opened), daemon=True)
            watcher.start()
            self._watchers.append(watcher)
        opened.wait()

    def _watch(self, plural: str, opened: threading.Barrier) -> None:
        connection = self.address.connect(timeout=600)
        path = f"{self.path(plural)}?watch=true"
        connection.request("GET", path, headers=self.address.headers("application/json"))
        if connection.sock is not None:
            self._sockets.append(connection.sock)
        # Cut off in the middle of a line when the walk is over.
        cut_off = suppress(OSError, http.client.HTTPException, ValueError)
        with closing(connection), connection.getresponse() as lines, cut_off:
            opened.wait()
            self._note_changes(plural, lines)

    def _note_changes(self, plural: str, lines: Iterable[bytes]) -> None:
        for line in lines:
            if self.film.stopped:
                return
            if line.strip():
                change = json.loads(line)
                self.film.changes.append((plural, change["type"], change["object"]))


def kubeconfig_of_surroundings() -> Path | None:
    """The cluster that may be filled and emptied, if somebody named one."""
    named = os.environ.get("PILOTHOUSE_TEST_KUBECONFIG")
    return Path(named) if named else None
