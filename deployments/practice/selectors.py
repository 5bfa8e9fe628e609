"""Label and field selectors: parsing their text, and whether an object matches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deployments.practice import errors
from deployments.practice.kinds import Kind

Object = dict[str, Any]
Matches = Callable[[Object], bool]

_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?"
_SET = re.compile(rf"^(?P<key>{_NAME})\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)$")
_COMPARED = re.compile(rf"^(?P<key>{_NAME})\s*(?P<operator>==|=|!=)\s*(?P<value>[-A-Za-z0-9_.]*)$")
_PRESENT = re.compile(rf"^(?P<absent>!?)\s*(?P<key>{_NAME})$")
_COMMA = re.compile(r",(?![^()]*\))")


@dataclass(frozen=True)
class Requirement:
    """One part of a label selector; `values` is empty for mere presence."""

    key: str
    negated: bool
    values: frozenset[str] | None

    def holds(self, labels: Mapping[str, str]) -> bool:
        if self.values is None:
            return (self.key in labels) != self.negated
        # An absent label satisfies `!=` and `notin`, never `=` and `in`.
        return (labels.get(self.key) in self.values) != self.negated


def label_matcher(text: str) -> Matches:
    """Return whether an object's labels match `a=b,c in (d,e),!f`. Raises 400."""
    requirements = [_requirement(part.strip(), text) for part in _COMMA.split(text)] if text else []
    return lambda obj: all(r.holds(obj["metadata"].get("labels", {})) for r in requirements)


def _requirement(part: str, text: str) -> Requirement:
    if found := _SET.match(part):
        values = frozenset(value.strip() for value in found["values"].split(","))
        return Requirement(found["key"], found["operator"] == "notin", values)
    if found := _COMPARED.match(part):
        return Requirement(found["key"], found["operator"] == "!=", frozenset({found["value"]}))
    if found := _PRESENT.match(part):
        return Requirement(found["key"], found["absent"] == "!", None)
    raise errors.bad_request(f"unable to parse requirement: found '{part}' in '{text}'")


def selector_matcher(selector: Mapping[str, Any]) -> Callable[[Mapping[str, str]], bool]:
    """Return whether labels match a LabelSelector object (`matchLabels`, `matchExpressions`)."""
    requirements = [
        Requirement(key, False, frozenset({value}))
        for key, value in selector.get("matchLabels", {}).items()
    ]
    for found in selector.get("matchExpressions", []):
        negated = found["operator"] in ("NotIn", "DoesNotExist")
        values = frozenset(found["values"]) if "values" in found else None
        requirements.append(Requirement(found["key"], negated, values))
    return lambda labels: all(r.holds(labels) for r in requirements)


_COMMON_FIELDS = ("metadata.name", "metadata.namespace")
_INVOLVED = ("apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid")
FIELDS: Mapping[str, tuple[str, ...]] = {
    "pods": (
        "spec.hostNetwork",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.nominatedNodeName",
        "status.phase",
        "status.podIP",
        "status.podIPs",
    ),
    "events": (
        *(f"involvedObject.{name}" for name in _INVOLVED),
        *(f"regarding.{name}" for name in _INVOLVED),
        "reason",
        "reportingComponent",
        "reportingController",
        "source",
        "type",
    ),
    "jobs": ("status.successful",),
    "namespaces": ("name", "status.phase"),
    "nodes": ("spec.unschedulable",),
    "replicasets": ("status.replicas",),
    "secrets": ("type",),
    "services": ("spec.clusterIP", "spec.type"),
}
_STORED_NAMES = {
    "name": "metadata.name",
    "source": "source.component",
    "reportingController": "reportingComponent",
    "status.successful": "status.succeeded",
}


def field_matcher(kind: Kind, text: str) -> Matches:
    """Return whether an object matches `status.phase=Running,spec.nodeName!=a`. Raises 400."""
    terms = [_term(kind, part) for part in text.split(",")] if text else []
    return lambda obj: all((_value(obj, path) == value) != no for path, value, no in terms)


def _term(kind: Kind, part: str) -> tuple[str, str, bool]:
    name, operator, value = _split_term(part)
    if name not in _COMMON_FIELDS and name not in FIELDS.get(kind.plural, ()):
        raise errors.bad_request(_unknown_field(kind, name))
    path = _STORED_NAMES.get(name, name).replace("regarding.", "involvedObject.")
    return path, value, operator == "!="


def _split_term(part: str) -> tuple[str, str, str]:
    for operator in ("!=", "==", "="):
        name, found, value = part.partition(operator)
        if found:
            return name.strip(), operator, value.strip()
    raise errors.bad_request(f"invalid selector: '{part}'; can't understand '{part}'")


def _unknown_field(kind: Kind, name: str) -> str:
    if kind.plural in FIELDS:
        return f"field label not supported: {name}"
    return f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def _value(obj: Object, path: str) -> str:
    found: Any = obj
    for name in path.split("."):
        found = found.get(name, "") if isinstance(found, dict) else ""
    if isinstance(found, bool):
        return str(found).lower()
    return str(found)
