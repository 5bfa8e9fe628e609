"""The kinds that the practice cluster serves, as one table. How they behave is not here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

EVERY_VERB = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)


@dataclass(frozen=True)
class Kind:
    """One kind of object; `plural` is unique among the kinds served and is the key of the store."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = EVERY_VERB
    has_generation: bool = False

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The name in error messages: `pods`, `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def singular(self) -> str:
        return self.kind.lower()


_STATUS = ("status",)
_SCALED = ("scale", "status")
_ALL = ("all",)

_TABLE = (
    Kind("", "v1", "configmaps", "ConfigMap", short_names=("cm",)),
    Kind("", "v1", "endpoints", "Endpoints", short_names=("ep",)),
    Kind("", "v1", "events", "Event", short_names=("ev",)),
    Kind("", "v1", "limitranges", "LimitRange", short_names=("limits",)),
    Kind("", "v1", "namespaces", "Namespace", False, ("ns",), _STATUS),
    Kind("", "v1", "nodes", "Node", False, ("no",), _STATUS),
    Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", True, ("pvc",), _STATUS),
    Kind("", "v1", "persistentvolumes", "PersistentVolume", False, ("pv",), _STATUS),
    Kind(
        "",
        "v1",
        "pods",
        "Pod",
        short_names=("po",),
        subresources=("log", "proxy", "status"),
        categories=_ALL,
        has_generation=True,
    ),
    Kind("", "v1", "resourcequotas", "ResourceQuota", True, ("quota",), _STATUS),
    Kind("", "v1", "secrets", "Secret"),
    Kind("", "v1", "serviceaccounts", "ServiceAccount", short_names=("sa",)),
    Kind("", "v1", "services", "Service", True, ("svc",), ("proxy", "status"), _ALL),
    Kind(
        "apps", "v1", "deployments", "Deployment", True, ("deploy",), _SCALED, _ALL,
        has_generation=True,
    ),
    Kind(
        "apps", "v1", "replicasets", "ReplicaSet", True, ("rs",), _SCALED, _ALL,
        has_generation=True,
    ),
    Kind("batch", "v1", "cronjobs", "CronJob", True, ("cj",), _STATUS, _ALL, has_generation=True),
    Kind("batch", "v1", "jobs", "Job", True, (), _STATUS, _ALL, has_generation=True),
    Kind("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", has_generation=True),
    Kind("storage.k8s.io", "v1", "storageclasses", "StorageClass", False, ("sc",)),
)  # fmt: skip

KINDS: Mapping[str, Kind] = {kind.plural: kind for kind in _TABLE}

# The same objects as core v1 events, under the names of their newer group.
EVENTS_V1 = Kind("events.k8s.io", "v1", "events", "Event", short_names=("ev",))


def options_kind(name: str) -> Kind:
    """Return the kind under which wrong options of a request are refused."""
    return Kind("meta.k8s.io", "v1", name.lower(), name)
