"""Pods and pod templates: containers, ports, variables, resources, probes and volumes."""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import Cause
from deployments.practice.jsons import Json
from deployments.practice.quantities import amount
from deployments.practice.validation import words

Object = dict[str, Any]

PULL_POLICIES = ["Always", "IfNotPresent", "Never"]
PROTOCOLS = ["SCTP", "TCP", "UDP"]
RESTART_POLICIES = ["Always", "OnFailure", "Never"]
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
POD_CHANGES = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)"
)
CHANGEABLE = ("activeDeadlineSeconds", "tolerations", "nodeName", "terminationGracePeriodSeconds")


def check_pod_spec(spec: Object, field: str) -> list[Cause]:
    """Return what is wrong with the spec of a pod or template; `field` is its path."""
    volumes = _check_volumes(spec.get("volumes", []), f"{field}.volumes")
    containers = spec.get("containers", [])
    causes = list(volumes)
    if not containers:
        causes.append(words.required(f"{field}.containers"))
    names = {volume.get("name") for volume in spec.get("volumes", [])}
    seen: set[str] = set()
    for group in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(group, [])):
            causes += _check_container(container, f"{field}.{group}[{index}]", names)
            name = container.get("name", "")
            if name and name in seen:
                causes.append(words.duplicate(f"{field}.{group}[{index}].name", name))
            seen.add(name)
    if spec["restartPolicy"] not in RESTART_POLICIES:
        path = f"{field}.restartPolicy"
        causes.append(words.not_supported(path, spec["restartPolicy"], RESTART_POLICIES))
    return causes + _check_sleeps(spec, f"{field}.containers")


def _check_sleeps(spec: Object, field: str) -> list[Cause]:
    """Refuse a preStop sleep that is longer than the whole grace period."""
    grace = spec["terminationGracePeriodSeconds"]
    why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
    causes = []
    for index, container in enumerate(spec.get("containers", [])):
        sleep = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {})
        if not 0 <= sleep.get("seconds", 0) <= max(grace, 0):
            path = f"{field}[{index}].lifecycle.preStop.sleep"
            causes.append(words.invalid(path, sleep["seconds"], why))
    return causes


def _check_volumes(volumes: list[Object], field: str) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, volume in enumerate(volumes):
        name, path = volume.get("name", ""), f"{field}[{index}].name"
        if not name:
            causes.append(words.required(path))
        elif name in seen:
            causes.append(words.duplicate(path, name))
        else:
            causes += [words.invalid(path, name, why) for why in words.label(name)]
        seen.add(name)
    return causes


def _check_container(container: Object, field: str, volumes: set[Any]) -> list[Cause]:
    name = container.get("name", "")
    causes = [] if name else [words.required(f"{field}.name")]
    if name:
        causes += [words.invalid(f"{field}.name", name, why) for why in words.label(name)]
    image = container.get("image", "")
    if not image:
        causes.append(words.required(f"{field}.image"))
    causes += _check_ports(container.get("ports", []), f"{field}.ports")
    causes += _check_variables(container.get("env", []), f"{field}.env")
    causes += _check_mounts(container.get("volumeMounts", []), f"{field}.volumeMounts", volumes)
    if container["imagePullPolicy"] not in PULL_POLICIES:
        path = f"{field}.imagePullPolicy"
        causes.append(words.not_supported(path, container["imagePullPolicy"], PULL_POLICIES))
    for probe in PROBES:
        if probe in container:
            causes += _check_probe(container[probe], f"{field}.{probe}", probe)
    return causes + _check_resources(container["resources"], f"{field}.resources")


def _check_ports(ports: list[Object], field: str) -> list[Cause]:
    causes = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        path = f"{field}[{index}]"
        name = port.get("name", "")
        if name:
            causes += [words.invalid(f"{path}.name", name, why) for why in words.port_name(name)]
            if name in seen:
                causes.append(words.duplicate(f"{path}.name", name))
        seen.add(name)
        if "containerPort" not in port:
            causes.append(words.required(f"{path}.containerPort"))
        else:
            causes += words.port_number(f"{path}.containerPort", port["containerPort"])
        if port["protocol"] not in PROTOCOLS:
            causes.append(words.not_supported(f"{path}.protocol", port["protocol"], PROTOCOLS))
    return causes


def _check_variables(variables: list[Object], field: str) -> list[Cause]:
    causes = []
    for index, variable in enumerate(variables):
        name = variable.get("name", "")
        if not name:
            causes.append(words.required(f"{field}[{index}].name"))
            continue
        wrong = words.env_name(name)
        causes += [words.invalid(f"{field}[{index}].name", name, why) for why in wrong]
        if variable.get("value") and variable.get("valueFrom"):
            path, why = (
                f"{field}[{index}].valueFrom",
                "may not be specified when `value` is not empty",
            )
            causes.append(words.invalid(path, "", why))
    return causes


def _check_mounts(mounts: list[Object], field: str, volumes: set[Any]) -> list[Cause]:
    causes = []
    seen: set[str] = set()
    for index, mount in enumerate(mounts):
        name, path = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            causes.append(words.required(f"{field}[{index}].name"))
        elif name not in volumes:
            message = f"Not found: {words.quoted(name)}"
            causes.append(Cause("FieldValueNotFound", message, f"{field}[{index}].name"))
        if not path:
            causes.append(words.required(f"{field}[{index}].mountPath"))
        elif path in seen:
            why = "must be unique"
            causes.append(words.invalid(f"{field}[{index}].mountPath", path, why))
        seen.add(path)
    return causes


def _check_probe(probe: Object, field: str, kind: str) -> list[Cause]:
    handlers = [name for name in HANDLERS if name in probe]
    causes: list[Cause] = []
    if not handlers:
        causes.append(words.required(field, "must specify a handler type"))
    for extra in handlers[1:]:
        why = "may not specify more than 1 handler type"
        causes.append(words.forbidden(f"{field}.{extra}", why))
    for handler in ("httpGet", "tcpSocket"):
        if handler in probe:
            causes += check_target_port(probe[handler].get("port", 0), f"{field}.{handler}.port")
    for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "failureThreshold"):
        causes += words.at_least_zero(f"{field}.{name}", probe.get(name))
    if kind != "readinessProbe" and probe["successThreshold"] != 1:
        causes.append(
            words.invalid(f"{field}.successThreshold", probe["successThreshold"], "must be 1")
        )
    return causes


def check_target_port(port: Json, field: str) -> list[Cause]:
    """Check a probe's or service's port, which is a number or the name of a container's."""
    if isinstance(port, str):
        return [words.invalid(field, port, why) for why in words.port_name(port)]
    return words.port_number(field, port)


def _check_resources(resources: Object, field: str) -> list[Cause]:
    causes = []
    limits = resources.get("limits", {})
    for group in ("limits", "requests"):
        for name, value in sorted(resources.get(group, {}).items()):
            if amount(value) < 0:
                why = "must be greater than or equal to 0"
                causes.append(words.invalid(f"{field}.{group}[{name}]", str(value), why))
    for name, value in sorted(resources.get("requests", {}).items()):
        if name in limits and amount(value) > amount(limits[name]):
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            causes.append(words.invalid(f"{field}.requests", str(value), why))
    return causes


def check_pod_change(new: Object, old: Object) -> list[Cause]:
    """Refuse what cannot be changed on a pod; binding it to its node is the one exception."""
    if _fixed(new["spec"]) == _fixed(old["spec"]):
        return []
    return [words.forbidden("spec", POD_CHANGES)]


def _fixed(spec: Object) -> Object:
    kept = {name: value for name, value in spec.items() if name not in CHANGEABLE}
    for group in ("containers", "initContainers"):
        kept[group] = [{**found, "image": ""} for found in spec.get(group, [])]
    return kept
