"""What each command writes: (command, wanted, secrets) to a method, a path and a body.

Pure. What a pod looks like is in `pods.py`; sending and judging the answer is in `kube.py`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deployments.agent.pods import pod_template
from deployments.domain import names, readiness
from deployments.domain.commands import (
    Command,
    Create,
    Delete,
    PointTraffic,
    Resume,
    Scale,
    Suspend,
    Try,
    WriteFence,
)
from deployments.domain.documents import escaped
from deployments.domain.names import Place
from deployments.domain.observations import ObjectKind, Ref
from deployments.domain.releases import Process, ProcessKind, ReleaseCommand
from deployments.domain.wanted import Release, Wanted

Json = dict[str, Any]

FIELD_MANAGER = "pilothouse"
STARTING_DEADLINE_SECONDS = 30
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
JSON = "application/json"

API: Mapping[ObjectKind, tuple[str, str]] = {
    ObjectKind.DEPLOYMENT: ("apps/v1", "deployments"),
    ObjectKind.CRON_JOB: ("batch/v1", "cronjobs"),
    ObjectKind.JOB: ("batch/v1", "jobs"),
    ObjectKind.SERVICE: ("v1", "services"),
    ObjectKind.SECRET: ("v1", "secrets"),
}


@dataclass(frozen=True)
class Request:
    """One call of the API. `path` is in parts, so that no name can lead anywhere else."""

    method: str
    path: tuple[str, ...]
    body: Json | list[Json] | None = None
    content_type: str = JSON
    query: Mapping[str, str] = field(default_factory=dict)


def object_path(namespace: str, kind: ObjectKind, name: str = "") -> tuple[str, ...]:
    """Return the path of an object, or of its kind in a namespace where no name is given."""
    version, plural = API[kind]
    root = ("apis", *version.split("/")) if "/" in version else ("api", version)
    return (*root, "namespaces", namespace, plural, *((name,) if name else ()))


def request_for(command: Command, wanted: Wanted, secrets: Mapping[str, str]) -> Request:
    """Return the call that carries out a command.

    `secrets` are the secret values of the release that the command makes a Secret for.
    """
    match command:
        case Create():
            return _post(command, wanted, secrets, {})
        case Try(create=create):
            return _post(create, wanted, secrets, {"dryRun": "All"})
        case Delete(ref=ref):
            return _delete(ref, wanted.place)
        case PointTraffic():
            return _point(command, wanted)
        case _:
            return _merge(command.ref, wanted.place, _change(command, wanted.fence))


def _post(
    create: Create, wanted: Wanted, secrets: Mapping[str, str], query: Mapping[str, str]
) -> Request:
    path = object_path(wanted.place.namespace, create.kind)
    asked = {"fieldManager": FIELD_MANAGER, **query}
    return Request("POST", path, manifest(create, wanted, secrets), query=asked)


def _delete(ref: Ref, place: Place) -> Request:
    as_read = {"uid": ref.uid, "resourceVersion": ref.resource_version}
    body: Json = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        # Kubernetes leaves a Job's pods running where the policy is not given.
        "propagationPolicy": "Background",
        "preconditions": {name: value for name, value in as_read.items() if value},
    }
    return Request("DELETE", object_path(place.namespace, ref.kind, ref.name), body)


def _merge(ref: Ref, place: Place, change: Json) -> Request:
    metadata = {
        **change.pop("metadata", {}),
        "uid": ref.uid,
        "resourceVersion": ref.resource_version,
    }
    return Request(
        "PATCH",
        object_path(place.namespace, ref.kind, ref.name),
        {"metadata": metadata, **change},
        MERGE_PATCH,
        {"fieldManager": FIELD_MANAGER},
    )


def _change(command: Scale | WriteFence | Suspend | Resume, fence: int) -> Json:
    match command:
        case Scale(replicas=replicas):
            return {"metadata": _annotated(fence), "spec": {"replicas": replicas}}
        case Suspend():
            marked = _annotated(fence, **{names.SUSPENDED: names.SUSPENDED_BY_AGENT})
            return {"metadata": marked, "spec": {"suspend": True}}
        case Resume():
            unmarked = _annotated(fence, **{names.SUSPENDED: None})
            return {"metadata": unmarked, "spec": {"suspend": False}}
        case WriteFence():
            return {"metadata": _annotated(fence)}


def _annotated(fence: int, **more: str | None) -> Json:
    return {"annotations": {names.FENCE: str(fence), **more}}


def _point(command: PointTraffic, wanted: Wanted) -> Request:
    """Selector and ports as a JSON patch: a merge patch would keep a key that somebody added.

    A leftover key selects no pod at all. Writing uid and version as they were read makes the
    server refuse with a conflict where the Service has changed since.
    """
    ref, number = command.ref, command.release
    selector = names.stable_selector(wanted.place, number=number, process=command.process)
    changes: list[Json] = [
        {"op": "replace", "path": "/metadata/uid", "value": ref.uid},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": ref.resource_version},
        {"op": "add", "path": _pointer("annotations", names.FENCE), "value": str(wanted.fence)},
        {"op": "replace", "path": "/spec/selector", "value": selector},
    ]
    if number is not None:
        ports = _ports(_primary(wanted, number))
        changes.append({"op": "replace", "path": "/spec/ports", "value": ports})
    path = object_path(wanted.place.namespace, ref.kind, ref.name)
    return Request("PATCH", path, changes, JSON_PATCH, {"fieldManager": FIELD_MANAGER})


def _pointer(*parts: str) -> str:
    return "/metadata/" + "/".join(map(escaped, parts))


def manifest(create: Create, wanted: Wanted, secrets: Mapping[str, str]) -> Json:
    """Return the object that a Create makes, without effect until it is brought to life."""
    version, _ = API[create.kind]
    place = wanted.place
    labelled = names.labels(place, number=create.release, process=create.process)
    metadata: Json = {
        "name": create.name,
        "namespace": place.namespace,
        "labels": {key: value for key, value in labelled.items() if value},
    }
    if _carries_fence(create):
        metadata["annotations"] = {names.FENCE: str(wanted.fence)}
    if create.kind is ObjectKind.CRON_JOB:
        # Made suspended by us, so it is ours to resume.
        metadata["annotations"][names.SUSPENDED] = names.SUSPENDED_BY_AGENT
    if create.kind is ObjectKind.JOB:
        metadata["labels"][names.DEPLOYMENT] = str(create.deployment)
    rest = _rest(create, wanted, secrets)
    return {"apiVersion": version, "kind": create.kind.value, "metadata": metadata, **rest}


def _carries_fence(create: Create) -> bool:
    if create.kind is ObjectKind.SERVICE:
        return create.release is None
    return create.kind is not ObjectKind.SECRET


def _rest(create: Create, wanted: Wanted, secrets: Mapping[str, str]) -> Json:
    if create.kind is ObjectKind.SERVICE:
        return {"spec": _service(create, wanted)}
    release = _release(wanted, create.release)
    match create.kind:
        case ObjectKind.SECRET:
            return _secret({**release.config.variables, **secrets})
        case ObjectKind.DEPLOYMENT:
            return {"spec": _deployment(create, wanted.place, release)}
        case ObjectKind.CRON_JOB:
            return {"spec": _cron_job(create, wanted.place, release)}
        case ObjectKind.JOB:
            return {"spec": {"suspend": True, **_job(create, wanted.place, release)}}


def _secret(values: Mapping[str, str]) -> Json:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    # Frozen with the release: Kubernetes then refuses every change of it, whoever tries.
    return {"type": "Opaque", "immutable": True, "data": encoded}


def _service(create: Create, wanted: Wanted) -> Json:
    if create.release is None:
        listening = _newest_listening(wanted)
        selector = names.stable_selector(wanted.place, number=None, process=listening.name)
        ports = _ports(listening)
    else:
        primary = _primary(wanted, create.release)
        selector = names.process_selector(wanted.place, number=create.release, process=primary.name)
        ports = _ports(primary)
    return {"type": "ClusterIP", "selector": selector, "ports": ports}


def _ports(process: Process) -> list[Json]:
    # The target is a name, so that the port of the pods may change with the release in one write.
    port = readiness.listens_on(process)
    return [
        {"name": names.MAIN_PORT, "port": port, "targetPort": names.MAIN_PORT, "protocol": "TCP"}
    ]


def _deployment(create: Create, place: Place, release: Release) -> Json:
    number, process = release.number, _process(release, create.process)
    return {
        "replicas": 0,
        "selector": {
            "matchLabels": names.process_selector(place, number=number, process=process.name)
        },
        # A release's template is written once; an older one of it is nothing to go back to.
        "revisionHistoryLimit": 0,
        "template": pod_template(place, release, process, secret=_secret_name(place, release)),
    }


def _cron_job(create: Create, place: Place, release: Release) -> Json:
    return {
        "suspend": True,
        "schedule": _process(release, create.process).schedule,
        # Without it the schedule follows the clock of whatever machine runs the controller.
        "timeZone": "Etc/UTC",
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": STARTING_DEADLINE_SECONDS,
        "jobTemplate": {"spec": _job(create, place, release)},
    }


def _job(create: Create, place: Place, release: Release) -> Json:
    process = _process(release, create.process)
    template = pod_template(place, release, process, secret=_secret_name(place, release))
    template["spec"]["restartPolicy"] = "Never"
    return {"backoffLimit": 0, "parallelism": 1, "completions": 1, "template": template}


def _secret_name(place: Place, release: Release) -> str:
    return names.release_service_name(place.service, release.number)


def _release(wanted: Wanted, number: int | None) -> Release:
    release = wanted.release(number)
    if release is None:
        raise LookupError(f"{wanted.service} has no release {number}.")
    return release


def _process(release: Release, name: str) -> Process:
    config = release.config
    if name == names.RELEASE_COMMAND and config.release_command is not None:
        return _as_process(config.primary or config.processes[0], config.release_command)
    return next(process for process in config.processes if process.name == name)


def _as_process(like: Process, command: ReleaseCommand) -> Process:
    """A release command runs the same program, so it gets the primary process's resources."""
    return Process(
        name=names.RELEASE_COMMAND,
        kind=ProcessKind.JOB,
        command=command.command,
        cpu_request=like.cpu_request,
        cpu_limit=like.cpu_limit,
        memory_request=like.memory_request,
        memory_limit=like.memory_limit,
        stop_seconds=like.stop_seconds,
        restricted=like.restricted,
    )


def _primary(wanted: Wanted, number: int) -> Process:
    primary = _release(wanted, number).config.primary
    if primary is None or primary.port is None:
        raise LookupError(f"Release {number} of {wanted.service} has no port.")
    return primary


def _newest_listening(wanted: Wanted) -> Process:
    newest = max(
        (release for release in wanted.releases if release.config.has_port),
        key=lambda release: release.number,
    )
    return _primary(wanted, newest.number)
