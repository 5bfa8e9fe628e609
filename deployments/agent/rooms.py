"""The room that nodes and quotas have left, from raw nodes, pods and quotas (JSON).

Pure. Whether a release fits into it is `domain`'s to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from deployments.agent.translate import Json, condition, items, mapping, word, words
from deployments.domain import quantities
from deployments.domain.observations import NodeRoom, QuotaRoom, Room

_KEEPS_AWAY = frozenset({"NoSchedule", "NoExecute"})
# A quota may name the same thing in two ways.
_ALIASES = {"cpu": "requests.cpu", "memory": "requests.memory", "count/pods": "pods"}


@dataclass(frozen=True)
class Request:
    """What a pod takes of a node: thousandths of a CPU and bytes."""

    cpu: int = 0
    memory: int = 0

    def __add__(self, other: Request) -> Request:
        """Return both together."""
        return Request(self.cpu + other.cpu, self.memory + other.memory)

    def at_least(self, other: Request) -> Request:
        """Return the larger of both, resource by resource."""
        return Request(max(self.cpu, other.cpu), max(self.memory, other.memory))


def room(nodes: Sequence[Json], pods: Sequence[Json], quotas: Sequence[Json]) -> Room:
    """Return what is left; a node that takes no pod of ours is named with the reason."""
    used = _used(pods)
    reasons = {_name(node): _why_not(node) for node in nodes}
    return Room(
        nodes=tuple(
            _left(node, used.get(_name(node), ())) for node in nodes if not reasons[_name(node)]
        ),
        quotas=tuple(left for quota in quotas for left in _quota_room(quota)),
        skipped=tuple(f"{name} ({reason})" for name, reason in reasons.items() if reason),
    )


def _used(pods: Sequence[Json]) -> Mapping[str, list[Request]]:
    """A pod that is stopping still holds its room: the scheduler goes by the phase alone."""
    used: dict[str, list[Request]] = defaultdict(list)
    for pod in pods:
        node = word(mapping(pod.get("spec")).get("nodeName"))
        phase = mapping(pod.get("status")).get("phase")
        if node and phase not in {"Succeeded", "Failed"}:
            used[node].append(effective_request(pod))
    return used


def _left(node: Json, used: Iterable[Request]) -> NodeRoom:
    taken = tuple(used)
    allocatable = mapping(mapping(node.get("status")).get("allocatable"))
    total = sum(taken, Request())
    return NodeRoom(
        name=_name(node),
        cpu=_amount(allocatable.get("cpu"), quantities.millicores) - total.cpu,
        memory=_amount(allocatable.get("memory"), quantities.whole) - total.memory,
        pods=_amount(allocatable.get("pods"), quantities.whole) - len(taken),
    )


def _name(node: Json) -> str:
    return word(mapping(node.get("metadata")).get("name"))


def _why_not(node: Json) -> str:
    """Return why no pod of ours is put on a node, empty for a usable one."""
    spec, status = mapping(node.get("spec")), mapping(node.get("status"))
    if mapping(node.get("metadata")).get("deletionTimestamp") is not None:
        return "being removed"
    if spec.get("unschedulable") is True:
        return "cordoned"
    if condition(status, "Ready").get("status") != "True":
        return "not ready"
    taints = [taint for taint in items(spec.get("taints")) if taint.get("effect") in _KEEPS_AWAY]
    return f"taint {word(taints[0].get('key'))}" if taints else ""


def effective_request(pod: Json) -> Request:
    """Return what the scheduler counts for a pod: its containers, or its start if that is more.

    Init containers run one after another before the others; those that restart always (sidecars)
    run on beside all that follow.
    """
    spec = mapping(pod.get("spec"))
    resized = _resized(mapping(pod.get("status")))
    side = peak = Request()
    for container in items(spec.get("initContainers")):
        asked = _requests(container)
        peak = peak.at_least(side + asked)
        side = side + asked if container.get("restartPolicy") == "Always" else side
    together = sum(
        (_largest(c, resized) for c in items(spec.get("containers"))),
        side,
    )
    whole_pod = _pod_level(spec, together.at_least(peak))
    return whole_pod + _of(mapping(spec.get("overhead")))


def _largest(container: Json, resized: Mapping[str, Request]) -> Request:
    return _requests(container).at_least(resized.get(word(container.get("name")), Request()))


def _resized(status: Json) -> dict[str, Request]:
    """A pod that is resized while it runs holds the larger of what it has and what it asks for."""
    return {
        word(container.get("name")): _requests(container).at_least(
            _of(mapping(container.get("allocatedResources")))
        )
        for container in items(status.get("containerStatuses"))
    }


def _pod_level(spec: Json, counted: Request) -> Request:
    requests = mapping(mapping(spec.get("resources")).get("requests"))
    given = _of(requests)
    return Request(
        given.cpu if "cpu" in requests else counted.cpu,
        given.memory if "memory" in requests else counted.memory,
    )


def _requests(container: Json) -> Request:
    resources = mapping(container.get("resources"))
    # Whoever gives only a limit has asked for as much.
    return _of({**mapping(resources.get("limits")), **mapping(resources.get("requests"))})


def _of(amounts: Json) -> Request:
    return Request(
        _amount(amounts.get("cpu"), quantities.millicores),
        _amount(amounts.get("memory"), quantities.whole),
    )


def _amount(text: object, read: Callable[[str], int]) -> int:
    """Return a quantity, 0 for one that is absent or that nobody can read."""
    try:
        return read(str(text)) if isinstance(text, str | int) else 0
    except ValueError:
        return 0


def _quota_room(quota: Json) -> Iterable[QuotaRoom]:
    if not _counts_ours(mapping(quota.get("spec"))):
        return
    status = mapping(quota.get("status"))
    used = words(status.get("used"))
    name = word(mapping(quota.get("metadata")).get("name"))
    for resource, hard in words(status.get("hard")).items():
        read = _reader(resource)
        left = _amount(hard, read) - _amount(used.get(resource), read)
        yield QuotaRoom(name, _ALIASES.get(resource, word(resource)), left)


def _counts_ours(spec: Json) -> bool:
    """A quota with a scope counts only pods of that kind; ours run on without a deadline."""
    scopes = spec.get("scopes") or []
    return spec.get("scopeSelector") is None and set(scopes) <= {"NotTerminating"}


def _reader(resource: str) -> Callable[[str], int]:
    return quantities.millicores if resource.rpartition(".")[2] == "cpu" else quantities.whole
