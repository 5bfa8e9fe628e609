"""The whole product on one cluster: services to deploy, and looks until something holds.

Nothing runs by itself here: a test looks when it wants the agent to look.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from deployments.actions import start
from deployments.agent import loop
from deployments.agent.manifests import API, object_path
from deployments.domain import names
from deployments.domain.deadlines import LIMITS, Limits
from deployments.domain.observations import ObjectKind
from deployments.domain.releases import Process, ProcessKind, ReleaseCommand
from deployments.domain.settings import Settings
from deployments.models import Deployment, Environment, Installation, Slot, User, Variable
from deployments.reads.clock import database_now
from tests.cluster.hurry import SOAK
from tests.cluster.target import Target
from tests.factories import make_slot

# A machine that two suites share is slow; that says nothing about the agent.
DEADLINE_SECONDS = 900 if SOAK else 120
# Nobody listens there.
SILENT_REGISTRY = "127.0.0.1:5999"
Json = dict[str, Any]

WEB = Process(
    "web",
    ProcessKind.HTTP,
    primary=True,
    port=8080,
    cpu_request="10m",
    stabilization_seconds=1,
    drain_seconds=2,
    stop_seconds=1,
)
WORK = replace(WEB, name="work", kind=ProcessKind.WORKER, command=("work",), port=None)
BESIDE = replace(WORK, primary=False)
TICK = replace(BESIDE, name="tick", kind=ProcessKind.CRON, command=("run",), schedule="0 3 * * *")
ONCE = replace(BESIDE, name="once", kind=ProcessKind.JOB, command=("run",))

ROUTE = ("pending", "admitted", "starting", "qualifying", "activating", "draining", "healthy")


@dataclass(frozen=True)
class Walked:
    """How a deployment went, with what differs from cluster to cluster taken out of its message."""

    states: tuple[str, ...]
    blocker: str
    message: str

    @property
    def state(self) -> str:
        """Return the state that it ended in."""
        return self.states[-1]


@dataclass(frozen=True)
class Product:
    """One environment in a namespace of its own on a cluster that was added as a person does."""

    on: Target
    cluster_id: int
    environment: Environment
    user: User
    limits: Limits = LIMITS

    def slot(
        self,
        *processes: Process,
        service: str = "web",
        command: ReleaseCommand | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> Slot:
        """Make a service that was never deployed."""
        settings = Settings(processes or (WEB,), command).to_json()
        slot = make_slot(self.environment, service, settings=settings)
        for key, value in (variables or {}).items():
            Variable.objects.create(slot=slot, key=key, value=value)
        return slot

    def deploy(self, slot: Slot, image: str = "sample:1") -> Deployment:
        """Click Deploy."""
        now = database_now()
        return start.deploy(slot.pk, image=image, reason="", by=self.user, now=now).deployment

    def look(self) -> bool:
        """Let the agent look once."""
        return loop.look(self.cluster_id, now=database_now(), limits=self.limits)

    def until(self, holds: Callable[[], object]) -> None:
        """Look until something holds; fail when it does not in time."""
        ends = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            assert time.monotonic() < ends, self._where()
            if not self.look():
                time.sleep(0.1)

    def _where(self) -> list[str]:
        return [f"r-{d.release.number} {d.state}: {d.what}" for d in Deployment.objects.all()]

    def ended(self, deployment: Deployment) -> Walked:
        """Look until a deployment has ended, and return how it went."""
        self.until(lambda: _fresh(deployment).ended_at is not None)
        found = _fresh(deployment)
        message = " ".join(part for part in (found.what, found.leaves, found.do) if part)
        return Walked(states_of(found), found.blocker, self.normalised(message))

    def walk(self, slot: Slot, image: str = "sample:1") -> Walked:
        """Deploy and look until it has ended."""
        return self.ended(self.deploy(slot, image))

    def reach(self, slot: Slot, state: str, image: str = "sample:1") -> Deployment:
        """Deploy and look until the deployment is in a state."""
        deployment = self.deploy(slot, image)
        self.until(lambda: state_of(deployment) == state)
        return deployment

    def settle(self, slot: Slot) -> None:
        """Look until nothing is left to do for a slot."""
        self.until(lambda: not Slot.objects.get(pk=slot.pk).unsettled)

    def normalised(self, message: str) -> str:
        """Return a message without this cluster's names, addresses and free amounts."""
        message = message.replace(self.on.registry, "registry.example")
        message = message.replace(self.environment.namespace, "space")
        message = re.sub(r"node-[12]", "node-N", message)
        return re.sub(r"needs [0-9.]+ CPU", "needs N CPU", message)

    def all(self, kind: ObjectKind, selector: str = "") -> list[Json]:
        """Return every object of a kind that is ours."""
        ours = f"{names.INSTALLATION}={Installation.objects.get()}"
        path = object_path(self.environment.namespace, kind)
        return self.on.api.objects(path, ",".join(filter(None, (ours, selector))))

    def names(self) -> set[str]:
        """Return what is there of ours, as `Service web`."""
        return {f"{kind} {found['metadata']['name']}" for kind in API for found in self.all(kind)}

    def get(self, kind: ObjectKind, name: str) -> Json:
        """Return one object as it stands in the cluster."""
        found = self.on.api.read(object_path(self.environment.namespace, kind, name))
        assert found is not None, f"no {kind} {name}"
        return found

    def pods(self, release: int) -> list[Json]:
        """Return the pods of a release that are there, those that stop included."""
        path = ("api", "v1", "namespaces", self.environment.namespace, "pods")
        return self.on.api.objects(path, f"{names.RELEASE}=r-{release}")

    def serves(self, service: str = "web") -> str:
        """Return the release that the stable Service selects: `r-1`."""
        selector = self.get(ObjectKind.SERVICE, service)["spec"]["selector"]
        return str(selector[names.RELEASE])


def _fresh(deployment: Deployment) -> Deployment:
    return Deployment.objects.get(pk=deployment.pk)


def state_of(deployment: Deployment) -> str:
    """Return a deployment's state now."""
    return _fresh(deployment).state


def states_of(deployment: Deployment) -> tuple[str, ...]:
    """Return the states that a deployment has been in, in order."""
    moves = deployment.events.filter(kind="move").order_by("number")
    return tuple(moves.values_list("to_state", flat=True))
