"""A release as values: its processes, its release command and the configuration frozen with it.

How settings become one is in `settings`; what Kubernetes gets to see of it in `agent/manifests.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from deployments.domain.states import Route, route_of

# Seconds that a pod goes on answering after it was told to stop, so that every proxy has heard.
PRE_STOP_SECONDS = 5
RETIRED_RELEASES_KEPT = 3


class ProcessKind(StrEnum):
    """What a process is: two kinds run on, two run and end."""

    HTTP = "http"
    WORKER = "worker"
    CRON = "cron"
    JOB = "job"


LONG_RUNNING = frozenset({ProcessKind.HTTP, ProcessKind.WORKER})


@dataclass(frozen=True)
class Process:
    """A part of an app service, as its settings say. Quantities are Kubernetes' own words."""

    name: str
    kind: ProcessKind
    primary: bool = False
    command: tuple[str, ...] = ()
    port: int | None = None
    replicas: int = 1
    cpu_request: str | None = None
    cpu_limit: str | None = None
    memory_request: str | None = None
    memory_limit: str | None = None
    readiness_path: str | None = None
    stabilization_seconds: int = 10
    drain_seconds: int = 30
    stop_seconds: int = 30
    schedule: str | None = None
    restricted: bool = False

    @property
    def long_running(self) -> bool:
        """Whether it runs on: http and worker do, cron and job end."""
        return self.kind in LONG_RUNNING

    @property
    def grace_seconds(self) -> int:
        """Return the pods' grace period: the wait before the stop signal and the stop itself."""
        return PRE_STOP_SECONDS + self.stop_seconds


@dataclass(frozen=True)
class ReleaseCommand:
    """What runs once with the new release's image before any of its processes starts."""

    command: tuple[str, ...]
    timeout_seconds: int = 600


@dataclass(frozen=True)
class Config:
    """What is frozen with a release. A secret stands in it only as a keyed hash of its value."""

    processes: tuple[Process, ...]
    release_command: ReleaseCommand | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    secret_hashes: Mapping[str, str] = field(default_factory=dict)

    @property
    def primary(self) -> Process | None:
        """Return the process that decides readiness and draining; None where none runs on."""
        return next((process for process in self.processes if process.primary), None)

    @property
    def long_running(self) -> tuple[Process, ...]:
        """Return the processes that run on."""
        return tuple(process for process in self.processes if process.long_running)

    @property
    def has_port(self) -> bool:
        """Whether the primary process listens, so that the release takes traffic by a Service."""
        return self.primary is not None and self.primary.port is not None

    @property
    def route(self) -> Route:
        """Return the route of a deployment of this release."""
        return route_of(release_command=self.release_command is not None, stop_first=False)

    def of_kind(self, kind: ProcessKind) -> tuple[Process, ...]:
        """Return the processes of one kind."""
        return tuple(process for process in self.processes if process.kind is kind)

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as it is stored; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Config:
        """Return the configuration that `to_json` wrote."""
        command = stored["release_command"]
        return cls(
            processes=tuple(_process(item) for item in stored["processes"]),
            release_command=command
            and ReleaseCommand(**{**command, "command": tuple(command["command"])}),
            variables=dict(stored["variables"]),
            secret_hashes=dict(stored["secret_hashes"]),
        )


def _process(stored: Mapping[str, Any]) -> Process:
    kind = ProcessKind(stored["kind"])
    return Process(**{**stored, "kind": kind, "command": tuple(stored["command"])})
