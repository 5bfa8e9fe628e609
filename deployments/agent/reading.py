"""One look at a cluster: what was read, and the part of it that belongs to one slot.

Reading it is `kube.py`'s; what the objects mean is `translate.py`'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from deployments.agent import translate
from deployments.agent.cluster import Unreachable
from deployments.agent.translate import Json
from deployments.domain import names
from deployments.domain.names import Place
from deployments.domain.observations import Endpoint, Seen, ServiceSeen

# The order matters. What is read later may be newer, so everything is judged by the older word:
# a Deployment before its pods (pods that are gone then stay gone), a Service before its endpoints
# (endpoints of the new release are then a consequence of the switch, never a memory).
KINDS: tuple[tuple[str, ...], ...] = (
    ("apps", "v1", "deployments"),
    ("batch", "v1", "jobs"),
    ("batch", "v1", "cronjobs"),
    ("", "v1", "services"),
    ("discovery.k8s.io", "v1", "endpointslices"),
    ("", "v1", "pods"),
)

BySlot = Mapping[str, list[Json]]


@dataclass(frozen=True)
class NamespaceRead:
    """The objects of one namespace, by plural and slot; or why it refused to be read."""

    objects: Mapping[str, BySlot] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True)
class KubeReading:
    """What one look read of a cluster."""

    namespaces: Mapping[str, NamespaceRead]
    nodes: Sequence[Json]

    def seen(self, place: Place, now: datetime) -> Seen:
        """Return what belongs to one slot. Raises Unreachable where its namespace was not read."""
        namespace = self.namespaces.get(place.namespace)
        if namespace is None:
            raise Unreachable(f"the namespace {place.namespace} was not read")
        if namespace.refused:
            raise Unreachable(namespace.refused)
        return _slot(namespace, place, now, translate.silent_nodes(self.nodes))


def by_slot(objects: Sequence[Json]) -> BySlot:
    """Return objects by the slot that their labels name; one without a slot is nobody's."""
    slots: dict[str, list[Json]] = defaultdict(list)
    for found in objects:
        labels = translate.words(translate.mapping(found.get("metadata")).get("labels"))
        if slot := labels.get(names.SLOT):
            slots[slot].append(found)
    return slots


def _slot(
    namespace: NamespaceRead, place: Place, now: datetime, silent_nodes: frozenset[str]
) -> Seen:
    def ours(plural: str) -> list[Json]:
        return namespace.objects.get(plural, {}).get(str(place.slot), [])

    services = tuple(translate.service(found) for found in ours("services"))
    return Seen(
        now=now,
        workloads=tuple(translate.workload(found) for found in ours("deployments")),
        pods=tuple(translate.pod(found) for found in ours("pods")),
        jobs=tuple(translate.job(found) for found in ours("jobs")),
        cron_jobs=tuple(translate.cron_job(found) for found in ours("cronjobs")),
        services=services,
        endpoints=_stable_endpoints(services, ours("endpointslices"), place.service),
        silent_nodes=silent_nodes,
    )


def _stable_endpoints(
    services: tuple[ServiceSeen, ...], slices: list[Json], service: str
) -> tuple[Endpoint, ...]:
    stable = names.stable_service_name(service)
    uid = next((found.meta.ref.uid for found in services if found.meta.name == stable), "")
    return translate.endpoints(slices, uid)
