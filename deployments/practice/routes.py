"""From the path of a request to what it names: `/apis/apps/v1/namespaces/a/deployments/b/scale`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deployments.practice.kinds import EVENTS_V1, KINDS, Kind


@dataclass(frozen=True)
class Target:
    """An object, a collection (`name` empty) or a subresource; `rest` is what follows `/proxy`."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""

    @property
    def plural(self) -> str:
        return self.kind.plural


def target_of(path: str) -> Target | None:
    """Return what a resource path names, None when no resource is served there."""
    parts = path.strip("/").split("/")
    group_version, rest = _split(parts)
    if group_version is None:
        return None
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    kind = _kind(group_version, rest[0]) if rest else None
    if kind is None or (namespace and not kind.namespaced):
        return None
    return _target(kind, namespace, rest[1:], path)


def _split(parts: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    if parts[0] == "api" and len(parts) > 2:
        return parts[1], parts[2:]
    if parts[0] == "apis" and len(parts) > 3:
        return f"{parts[1]}/{parts[2]}", parts[3:]
    return None, ()


def _kind(group_version: str, plural: str) -> Kind | None:
    if group_version == EVENTS_V1.api_version and plural == EVENTS_V1.plural:
        return EVENTS_V1
    kind = KINDS.get(plural)
    return kind if kind is not None and kind.api_version == group_version else None


def _target(kind: Kind, namespace: str, rest: Sequence[str], path: str) -> Target | None:
    name = rest[0] if rest else ""
    subresource = rest[1] if len(rest) > 1 else ""
    if kind.namespaced and name and not namespace:
        return None
    if subresource and subresource not in kind.subresources:
        return None
    if subresource == "proxy":
        below = path.split(f"/{kind.plural}/{name}/proxy", 1)[1]
        return Target(kind, namespace, name, subresource, below)
    return Target(kind, namespace, name, subresource) if len(rest) < 3 else None
