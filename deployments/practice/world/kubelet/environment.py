"""The environment and arguments of a container, from Secrets, ConfigMaps and its pod."""

from __future__ import annotations

import base64
import re
from typing import Any

from deployments.practice.world.kubelet.images import Image
from deployments.practice.world.program import ENTRYPOINT
from deployments.practice.world.quantities import amount
from deployments.practice.world.view import View, annotations_of, labels_of

Obj = dict[str, Any]

EXPANDED = re.compile(r"\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)")
NOBODY = 65532


class ConfigProblem(Exception):
    """What the container needs is not there; the text is the kubelet's."""


class StartProblem(Exception):
    """The runtime could not start the command; the text is runc's."""


def environment(pod: Obj, container: Obj, image: Image, view: View) -> dict[str, str]:
    """Return what the program will find. Raises ConfigProblem for a missing object or key."""
    found = dict(image.env)
    found["HOSTNAME"] = pod["spec"].get("hostname") or pod["metadata"]["name"]
    for source in container.get("envFrom") or []:
        found |= _from_whole(source, pod, view)
    for variable in container.get("env") or []:
        value = _value(variable, pod, container, view, found)
        if value is not None:
            found[variable["name"]] = value
    return found


def check_user(pod: Obj, container: Obj) -> None:
    """Raise ConfigProblem where the user breaks `runAsNonRoot`.

    The images run as an ordinary user.
    """
    of_pod = pod["spec"].get("securityContext") or {}
    context = {**of_pod, **(container.get("securityContext") or {})}
    if context.get("runAsNonRoot") and context.get("runAsUser", NOBODY) == 0:
        metadata = pod["metadata"]
        name = f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"
        where = f'(pod: "{name}", container: {container["name"]})'
        raise ConfigProblem(f"container's runAsUser breaks non-root policy {where}")


def arguments(container: Obj, image: Image, env: dict[str, str]) -> tuple[str, ...]:
    """Return what follows the program's name. Raises StartProblem for another program."""
    command = [expand(word, env) for word in container.get("command") or []]
    given = [expand(word, env) for word in container.get("args") or []]
    if command and command[0] != ENTRYPOINT:
        raise StartProblem(_no_such_program(command[0]))
    if command:
        return (*command[1:], *given)
    return tuple(given) if given else image.command


def _no_such_program(name: str) -> str:
    why = (
        f'exec: "{name}": stat {name}: no such file or directory'
        if "/" in name
        else f'exec: "{name}": executable file not found in $PATH'
    )
    return (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
        f"runc create failed: unable to start container process: {why}: unknown"
    )


def expand(text: str, env: dict[str, str]) -> str:
    """Replace `$(NAME)` by its value; unknown names stay, `$$` is one dollar."""

    def replaced(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return env.get(match[1], match[0])

    return EXPANDED.sub(replaced, text)


def _value(
    variable: Obj, pod: Obj, container: Obj, view: View, so_far: dict[str, str]
) -> str | None:
    source = variable.get("valueFrom")
    if not source:
        return expand(str(variable.get("value", "")), so_far)
    if "secretKeyRef" in source:
        return _key(source["secretKeyRef"], "secrets", pod, view)
    if "configMapKeyRef" in source:
        return _key(source["configMapKeyRef"], "configmaps", pod, view)
    if "fieldRef" in source:
        return _field(source["fieldRef"]["fieldPath"], pod)
    return _resource(source.get("resourceFieldRef", {}), container)


def _data(reference: Obj, plural: str, pod: Obj, view: View) -> dict[str, str] | None:
    """Return the content of a Secret or ConfigMap; None where it is optional and missing."""
    namespace = pod["metadata"]["namespace"]
    found = view.find(plural, namespace, reference["name"])
    if found is not None:
        return _decoded(found, plural)
    if reference.get("optional"):
        return None
    word = "secret" if plural == "secrets" else "configmap"
    raise ConfigProblem(f'{word} "{reference["name"]}" not found')


def _decoded(obj: Obj, plural: str) -> dict[str, str]:
    data = obj.get("data") or {}
    if plural == "configmaps":
        return dict(data)
    return {k: base64.b64decode(v).decode(errors="replace") for k, v in data.items()}


def _key(reference: Obj, plural: str, pod: Obj, view: View) -> str | None:
    data = _data(reference, plural, pod, view)
    if data is not None and reference["key"] in data:
        return data[reference["key"]]
    if reference.get("optional"):
        return None
    kind = "Secret" if plural == "secrets" else "ConfigMap"
    where = f"{pod['metadata']['namespace']}/{reference['name']}"
    raise ConfigProblem(f"couldn't find key {reference['key']} in {kind} {where}")


def _from_whole(source: Obj, pod: Obj, view: View) -> dict[str, str]:
    for name, plural in (("secretRef", "secrets"), ("configMapRef", "configmaps")):
        if name in source:
            data = _data(source[name], plural, pod, view) or {}
            prefix = source.get("prefix", "")
            return {prefix + key: value for key, value in data.items()}
    return {}


def _field(path: str, pod: Obj) -> str:
    metadata, status = pod["metadata"], pod.get("status", {})
    plain = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": pod["spec"].get("nodeName", ""),
        "spec.serviceAccountName": pod["spec"].get("serviceAccountName", ""),
        "status.podIP": status.get("podIP", ""),
        "status.hostIP": status.get("hostIP", ""),
    }
    if path in plain:
        return str(plain[path])
    for prefix, values in (("labels", labels_of(pod)), ("annotations", annotations_of(pod))):
        if path.startswith(f"metadata.{prefix}['"):
            return values.get(path[len(f"metadata.{prefix}['") : -2], "")
    return ""


def _resource(reference: Obj, container: Obj) -> str:
    section, _, name = reference.get("resource", "").partition(".")
    found = (container.get("resources", {}).get(section) or {}).get(name, "0")
    divisor = amount(reference.get("divisor") or "1") or amount("1")
    return str(int(-(-amount(found) // divisor)))
