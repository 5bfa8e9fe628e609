"""Which lists are keyed and which values are replaced as a whole, by field name.

Server-side apply and strategic merge patches decide by it. Only the kinds served are here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Path = Sequence[str]

# The key fields of lists that are merged item by item, in server-side apply.
APPLY_KEYS: Mapping[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "conditions": ("type",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "hostIPs": ("ip",),
    "secrets": ("name",),
}
CONTAINER_PORTS = ("containerPort", "protocol")
SERVICE_PORTS = ("port", "protocol")

# The one key that strategic merge patches use.
MERGE_KEYS: Mapping[str, str] = {
    name: keys[0] for name, keys in APPLY_KEYS.items()
} | {"addresses": "type"}  # fmt: skip

SETS = frozenset({"finalizers"})

# Objects that are replaced as a whole: selectors and references.
ATOMIC = frozenset(
    {
        "selector",
        "labelSelector",
        "namespaceSelector",
        "nodeSelector",
        "nodeSelectorTerms",
        "secretKeyRef",
        "configMapKeyRef",
        "fieldRef",
        "resourceFieldRef",
        "involvedObject",
        "regarding",
        "scopeSelector",
        "claimRef",
        "targetRef",
    }
)

# Free names inside: an apply that gives up its entries leaves the map itself.
MAPS = frozenset({"annotations", "binaryData", "data", "hard", "labels", "limits", "requests"})

DEFAULT_OF_KEY: Mapping[str, Any] = {"protocol": "TCP"}


def keys_of(path: Path) -> tuple[str, ...] | None:
    """Return the key fields of the list at this path of names, or None where it is atomic."""
    if not path:
        return None
    if path[-1] == "ports":
        return _port_keys(path)
    if path[-1] == "secrets" and len(path) > 1:
        return None
    return APPLY_KEYS.get(path[-1])


def merge_key(path: Path) -> str | None:
    """Return the key of a list in a strategic merge patch, or None where it is replaced."""
    if not path:
        return None
    if path[-1] == "ports":
        keys = _port_keys(path)
        return keys[0] if keys else None
    return MERGE_KEYS.get(path[-1])


def _port_keys(path: Path) -> tuple[str, ...] | None:
    if len(path) > 1 and path[-2] in ("containers", "initContainers", "ephemeralContainers"):
        return CONTAINER_PORTS
    return SERVICE_PORTS if list(path) == ["spec", "ports"] else None


def is_atomic(path: Path) -> bool:
    return bool(path) and path[-1] in ATOMIC


def is_map(name: str) -> bool:
    return name in MAPS


def is_set(path: Path) -> bool:
    return bool(path) and path[-1] in SETS


def key_values(item: Mapping[str, Any], keys: Sequence[str]) -> tuple[Any, ...]:
    """Return what identifies an item of a keyed list, with the defaults of missing keys."""
    return tuple(item.get(key, DEFAULT_OF_KEY.get(key)) for key in keys)
