"""One kubelet: the pods of its node.

What happens to each is in pod; which pods there are is the store's matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.jsons import seconds_of
from deployments.practice.world.controllers import nodes
from deployments.practice.world.hands import Hands
from deployments.practice.world.kubelet.container import Container
from deployments.practice.world.kubelet.images import Lookup, Reach
from deployments.practice.world.kubelet.memory import containers_of
from deployments.practice.world.kubelet.pod import SANDBOX_TAKES, Node, PodRun
from deployments.practice.world.kubelet.probes import Ask
from deployments.practice.world.view import View, is_going, is_over

Obj = dict[str, Any]

FIRST_ADDRESS = 2
LAST_ADDRESS = 254
SEEN_AFTER = 0.05


class Kubelet:
    """Keeps one node's pods as they should be; its memory is rebuilt from the store after a
    restart.
    """

    def __init__(self, name: str, lookup: Lookup, reach: Reach, ask: Callable[[str], Ask]) -> None:
        self.name = name
        self.runs: dict[str, PodRun] = {}
        network = nodes.NETWORKS[name]
        self._network = network
        self._last_address = FIRST_ADDRESS - 1
        self._node = Node(f"{network}.1", lookup, reach, set(), ask)

    def look(self, view: View, hands: Hands) -> None:
        """Do what is due for every pod, and post the node's own status."""
        node = view.find("nodes", "", self.name)
        if node is None:
            return
        try:
            nodes.post(node, view.now, hands)
        except ApiError:
            hands.again_at(view.now + 1)
        pods = view.pods_on(self.name)
        self._forget(pods)
        for pod in pods:
            run = self._run_of(pod, view, hands)
            if run is not None:
                hands.again_at(run.look(pod, view, hands))

    def recall(self, view: View, hands: Hands) -> None:
        """Take up the pods that already ran: addresses and images are known again."""
        for pod in view.pods_on(self.name):
            if pod["status"].get("startTime"):
                self.runs[pod["metadata"]["uid"]] = self._remembered(pod, view, hands)
                ready = pod["status"].get("containerStatuses") or []
                self._node.present.update(s["image"] for s in ready if s.get("imageID"))

    def run_of(self, uid: str) -> PodRun | None:
        return self.runs.get(uid)

    def _forget(self, pods: list[Obj]) -> None:
        if len(self.runs) > len(pods) or any(p["metadata"]["uid"] not in self.runs for p in pods):
            present = {pod["metadata"]["uid"] for pod in pods}
            self.runs = {uid: run for uid, run in self.runs.items() if uid in present}

    def _run_of(self, pod: Obj, view: View, hands: Hands) -> PodRun | None:
        uid = pod["metadata"]["uid"]
        run = self.runs.get(uid)
        if is_over(pod) and not is_going(pod):
            return None
        if run is None:
            run = self.runs[uid] = self._new(pod, view, hands)
        return run

    def _new(self, pod: Obj, view: View, hands: Hands) -> PodRun:
        """Begin a pod that was just placed here; it reads ContainerCreating at once."""
        now = view.now
        run = self._remembered(pod, view, hands)
        run.begun_at, run.sandbox_at = now, now + SANDBOX_TAKES
        run.show(SEEN_AFTER, now)
        return run

    def _remembered(self, pod: Obj, view: View, hands: Hands) -> PodRun:
        containers = containers_of(pod, view, self._node.lookup)
        status = pod["status"]
        begun = status.get("startTime")
        begun_at = seconds_of(begun) if begun else view.now
        address = status.get("podIP") or self._address()
        run = PodRun(pod, view, hands, self._node, containers, address, begun_at, view.now)
        if is_over(pod):
            run.over_since = view.now
        return run

    def _address(self) -> str:
        used = {run.ip for run in self.runs.values()}
        for _ in range(LAST_ADDRESS):
            self._last_address = self._last_address % LAST_ADDRESS + 1
            found = f"{self._network}.{self._last_address}"
            if self._last_address >= FIRST_ADDRESS and found not in used:
                return found
        return f"{self._network}.{LAST_ADDRESS}"

    def containers_of(self, pod: Obj, view: View) -> list[Container]:
        """Return the containers of a pod that is not looked after any more, for their output."""
        return containers_of(pod, view, self._node.lookup)
