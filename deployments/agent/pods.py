"""The pod of a process: container, probe, limits and protection (specification §7).

Pure. Values of a person stand in value positions only; no text is put together.
"""

from __future__ import annotations

from typing import Any

from deployments.domain import names
from deployments.domain.names import Place
from deployments.domain.releases import PRE_STOP_SECONDS, Process, ProcessKind
from deployments.domain.wanted import Release

Json = dict[str, Any]

PROBE_TIMEOUT_SECONDS = 5
PROBE_PERIOD_SECONDS = 5


def pod_template(place: Place, release: Release, process: Process, *, secret: str) -> Json:
    """Return the template of a process's pods. `secret` names the Secret of its variables.

    `release.image` has to be known.
    """
    labels = names.labels(place, number=release.number, process=process.name)
    return {"metadata": {"labels": labels}, "spec": _pod(release, process, secret)}


def _pod(release: Release, process: Process, secret: str) -> Json:
    return {
        "containers": [_container(release, process, secret)],
        "terminationGracePeriodSeconds": process.grace_seconds,
        # Else every Service of the namespace becomes a variable of the program.
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "securityContext": _pod_security(process),
    }


def _container(release: Release, process: Process, secret: str) -> Json:
    container: Json = {
        "name": process.name,
        "image": release.image,
        "envFrom": [{"secretRef": {"name": secret}}],
        "resources": _resources(process),
        "securityContext": _container_security(process),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "lifecycle": {"preStop": {"sleep": {"seconds": PRE_STOP_SECONDS}}},
    }
    if process.command:
        container["args"] = list(process.command)
    if process.port is not None:
        container["ports"] = [
            {"name": names.MAIN_PORT, "containerPort": process.port, "protocol": "TCP"}
        ]
        container["readinessProbe"] = _probe(process)
    return container


def _probe(process: Process) -> Json:
    timing = {"timeoutSeconds": PROBE_TIMEOUT_SECONDS, "periodSeconds": PROBE_PERIOD_SECONDS}
    if process.kind is ProcessKind.HTTP and process.readiness_path is not None:
        return {"httpGet": {"path": process.readiness_path, "port": names.MAIN_PORT}, **timing}
    # An app that answers `/` with 404 is fine; only a path that somebody chose is asked for.
    return {"tcpSocket": {"port": names.MAIN_PORT}, **timing}


def _resources(process: Process) -> Json:
    requests = {"cpu": process.cpu_request, "memory": process.memory_request}
    limits = {"cpu": process.cpu_limit, "memory": process.memory_limit}
    return {"requests": _given(requests), "limits": _given(limits)}


def _given(amounts: dict[str, str | None]) -> dict[str, str]:
    return {resource: amount for resource, amount in amounts.items() if amount is not None}


def _pod_security(process: Process) -> Json:
    security: Json = {"seccompProfile": {"type": "RuntimeDefault"}}
    return {**security, "runAsNonRoot": True} if process.restricted else security


def _container_security(process: Process) -> Json:
    security: Json = {"allowPrivilegeEscalation": False}
    return {**security, "capabilities": {"drop": ["ALL"]}} if process.restricted else security
