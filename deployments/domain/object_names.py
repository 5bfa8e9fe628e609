"""Every name that a deployment will give to an object, to be looked at before anything runs."""

from __future__ import annotations

from collections.abc import Iterator

from deployments.domain import names
from deployments.domain.observations import ObjectKind
from deployments.domain.releases import Process, ProcessKind
from deployments.domain.wanted import Attempt, Wanted


def of(wanted: Wanted, attempt: Attempt) -> tuple[tuple[ObjectKind, str], ...]:
    """Return kind and name of each object that the deployment will make."""
    return tuple(_all(wanted.service, attempt))


def _all(service: str, attempt: Attempt) -> Iterator[tuple[ObjectKind, str]]:
    number, config = attempt.release.number, attempt.release.config
    yield ObjectKind.SECRET, names.release_service_name(service, number)
    if config.has_port:
        yield ObjectKind.SERVICE, names.stable_service_name(service)
        yield ObjectKind.SERVICE, names.release_service_name(service, number)
    if config.release_command is not None:
        yield ObjectKind.JOB, names.job_name(service, names.RELEASE_COMMAND, attempt.id)
    for process in config.processes:
        yield _of_process(service, process, number, attempt.id)


def _of_process(
    service: str, process: Process, number: int, deployment: int
) -> tuple[ObjectKind, str]:
    if process.kind is ProcessKind.JOB:
        return ObjectKind.JOB, names.job_name(service, process.name, deployment)
    kind = ObjectKind.CRON_JOB if process.kind is ProcessKind.CRON else ObjectKind.DEPLOYMENT
    return kind, names.workload_name(service, process.name, number)
