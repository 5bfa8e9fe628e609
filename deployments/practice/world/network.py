"""Who answers at an address of the cluster: pods by their IP, Services by name or IP.

Nothing is really sent.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from deployments.practice.api import Answer, DialError
from deployments.practice.store import Store
from deployments.practice.world.kubelet.pod import PodRun
from deployments.practice.world.kubelet.probes import Ask
from deployments.practice.world.program import Program, Reply
from deployments.practice.world.view import stored

Obj = dict[str, Any]

DNS = "10.244.0.1:53"
DOMAIN = ".cluster.local"
CALL_TIMEOUT = 2.0
IDLE_TIMEOUT = 90.0
PLAIN = {"Content-Type": "text/plain; charset=utf-8"}
FAR = "dial tcp {}: connect: no route to host"


@dataclass(frozen=True)
class Connection:
    """One that a program in a pod keeps to another one; `program` is the start that answers."""

    pod: Obj
    port: int
    program: Program
    used_at: float


class Network:
    """Dials pods.

    `run_of` finds the memory of a pod by its uid, `clock` gives seconds since 1970.
    """

    def __init__(
        self, store: Store, run_of: Callable[[str], PodRun | None], clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._run_of = run_of
        self._clock = clock
        self._kept: dict[tuple[str, str, int], Connection] = {}

    # For kubelets

    def ask_of(self, uid: str) -> Ask:
        """Return how a probe asks a port of this pod."""

        def ask(port: int, path: str | None, timeout: float) -> str:
            return self._probe(uid, port, path, timeout)

        return ask

    def _probe(self, uid: str, port: int, path: str | None, timeout: float) -> str:
        run = self._run_of(uid)
        address = f"{run.ip if run else ''}:{port}"
        try:
            program = self._listening(run, port)
        except DialError as problem:
            return str(problem) if path is None else f'Get "http://{address}{path}": {problem}'
        if path is None:
            return ""
        url = f'Get "http://{address}{path}"'
        if program.verb == "tcp":
            return f"{url}: EOF"
        reply = program.reply(urlsplit(path).path, self._clock())
        if reply.after >= timeout:
            late = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            return f"{url}: {late}"
        good = 200 <= reply.status < 400  # noqa: PLR2004 - what the kubelet calls a success
        return "" if good else f"HTTP probe failed with statuscode: {reply.status}"

    # For the API server

    def answer(self, pod: Obj, port: int, path: str) -> Answer:
        """Answer one request to a pod, as late as it would. Raises DialError, TimeoutError."""
        run = self._run_of(pod["metadata"]["uid"])
        program = self._listening(run, port)
        if program.verb == "tcp":
            # It accepts and closes without a word.
            raise DialError("EOF")
        reply = program.reply(urlsplit(path).path, self._clock())
        self._wait(run, program, port, reply)
        body = self.call(reply.calls, pod) if reply.calls else reply.body
        return Answer(reply.status, PLAIN, body.encode())

    def _wait(self, run: PodRun | None, program: Program, port: int, reply: Reply) -> None:
        if not reply.after:
            return
        time.sleep(reply.after)
        if self._listening(run, port) is not program:
            raise DialError("EOF")

    def _listening(self, run: PodRun | None, port: int) -> Program:
        """Return the program that listens on this port of a pod. Raises DialError."""
        now = self._clock()
        if run is None or now < run.sandbox_at or run.over_since <= now:
            raise DialError(FAR.format(f"{run.ip if run else '10.244.0.254'}:{port}"))
        for container in run.containers:
            program, end = container.program, container.exit()
            alive = program is not None and (end is None or now < end.at)
            if program is not None and alive and program.listens(port, now):
                return program
        raise DialError(f"dial tcp {run.ip}:{port}: connect: connection refused")

    # For `GET /call/NAME`

    def call(self, url: str, caller: Obj) -> str:
        """Return what the program in a pod would get at this address: a body, "connected", or Go's
        error.
        """
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 0)
        try:
            if parts.scheme != "http":
                pod, target = self._resolve(host, port, caller["metadata"]["namespace"])
                self._listening(self._run_of(pod["metadata"]["uid"]), target)
                return "connected"
            kept = self._connected(host, port, caller)
            return self.answer(kept.pod, kept.port, parts.path or "/").body.decode()
        except DialError as problem:
            return f'Get "{url}": {problem}' if parts.scheme == "http" else str(problem)

    def _connected(self, host: str, port: int, caller: Obj) -> Connection:
        """Return the caller's connection to this host: Go keeps one until the other end closes
        it, wherever new ones would lead meanwhile. Raises DialError.
        """
        key, now = (caller["metadata"]["uid"], host, port), self._clock()
        kept = self._kept.pop(key, None)
        if kept is None or now - kept.used_at > IDLE_TIMEOUT or not self._is_open(kept):
            pod, target = self._resolve(host, port, caller["metadata"]["namespace"])
            program = self._listening(self._run_of(pod["metadata"]["uid"]), target)
            kept = Connection(pod, target, program, now)
        self._kept[key] = replace(kept, used_at=now)
        return kept

    def _is_open(self, kept: Connection) -> bool:
        try:
            run = self._run_of(kept.pod["metadata"]["uid"])
            return self._listening(run, kept.port) is kept.program
        except DialError:
            return False

    def _resolve(self, host: str, port: int, namespace: str) -> tuple[Obj, int]:
        by_ip = self._pod_with(host)
        if by_ip is not None:
            return by_ip, port
        service = self._service(host, namespace)
        if service is None:
            word = "no route to host" if host.replace(".", "").isdigit() else ""
            if word:
                raise DialError(FAR.format(f"{host}:{port}"))
            raise DialError(f"dial tcp: lookup {host} on {DNS}: no such host")
        return self._backend(service, port)

    def _pod_with(self, ip: str) -> Obj | None:
        pods: list[Obj] = stored(self._store, "pods")
        return next((p for p in pods if p["status"].get("podIP") == ip), None)

    def _service(self, host: str, namespace: str) -> Obj | None:
        name, _, rest = host.removesuffix(".").removesuffix(DOMAIN).partition(".")
        space = rest.removesuffix(".svc") or namespace
        for service in stored(self._store, "services"):
            metadata = service["metadata"]
            if (metadata["name"], metadata["namespace"]) == (name, space):
                return service
            if service["spec"].get("clusterIP") == host:
                return service
        return None

    def _backend(self, service: Obj, port: int) -> tuple[Obj, int]:
        metadata = service["metadata"]
        ports = [p for p in service["spec"].get("ports", []) if p["port"] == port]
        found = self._store.find("endpoints", metadata["namespace"], metadata["name"]) or {}
        ends = [
            (address["targetRef"], target["port"])
            for subset in found.get("subsets") or []
            for address in subset.get("addresses") or []
            for target in subset.get("ports") or []
            if ports and target.get("name", "") == ports[0].get("name", "")
        ]
        if not ends:
            where = f"{service['spec'].get('clusterIP')}:{port}"
            raise DialError(f"dial tcp {where}: connect: connection refused")
        reference, number = random.choice(ends)  # noqa: S311 - a choice among equals
        return self._store.get("pods", reference["namespace"], reference["name"]), number
