"""What the API server answered, as values of `domain.observations`.

Pure and forgiving: an absent count is zero, a list may be null, and nothing that a cluster says
makes a look crash. Foreign text is cleaned here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from deployments.domain import names
from deployments.domain.observations import (
    Container,
    CronJobSeen,
    Endpoint,
    JobSeen,
    Meta,
    ObjectKind,
    Pod,
    Ref,
    ServiceSeen,
    Termination,
    Workload,
)
from deployments.domain.text import clean_end, one_line

Json = Mapping[str, Any]

LONGEST_WORD = 253
LONGEST_MESSAGE = 1000
LONGEST_LAST_WORDS = 4096
# A container whose command cannot be run "ends" without ever having run; its start is 1970.
_NEVER_RAN = frozenset({"StartError", "ContainerCannotRun", "ContainerStatusUnknown"})


def mapping(value: object) -> Json:
    """Return an object's fields, none where there is something else."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Json]:
    """Return the objects of a list, none where it is null or absent."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def word(value: object) -> str:
    """Return a short foreign text, cleaned; empty for anything but text."""
    return one_line(value, LONGEST_WORD) if isinstance(value, str) else ""


def count(value: object) -> int:
    """Return a count; absent means zero."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def moment(value: object) -> datetime | None:
    """Return a time of Kubernetes, None where there is none that can be read."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found


def words(value: object) -> dict[str, str]:
    """Return labels, annotations or a selector: texts by name."""
    return {key: item for key, item in mapping(value).items() if isinstance(item, str)}


def meta(kind: ObjectKind, found: Json) -> Meta:
    """Return what every object carries."""
    metadata = mapping(found.get("metadata"))
    ref = Ref(
        kind,
        word(metadata.get("name")),
        word(metadata.get("uid")),
        word(metadata.get("resourceVersion")),
    )
    return Meta(
        ref,
        labels=words(metadata.get("labels")),
        # The others are somebody else's and may be large; none of them is ours to judge.
        annotations={
            key: word(text)
            for key, text in words(metadata.get("annotations")).items()
            if key in {names.FENCE, names.SUSPENDED}
        },
        deleting=metadata.get("deletionTimestamp") is not None,
    )


def workload(found: Json) -> Workload:
    """Return a Deployment; it is settled once its controller has seen what is written."""
    status = mapping(found.get("status"))
    generation = count(mapping(found.get("metadata")).get("generation"))
    return Workload(
        meta(ObjectKind.DEPLOYMENT, found),
        replicas=count(mapping(found.get("spec")).get("replicas")),
        ready=count(status.get("readyReplicas")),
        settled=count(status.get("observedGeneration")) >= generation,
    )


def job(found: Json) -> JobSeen:
    """Return a Job. It has failed once Kubernetes is done with its pods, not before."""
    status = mapping(found.get("status"))
    failed = condition(status, "Failed")
    return JobSeen(
        meta(ObjectKind.JOB, found),
        suspended=mapping(found.get("spec")).get("suspend") is True,
        succeeded=_holds(condition(status, "Complete")),
        failed=(word(failed.get("reason")) or "Failed") if _holds(failed) else "",
    )


def cron_job(found: Json) -> CronJobSeen:
    """Return a CronJob."""
    suspended = mapping(found.get("spec")).get("suspend") is True
    return CronJobSeen(meta(ObjectKind.CRON_JOB, found), suspended=suspended)


def service(found: Json) -> ServiceSeen:
    """Return a Service with what it selects and listens on."""
    spec = mapping(found.get("spec"))
    return ServiceSeen(
        meta(ObjectKind.SERVICE, found),
        selector=words(spec.get("selector")),
        ports=tuple(
            (word(port.get("name")), count(port.get("port")), _target(port))
            for port in items(spec.get("ports"))
        ),
    )


def _target(port: Json) -> str:
    target = port.get("targetPort", port.get("port"))
    return word(target) if isinstance(target, str) else str(count(target))


def endpoints(slices: Sequence[Json], service_uid: str) -> tuple[Endpoint, ...]:
    """Return the pods behind a Service, each once, as its own controller's slices list them.

    An endpoint that moves between slices stands in both for a moment: it is ready where either
    says so. Anybody may make a slice for a Service, and those are not believed.
    """
    ready: dict[str, bool] = {}
    for endpoint in _trusted_endpoints(slices, service_uid):
        pod = word(mapping(endpoint.get("targetRef")).get("uid"))
        said = mapping(endpoint.get("conditions")).get("ready")
        ready[pod] = ready.get(pod, False) or said is not False  # absent means ready
    return tuple(Endpoint(pod, is_ready) for pod, is_ready in ready.items())


def _trusted_endpoints(slices: Sequence[Json], service_uid: str) -> Iterator[Json]:
    for found in slices:
        metadata = mapping(found.get("metadata"))
        by = words(metadata.get("labels")).get("endpointslice.kubernetes.io/managed-by")
        owners = {word(owner.get("uid")) for owner in items(metadata.get("ownerReferences"))}
        if by == "endpointslice-controller.k8s.io" and service_uid in owners:
            yield from items(found.get("endpoints"))


def pod(found: Json) -> Pod:
    """Return a pod; what its containers did is in `started` and `terminations`."""
    common = meta(ObjectKind.JOB, found)
    spec, status = mapping(found.get("spec")), mapping(found.get("status"))
    ready = condition(status, "Ready")
    statuses = items(status.get("containerStatuses"))
    starts = tuple(_start(container) for container in statuses)
    return Pod(
        name=common.name,
        uid=common.ref.uid,
        release=common.release,
        process=common.process,
        node=word(spec.get("nodeName")) or None,
        phase=word(status.get("phase")) or "Pending",
        ready=_holds(ready),
        ready_changed=moment(ready.get("lastTransitionTime")),
        started=_all_started(spec, starts),
        started_at=max((start for start in starts if start is not None), default=None),
        deletion_due=moment(mapping(found.get("metadata")).get("deletionTimestamp")),
        job=_owning_job(mapping(found.get("metadata"))),
        containers=tuple(
            _container(one) for one in (*items(status.get("initContainerStatuses")), *statuses)
        ),
        terminations=tuple(_terminations(statuses)),
    )


def _container(status: Json) -> Container:
    """Return one container: what it waits on, or how it ended last."""
    state, last = mapping(status.get("state")), mapping(status.get("lastState"))
    waiting = mapping(state.get("waiting"))
    said = waiting.get("message")
    ended = mapping(state.get("terminated")) or mapping(last.get("terminated"))
    return Container(
        name=word(status.get("name")),
        waiting=word(waiting.get("reason")),
        message=one_line(said, LONGEST_MESSAGE) if isinstance(said, str) else "",
        restarts=count(status.get("restartCount")),
        running=bool(mapping(state.get("running"))),
        ended=_termination(ended) if ended else None,
    )


def condition(status: Json, kind: str) -> Json:
    """Return one condition of an object's status, empty where it has none."""
    conditions = items(status.get("conditions"))
    return next((found for found in conditions if found.get("type") == kind), {})


def _holds(found: Json) -> bool:
    return found.get("status") == "True"


def _owning_job(metadata: Json) -> str:
    owners = items(metadata.get("ownerReferences"))
    return next((word(o.get("name")) for o in owners if o.get("kind") == "Job"), "")


def _all_started(spec: Json, starts: tuple[datetime | None, ...]) -> bool:
    wanted = max(len(items(spec.get("containers"))), 1)
    return sum(start is not None for start in starts) >= wanted


def _start(container: Json) -> datetime | None:
    """Return when a container last began to run, None if it never has."""
    state = mapping(container.get("state"))
    last = mapping(container.get("lastState"))
    if running := mapping(state.get("running")):
        return moment(running.get("startedAt"))
    for ended in (mapping(state.get("terminated")), mapping(last.get("terminated"))):
        if ended and ended.get("reason") not in _NEVER_RAN:
            return moment(ended.get("startedAt"))
    return None


def _terminations(statuses: list[Json]) -> Iterator[Termination]:
    """Give how the containers ended, each container's latest end first."""
    for container in statuses:
        for state in (mapping(container.get("state")), mapping(container.get("lastState"))):
            if ended := mapping(state.get("terminated")):
                yield _termination(ended)


def _termination(ended: Json) -> Termination:
    message = ended.get("message")
    return Termination(
        exit_code=count(ended.get("exitCode")),
        reason=word(ended.get("reason")),
        message=clean_end(message, LONGEST_LAST_WORDS) if isinstance(message, str) else "",
    )


def silent_nodes(nodes: Sequence[Json]) -> frozenset[str]:
    """Return the nodes that nobody has heard of for a while: their pods say nothing any more."""
    return frozenset(
        word(mapping(node.get("metadata")).get("name")) for node in nodes if _is_silent(node)
    )


def _is_silent(node: Json) -> bool:
    return condition(mapping(node.get("status")), "Ready").get("status") == "Unknown"
