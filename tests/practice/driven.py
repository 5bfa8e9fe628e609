"""A practice cluster whose time stands still until a test lets it run: no thread, no waiting."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from deployments.practice.store import Store
from deployments.practice.world import World
from tests.recordings import manifests

Obj = dict[str, Any]

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC).timestamp()
SPACE = "team"
IMAGE = "127.0.0.1:5000/sample:1"


class Driven:
    """The store and the world behind it, with a clock that only `run` and `until` move."""

    def __init__(self, *, earlier: Driven | None = None) -> None:
        self.now: float = earlier.now if earlier else NOON
        self.store: Store = earlier.store if earlier else Store(None, clock=lambda: self.now)
        if earlier is not None:
            self.store.clock = lambda: self.now
            self.store.admission.clear()
        self.world = World(self.store, reach=lambda _host: "")
        self.world.begin()
        if earlier is None:
            self.create("namespaces", {"metadata": {"name": SPACE}})

    def create(self, plural: str, obj: Obj) -> Obj:
        named = {"namespace": SPACE, **obj["metadata"]}
        if plural == "namespaces":
            named.pop("namespace")
        return self.store.create(plural, {**obj, "metadata": named})

    def change(self, plural: str, name: str, **spec: object) -> None:
        found = self.store.get(plural, SPACE, name)
        found["spec"] |= spec
        self.store.update(plural, found)

    def run(self, seconds: float) -> None:
        """Let this much time pass, looking whenever something is due."""
        self._run_until(lambda: False, seconds)

    def until(self, condition: Callable[[], object], *, within: float = 60) -> float:
        """Let time pass until it holds.

        Return how long it took; raises AssertionError when it never does.
        """
        begun = self.now
        assert self._run_until(condition, within), f"not within {within} s"
        return self.now - begun

    def _run_until(self, condition: Callable[[], object], seconds: float) -> bool:
        end = self.now + seconds
        while True:
            revision = self.store.revision
            due = self.world.look()
            if condition():
                return True
            if self.store.revision == revision:
                if due >= end:
                    self.now = end
                    return bool(condition())
                self.now = max(due, self.now)
            self.now += 0.001

    # What tests ask

    def pods(self) -> list[Obj]:
        return self.store.list("pods", SPACE)

    def pod(self) -> Obj:
        (found,) = self.pods()
        return found

    def container(self) -> Obj:
        found: Obj = self.pod()["status"]["containerStatuses"][0]
        return found

    def ready(self) -> int:
        return sum(_holds(pod, "Ready") for pod in self.pods())

    def holds(self, plural: str, name: str, kind: str) -> bool:
        return _holds(self.store.get(plural, SPACE, name), kind)

    def events(self, reason: str) -> list[str]:
        told = self.store.list("events", SPACE)
        return [event["message"] for event in told if event["reason"] == reason]

    def web(self, replicas: int = 1, **env: object) -> None:
        """Create a Deployment `web` with a probe and its Service, and wait until it is ready and
        reachable.
        """
        box = manifests.served(IMAGE, env=manifests.variables(**env))
        self.create("deployments", manifests.deployment("web", replicas, box))
        self.create("services", manifests.service("web", "web"))
        self.until(lambda: self.ready() == replicas)
        self.run(1)


def _holds(obj: Obj, kind: str) -> bool:
    conditions = obj.get("status", {}).get("conditions", [])
    return any(c["type"] == kind and c["status"] == "True" for c in conditions)
