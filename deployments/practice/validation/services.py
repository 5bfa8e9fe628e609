"""Services, events, secrets, config maps and claims."""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import Cause
from deployments.practice.validation import words
from deployments.practice.validation.metadata import check_labels
from deployments.practice.validation.pods import PROTOCOLS, check_target_port

Object = dict[str, Any]

TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
CLAIM_CHANGES = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName "
    "for bound claims"
)
IMMUTABLE_SET = "field is immutable when `immutable` is set"


def check_service(new: Object) -> list[Cause]:
    spec = new["spec"]
    causes: list[Cause] = []
    ports = spec.get("ports", [])
    if not ports and spec.get("clusterIP") != "None" and spec["type"] != "ExternalName":
        causes.append(words.required("spec.ports"))
    seen: set[tuple[Any, Any]] = set()
    names: set[str] = set()
    for index, port in enumerate(ports):
        field = f"spec.ports[{index}]"
        causes += _check_port(port, field, named=len(ports) > 1, names=names)
        key = port.get("port"), port["protocol"]
        if key in seen:
            causes.append(words.duplicate(field, _without_names(port)))
        seen.add(key)
    causes += check_labels(spec.get("selector", {}), "spec.selector")
    if spec["type"] not in TYPES:
        causes.append(words.not_supported("spec.type", spec["type"], TYPES))
    return causes


def _without_names(port: Object) -> Object:
    """Return a port as this one message shows it: the real one prints its own structure."""
    protocol, number = port["protocol"], port.get("port", 0)
    shown = {"Name": "", "Protocol": protocol, "AppProtocol": None, "Port": number}
    return {**shown, "TargetPort": 0, "NodePort": 0}


def _check_port(port: Object, field: str, *, named: bool, names: set[str]) -> list[Cause]:
    causes: list[Cause] = []
    name = port.get("name", "")
    if not name and named:
        causes.append(words.required(f"{field}.name"))
    elif name:
        causes += [words.invalid(f"{field}.name", name, why) for why in words.label(name)]
        if name in names:
            causes.append(words.duplicate(f"{field}.name", name))
        names.add(name)
    causes += words.port_number(f"{field}.port", port.get("port", 0))
    if port["protocol"] not in PROTOCOLS:
        causes.append(words.not_supported(f"{field}.protocol", port["protocol"], PROTOCOLS))
    if "targetPort" in port:
        causes += check_target_port(port["targetPort"], f"{field}.targetPort")
    return causes


def check_service_change(new: Object, old: Object) -> list[Cause]:
    if old["spec"]["type"] == "ExternalName" or new["spec"]["type"] == "ExternalName":
        return []
    after, before = new["spec"].get("clusterIP"), old["spec"].get("clusterIP")
    if after == before:
        return []
    listed = f'["{after}"]'
    why = "may not change once set"
    return [
        Cause("FieldValueInvalid", f"Invalid value: {listed}: {why}", "spec.clusterIPs[0]"),
    ]


def check_event(new: Object) -> list[Cause]:
    involved = new.get("involvedObject", {}).get("namespace", "")
    if involved and involved != new["metadata"]["namespace"]:
        field, why = "involvedObject.namespace", "does not match event.namespace"
        return [words.invalid(field, involved, why)]
    return []


def check_keys(new: Object) -> list[Cause]:
    """Check the names of what a Secret or ConfigMap holds."""
    causes: list[Cause] = []
    for group in ("data", "binaryData"):
        for key in sorted(new.get(group, {})):
            wrong = words.config_key(key)
            causes += [words.invalid(f"{group}[{key}]", key, why) for why in wrong]
    return causes


def check_content_change(new: Object, old: Object) -> list[Cause]:
    """Refuse another type of a Secret, and any change of what was made immutable."""
    causes: list[Cause] = []
    if new.get("type") != old.get("type"):
        causes.append(words.invalid("type", new.get("type"), "field is immutable"))
    if old.get("immutable"):
        if not new.get("immutable"):
            causes.append(words.forbidden("immutable", IMMUTABLE_SET))
        causes += [
            words.forbidden(group, IMMUTABLE_SET)
            for group in ("data", "binaryData")
            if new.get(group) != old.get(group)
        ]
    return causes


def check_claim(new: Object) -> list[Cause]:
    spec = new["spec"]
    causes: list[Cause] = []
    if not spec.get("accessModes"):
        causes.append(words.required("spec.accessModes", "at least 1 access mode is required"))
    if "storage" not in spec.get("resources", {}).get("requests", {}):
        causes.append(words.required("spec.resources[storage]"))
    return causes


def check_claim_change(new: Object, old: Object) -> list[Cause]:
    if _fixed_claim(new["spec"], old["spec"]) == _fixed_claim(old["spec"], old["spec"]):
        return []
    return [words.forbidden("spec", CLAIM_CHANGES)]


def _fixed_claim(spec: Object, old: Object) -> Object:
    """Leave out what may change: growth, and what the binder fills in once."""
    free = {"resources", "volumeAttributesClassName"}
    free |= {name for name in ("volumeName", "storageClassName") if name not in old}
    return {name: value for name, value in spec.items() if name not in free}
