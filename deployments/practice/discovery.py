"""What the API server says about itself: groups, versions, resources, health."""

from __future__ import annotations

from typing import Any

from deployments.practice.kinds import EVENTS_V1, KINDS, Kind
from deployments.practice.requests import Response, json_response
from deployments.practice.scale import SCALE

Object = dict[str, Any]

VERSION = {
    "major": "1",
    "minor": "34",
    "emulationMajor": "1",
    "emulationMinor": "34",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "33",
    "gitVersion": "v1.34.4",
    "gitCommit": "practice",
    "gitTreeState": "",
    "buildDate": "2026-01-01T00:00:00Z",
    "goVersion": "go1.26.8",
    "compiler": "gc",
    "platform": "linux/amd64",
}
ACCESS_REVIEW = Kind(
    "authorization.k8s.io",
    "v1",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
    False,
    verbs=("create",),
)
KINDS_SERVED = (*KINDS.values(), EVENTS_V1, ACCESS_REVIEW)
HEALTH_PATHS = ("/healthz", "/livez", "/readyz")
SUBRESOURCE_VERBS = {
    "log": ["get"],
    "proxy": ["create", "delete", "get", "patch", "update"],
    "scale": ["get", "patch", "update"],
    "status": ["get", "patch", "update"],
}


def discovery(path: str) -> Response | None:
    """Return the answer to a path that is not about objects, None when it is another one."""
    # Clients ask for both `/version` and `/version/`.
    path = path.rstrip("/")
    if path in HEALTH_PATHS:
        return Response(200, b"ok", "text/plain; charset=utf-8")
    if path == "/version":
        return json_response(VERSION)
    if path == "/api":
        return json_response({"kind": "APIVersions", "versions": ["v1"]})
    if path == "/apis":
        groups = [_group(group) for group in _groups()]
        return json_response({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    return _of_group(path)


def _of_group(path: str) -> Response | None:
    root, _, version = path.strip("/").partition("/")
    if root == "apis" and version in _groups():
        return json_response({"kind": "APIGroup", "apiVersion": "v1", **_group(version)})
    if root not in ("api", "apis") or (root == "api") != (version == "v1"):
        return None
    found = [kind for kind in KINDS_SERVED if kind.api_version == version]
    return json_response(_resources(version, found)) if found else None


def _groups() -> list[str]:
    return sorted({kind.group for kind in KINDS_SERVED if kind.group})


def _group(name: str) -> Object:
    version = next(kind.version for kind in KINDS_SERVED if kind.group == name)
    served = {"groupVersion": f"{name}/{version}", "version": version}
    return {"name": name, "versions": [served], "preferredVersion": served}


def _resources(version: str, kinds: list[Kind]) -> Object:
    resources: list[Object] = []
    for kind in sorted(kinds, key=lambda kind: kind.plural):
        resources.append(_resource(kind))
        resources.extend(_subresource(kind, name) for name in kind.subresources)
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": version,
        "resources": resources,
    }


def _resource(kind: Kind) -> Object:
    found: Object = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        found["shortNames"] = list(kind.short_names)
    if kind.categories:
        found["categories"] = list(kind.categories)
    return found


def _subresource(kind: Kind, name: str) -> Object:
    found: Object = {
        "name": f"{kind.plural}/{name}",
        "singularName": "",
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": SUBRESOURCE_VERBS[name],
    }
    if name == "scale":
        found |= {"group": SCALE.group, "version": SCALE.version, "kind": SCALE.kind}
    if name == "proxy":
        found["kind"] = f"{kind.kind}ProxyOptions"
    return found
