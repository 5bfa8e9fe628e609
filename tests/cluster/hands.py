"""A slot in a test's namespace: values to command with, and what the agent sees of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from deployments.agent.cluster import Stale
from deployments.agent.kube import KubeApi
from deployments.agent.manifests import Request
from deployments.domain import names
from deployments.domain.commands import Command, Create, Scale
from deployments.domain.names import Place
from deployments.domain.observations import CheckResult, Meta, ObjectKind, Ref, Seen
from deployments.domain.readiness import Check
from deployments.domain.releases import Config, Process, ProcessKind, ReleaseCommand
from deployments.domain.wanted import Release, Wanted
from tests.cluster.target import Target

DEADLINE_SECONDS = 60
FENCE = 3
NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
DEPLOYMENT, JOB, CRON_JOB = ObjectKind.DEPLOYMENT, ObjectKind.JOB, ObjectKind.CRON_JOB
SERVICE, SECRET = ObjectKind.SERVICE, ObjectKind.SECRET

WEB = Process("web", ProcessKind.HTTP, primary=True, port=8080, cpu_request="10m", stop_seconds=1)
RUN = Process("once", ProcessKind.JOB, command=("run",), cpu_request="10m", stop_seconds=1)
NIGHTLY = Process("night", ProcessKind.CRON, command=("run",), schedule="0 3 * * *")


def process(**changes: object) -> Process:
    """Return an http process that differs in this from the usual one."""
    return replace(WEB, **changes)  # type: ignore[arg-type]


@dataclass
class Slot:
    """One slot, with the releases that a test gave it. `run` makes the agent's own calls."""

    on: Target
    namespace: str
    service: str = "web"
    number: int = 4711
    releases: list[Release] = field(default_factory=list)
    fence: int = FENCE

    @property
    def place(self) -> Place:
        """Return where the slot's objects live."""
        return Place("test", self.number, "shop", "live", self.service, self.namespace)

    @property
    def wanted(self) -> Wanted:
        """Return the slot as far as a command asks for it."""
        return Wanted(self.place, self.fence, tuple(self.releases))

    def release(
        self,
        *processes: Process,
        variables: Mapping[str, str] | None = None,
        command: ReleaseCommand | None = None,
        image: str = "sample:1",
    ) -> int:
        """Add a release and return its number."""
        config = Config(processes or (WEB,), command, variables or {})
        number = len(self.releases) + 1
        self.releases.append(Release(number, number, config, f"{self.on.registry}/{image}"))
        return number

    def run(self, command: Command) -> Meta | None:
        """Carry a command out."""
        return self.on.cluster.run(command, self.wanted, secrets=lambda _: {"TOKEN": "s3cret"})

    def make(self, kind: ObjectKind, name: str, *create: object) -> Meta:
        """Create an object and return it."""
        made = self.run(Create(kind, name, *create))  # type: ignore[arg-type]
        assert made is not None
        return made

    def make_workload(self, number: int, name: str = "web") -> Meta:
        """Create a release's Secret and the Deployment of one process."""
        self.make(SECRET, f"{self.service}-r{number}", number)
        return self.make(DEPLOYMENT, f"{self.service}--{name}-r{number}", number, name)

    def seen(self) -> Seen:
        """Look once."""
        return self.on.cluster.read("test", [self.namespace]).seen(self.place, NOW)

    def until(self, holds: Callable[[Seen], object]) -> Seen:
        """Look until something holds; fail when it does not within a minute."""
        ends = time.monotonic() + DEADLINE_SECONDS
        while not holds(seen := self.seen()):
            assert time.monotonic() < ends, seen
            time.sleep(0.05)
        return seen

    def ref(self, kind: ObjectKind, name: str) -> Ref:
        """Return an object as it is now."""
        found = next(m for m in self.seen().objects() if (m.ref.kind, m.name) == (kind, name))
        return found.ref

    def change(self, kind: ObjectKind, name: str, command: Callable[[Ref], Command]) -> Meta | None:
        """Carry out a command on an object as it is now, again where its controller wrote too."""
        ends = time.monotonic() + DEADLINE_SECONDS
        while True:
            try:
                return self.run(command(self.ref(kind, name)))
            except Stale:
                assert time.monotonic() < ends

    def scale(self, name: str, replicas: int) -> Meta | None:
        """Scale a Deployment."""
        return self.change(DEPLOYMENT, name, lambda ref: Scale(ref, replicas))

    def until_check(
        self, number: int, holds: Callable[[CheckResult], bool], **asked: object
    ) -> CheckResult:
        """Check a release until the result holds, and return it."""
        check = self.check(number, **asked)  # type: ignore[arg-type]
        ends = time.monotonic() + DEADLINE_SECONDS
        while not holds(result := self.on.cluster.check(self.place, check)):
            assert time.monotonic() < ends, result
            time.sleep(0.05)
        return result

    def check(self, number: int, *, kind: str = "http", path: str = "/", port: int = 80) -> Check:
        """Return the check of a release's own Service."""
        return Check(kind, names.release_service_name(self.service, number), port, path, 2)


def read(api: KubeApi, *path: str) -> dict[str, object]:
    """Return one object as it stands in the cluster."""
    found = api.read(path)
    assert found is not None
    return dict(found)


def write(api: KubeApi, body: dict[str, object], *path: str) -> None:
    """Create an object as somebody else would, and make sure that it was taken."""
    answer = api.send(Request("POST", path, body))
    assert answer.status == 201, answer
