"""Does a release fit? Per node and per quota, and by how much it does not.

Replicas are identical, so room is judged replica by replica: 4 CPU free in total may hold none of
2 CPU. Amounts of CPU are thousandths of a core, of memory bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from deployments.domain import quantities
from deployments.domain.observations import NodeRoom, QuotaRoom, Room
from deployments.domain.releases import Config, Process


@dataclass(frozen=True)
class Need:
    """What one replica of a process requests, and how many replicas there are to be."""

    process: str
    replicas: int
    cpu: int
    memory: int
    cpu_limit: int = 0
    memory_limit: int = 0


@dataclass(frozen=True)
class _Filled:
    """The nodes after some replicas were placed, and how many replicas found no place."""

    nodes: tuple[NodeRoom, ...]
    left_over: int


def needs(config: Config) -> tuple[Need, ...]:
    """Return what the long-running processes of a release request, the largest first."""
    found = [_need(process) for process in config.long_running]
    return tuple(sorted(found, key=lambda need: (need.cpu, need.memory), reverse=True))


def _need(process: Process) -> Need:
    # Without a request Kubernetes takes the limit for one.
    cpu = process.cpu_request or process.cpu_limit
    memory = process.memory_request or process.memory_limit
    return Need(
        process.name,
        process.replicas,
        cpu=quantities.millicores(cpu) if cpu else 0,
        memory=quantities.whole(memory) if memory else 0,
        cpu_limit=quantities.millicores(process.cpu_limit) if process.cpu_limit else 0,
        memory_limit=quantities.whole(process.memory_limit) if process.memory_limit else 0,
    )


def deficit(wanted: Iterable[Need], room: Room) -> str | None:
    """Return what is missing, in a person's units, or None when everything fits."""
    wanted = tuple(wanted)
    return _quota_deficit(wanted, room.quotas) or _node_deficit(wanted, room)


def _node_deficit(wanted: tuple[Need, ...], room: Room) -> str | None:
    nodes = room.nodes
    for need in wanted:
        filled = _place(need, nodes)
        if filled.left_over:
            return _words(need, filled, room.skipped)
        nodes = filled.nodes
    return None


def _place(need: Need, nodes: tuple[NodeRoom, ...]) -> _Filled:
    left_over = need.replicas
    after = []
    for node in nodes:
        taken = min(left_over, _fits(need, node))
        left_over -= taken
        after.append(_without(node, need, taken))
    return _Filled(tuple(after), left_over)


def _fits(need: Need, node: NodeRoom) -> int:
    limits = [node.pods]
    if need.cpu:
        limits.append(node.cpu // need.cpu)
    if need.memory:
        limits.append(node.memory // need.memory)
    return max(min(limits), 0)


def _without(node: NodeRoom, need: Need, replicas: int) -> NodeRoom:
    return replace(
        node,
        cpu=node.cpu - need.cpu * replicas,
        memory=node.memory - need.memory * replicas,
        pods=node.pods - replicas,
    )


def _words(need: Need, filled: _Filled, skipped: tuple[str, ...]) -> str:
    of = f"{filled.left_over} of {need.replicas} replicas"
    excluded = f" ({', '.join(skipped)})" if skipped else ""
    if not filled.nodes:
        return f"no node can take {of}{excluded}"
    best = min(filled.nodes, key=lambda node: _shortfall(need, node))
    return (
        f"needs {_missing(need, best)} more for {of}; the largest gap is on {best.name}{excluded}"
    )


def _shortfall(need: Need, node: NodeRoom) -> tuple[float, float]:
    cpu = max(need.cpu - node.cpu, 0) / (need.cpu or 1)
    memory = max(need.memory - node.memory, 0) / (need.memory or 1)
    return max(cpu, memory), cpu + memory


def _missing(need: Need, node: NodeRoom) -> str:
    parts = []
    if need.cpu > node.cpu:
        parts.append(quantities.cpu_words(need.cpu - node.cpu))
    if need.memory > node.memory:
        parts.append(quantities.memory_words(need.memory - node.memory))
    return " and ".join(parts) or "1 pod"


def _quota_deficit(wanted: tuple[Need, ...], quotas: tuple[QuotaRoom, ...]) -> str | None:
    asked = {
        "pods": sum(need.replicas for need in wanted),
        "cpu": sum(need.replicas * need.cpu for need in wanted),
        "memory": sum(need.replicas * need.memory for need in wanted),
        "limits.cpu": sum(need.replicas * need.cpu_limit for need in wanted),
        "limits.memory": sum(need.replicas * need.memory_limit for need in wanted),
    }
    for quota in quotas:
        amount = asked.get(quota.resource.removeprefix("requests."), 0)
        if amount and amount > quota.left:
            missing = _amount(quota.resource, amount - quota.left)
            return f"the quota {quota.quota} leaves {missing} too little ({quota.resource})"
    return None


def _amount(resource: str, amount: int) -> str:
    if resource.endswith("cpu"):
        return quantities.cpu_words(amount)
    if resource.endswith("memory"):
        return quantities.memory_words(amount)
    return f"{amount} {resource}"
