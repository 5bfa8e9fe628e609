"""The world behind the API server: one thread that drives controllers, scheduler and kubelets.

It wakes when something is written and when something is due. Each part is in a module of its own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from deployments.practice import errors
from deployments.practice.api import Answer
from deployments.practice.errors import ApiError
from deployments.practice.store import Store
from deployments.practice.world.controllers import (
    deployments,
    endpoints,
    garbage,
    namespaces,
    nodes,
    quotas,
)
from deployments.practice.world.controllers.cronjobs import CronJobs
from deployments.practice.world.controllers.jobs import Jobs
from deployments.practice.world.controllers.replicasets import ReplicaSets
from deployments.practice.world.events import Recorder, Teller
from deployments.practice.world.hands import NEVER, Hands
from deployments.practice.world.kubelet.images import Lookup, Reach, reach_by_dialling
from deployments.practice.world.kubelet.kubelet import Kubelet
from deployments.practice.world.kubelet.pod import PodRun
from deployments.practice.world.logs import log_of
from deployments.practice.world.network import Network
from deployments.practice.world.samples import sample
from deployments.practice.world.scheduler import Scheduler
from deployments.practice.world.view import View

Obj = dict[str, Any]
Look = Callable[[View, Hands], None]

logger = logging.getLogger(__name__)

# Writes come in bursts: one look for each of them would be most of the work.
REST = 0.02
LONGEST_WAIT = 1.0
AFTER_A_BUG = 1.0


class World:
    """Everything a cluster does by itself.

    `lookup` says which images the registries have, `reach` whether a registry's host answers.
    """

    def __init__(
        self, store: Store, *, lookup: Lookup = sample, reach: Reach = reach_by_dialling
    ) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._network = Network(store, self._run_of, store.clock)
        recorder = Recorder(store)
        self._kubelets = {
            name: (
                Kubelet(name, lookup, reach, self._network.ask_of),
                self._hands(recorder, Teller("kubelet", name, "kubelet")),
            )
            for name in nodes.NETWORKS
        }
        self._silent_since: dict[str, float] = {}
        self._parts = self._make_parts(recorder)
        self._view: View | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        store.admission.append(quotas.QuotaAdmission(store))

    # Life

    def begin(self) -> None:
        """Make the nodes where they are missing and take up what already runs; nothing is driven
        yet.
        """
        self._make_nodes()
        view = View(self._store, self._store.clock())
        for kubelet, hands in self._kubelets.values():
            kubelet.recall(view, hands)

    def start(self) -> None:
        """Begin, and go on from there in a thread of its own until `stop`."""
        self.begin()
        self._thread = threading.Thread(target=self._drive, name="practice-world", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop driving; what is stored is taken up again by the next start."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    # What the API server asks

    def answer(
        self, pod: Obj, port: int, method: str, path: str, headers: Mapping[str, str]
    ) -> Answer:
        """Answer one request to a pod, as late as its program would.

        Raises DialError, TimeoutError.
        """
        del method, headers  # The program answers every request the same.
        return self._network.answer(pod, port, path)

    def log(self, pod: Obj, container: str, *, previous: bool) -> str:
        """Return what a container printed, or what its last run did. Raises ApiError 400."""
        with self._lock:
            run = self._run_of(pod["metadata"]["uid"])
            kubelet, _ = self._kubelets.get(pod["spec"].get("nodeName", ""), (None, None))
            if kubelet is None:
                raise errors.bad_request(f"pod {pod['metadata']['name']} is not on a node")
            view = View(self._store, self._store.clock())
            known = run.containers if run is not None else kubelet.containers_of(pod, view)
            return log_of(pod, container, known, view.now, previous=previous)

    # What tests do to it

    def silence(self, node: str) -> None:
        """Stop a node's kubelet: its programs run on, nothing is reported any more."""
        with self._lock:
            self._silent_since.setdefault(node, self._store.clock())
            self._view = None

    def speak_again(self, node: str) -> None:
        """Start a silent node's kubelet again; it reports what happened meanwhile."""
        with self._lock:
            self._silent_since.pop(node, None)
            self._view = None

    def cordon(self, node: str) -> None:
        """Let no further pods onto a node."""
        self._set_schedulable(node, unschedulable=True)

    def uncordon(self, node: str) -> None:
        self._set_schedulable(node, unschedulable=False)

    def _set_schedulable(self, node: str, *, unschedulable: bool) -> None:
        found = self._store.get("nodes", None, node)
        found["spec"].pop("unschedulable", None)
        if unschedulable:
            found["spec"]["unschedulable"] = True
        self._store.update("nodes", found)

    # Driving

    def look(self) -> float:
        """Let every part look once. Return when something is due next."""
        with self._lock:
            before = self._view
            view = self._fresh_view()
            for hands, look in self._parts:
                # Where nothing changed, only who asked for this moment looks.
                if view is before and view.now < hands.due:
                    continue
                hands.due = NEVER
                look(view, hands)
            return min(hands.due for hands, _ in self._parts)

    def _fresh_view(self) -> View:
        """Return a view of now; while nothing was written the objects of the last one are used
        again.
        """
        now = self._store.clock()
        if self._view is None or self._view.revision != self._store.revision:
            self._view = View(self._store, now)
        self._view.now = now
        return self._view

    def _drive(self) -> None:
        while not self._stopping.is_set():
            seen = self._store.revision
            try:
                due = self.look()
            except Exception:
                # A bug in one look must not end the cluster: it shows in the log
                # and is tried again.
                logger.exception("the practice cluster stumbled")
                self._stopping.wait(AFTER_A_BUG)
                continue
            self._stopping.wait(REST)
            wait = min(due - self._store.clock(), LONGEST_WAIT)
            if wait > 0:
                self._store.wait(seen, wait)

    def _make_parts(self, recorder: Recorder) -> list[tuple[Hands, Look]]:
        controllers: list[tuple[str, Look]] = [
            ("namespace-controller", namespaces.reconcile),
            ("garbage-collector", garbage.reconcile),
            ("resourcequota-controller", quotas.reconcile),
            ("cronjob-controller", CronJobs().reconcile),
            ("job-controller", Jobs().reconcile),
            ("deployment-controller", deployments.reconcile),
            ("replicaset-controller", ReplicaSets().reconcile),
            ("node-controller", self._judge_nodes),
            ("endpoint-slice-controller", endpoints.reconcile),
        ]
        parts = [(self._hands(recorder, Teller(name)), look) for name, look in controllers]
        scheduler = Teller("default-scheduler", manager="kube-scheduler")
        parts.append((self._hands(recorder, scheduler), Scheduler().reconcile))
        for name, (kubelet, hands) in self._kubelets.items():
            parts.append((hands, self._unless_silent(name, kubelet)))
        return parts

    def _hands(self, recorder: Recorder, teller: Teller) -> Hands:
        return Hands(self._store, recorder, teller)

    def _judge_nodes(self, view: View, hands: Hands) -> None:
        nodes.reconcile(view, hands, self._silent_since)

    def _unless_silent(self, name: str, kubelet: Kubelet) -> Look:
        def look(view: View, hands: Hands) -> None:
            if name not in self._silent_since:
                kubelet.look(view, hands)

        return look

    def _run_of(self, uid: str) -> PodRun | None:
        found = (kubelet.run_of(uid) for kubelet, _ in self._kubelets.values())
        return next((run for run in found if run is not None), None)

    def _make_nodes(self) -> None:
        for name in nodes.NETWORKS:
            node = nodes.new_node(name, self._store.clock())
            try:
                made = self._store.create("nodes", node)
            except ApiError:
                # It is there from an earlier start.
                continue
            changed = {**made, "status": node["status"]}
            self._store.update("nodes", changed, subresource="status")
