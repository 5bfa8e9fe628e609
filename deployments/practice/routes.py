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
    match path.strip("/").split("/"):
        case ["api", version, *rest]:
            return _below(version, rest, path)
        case ["apis", group, version, *rest]:
            return _below(f"{group}/{version}", rest, path)
    return None


def _below(group_version: str, rest: Sequence[str], path: str) -> Target | None:
    match rest:
        case ["namespaces", _, "status"]:
            return _of_kind(group_version, "", rest, path)
        case ["namespaces", namespace, _, *_]:
            return _of_kind(group_version, namespace, rest[2:], path)
        case [_, *_]:
            return _of_kind(group_version, "", rest, path)
    return None


def _of_kind(group_version: str, namespace: str, rest: Sequence[str], path: str) -> Target | None:
    kind = _kind(group_version, rest[0])
    if kind is None or (namespace and not kind.namespaced):
        return None
    return _target(kind, namespace, rest[1:], path)


def _kind(group_version: str, plural: str) -> Kind | None:
    if group_version == EVENTS_V1.api_version and plural == EVENTS_V1.plural:
        return EVENTS_V1
    kind = KINDS.get(plural)
    return kind if kind is not None and kind.api_version == group_version else None


def _target(kind: Kind, namespace: str, rest: Sequence[str], path: str) -> Target | None:
    name, subresource, *more = [*rest, "", ""]
    if kind.namespaced and name and not namespace:
        return None
    if subresource and subresource not in kind.subresources:
        return None
    if subresource == "proxy":
        below = path.split(f"/{kind.plural}/{name}/proxy", 1)[1]
        return Target(kind, namespace, name, subresource, below)
    return None if any(more) else Target(kind, namespace, name, subresource)
