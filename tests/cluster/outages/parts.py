"""Parts of a cluster that a test may stop for a while: the API server, a registry, a kubelet.

On the practice cluster they are stopped in this process; on a real one by the tool that started it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from deployments.agent.manifests import MERGE_PATCH, Request
from deployments.practice.cluster import PracticeCluster
from deployments.practice.registry import Registry
from deployments.practice.server import ApiServer
from tests.cluster.target import Target


class Parts(Protocol):
    """What can be taken away; each comes back when its block ends."""

    def without(self, part: str) -> AbstractContextManager[None]:
        """Stop `apiserver`, `registry`, `kubelet-1` or `kubelet-2`, and start it again."""


class PracticeParts:
    """The parts of a practice cluster of a test's own."""

    def __init__(self, cluster: PracticeCluster) -> None:
        self._cluster = cluster

    @contextmanager
    def without(self, part: str) -> Iterator[None]:
        """Stop a part, and start it again."""
        self._stop(part)
        try:
            yield
        finally:
            self._start(part)

    def _stop(self, part: str) -> None:
        if part == "apiserver":
            self._cluster.server.stop()
        elif part == "registry":
            self._cluster.registry.stop()
        else:
            self._cluster.world.silence(part.replace("kubelet", "node"))

    def _start(self, part: str) -> None:
        cluster = self._cluster
        if part == "apiserver":
            cluster.server = ApiServer(cluster.server.port, cluster.api, cluster.users, None)
            cluster.server.start()
        elif part == "registry":
            cluster.registry = Registry(cluster.registry.port)
            cluster.registry.start()
        else:
            cluster.world.speak_again(part.replace("kubelet", "node"))


class RealParts:
    """The parts of the real cluster, which nobody else may use meanwhile."""

    def __init__(self, tool: Path) -> None:
        self._tool = tool

    @contextmanager
    def without(self, part: str) -> Iterator[None]:
        """Stop a part, and start it again."""
        self._run("stop", part)
        try:
            yield
        finally:
            self._run("start", part)

    def _run(self, verb: str, part: str) -> None:
        subprocess.run([str(self._tool), verb, part], check=True, capture_output=True, timeout=120)


@contextmanager
def cordoned(on: Target, node: str) -> Iterator[None]:
    """Let no further pods onto a node."""
    _cordon(on, node, unschedulable=True)
    try:
        yield
    finally:
        _cordon(on, node, unschedulable=None)


def _cordon(on: Target, node: str, *, unschedulable: bool | None) -> None:
    body = {"spec": {"unschedulable": unschedulable}}
    answer = on.api.send(Request("PATCH", ("api", "v1", "nodes", node), body, MERGE_PATCH))
    assert answer.status == 200, answer
