"""Values of a wrong type, which the real one refuses with 400 before it looks at anything else.

Only what a client's templates get wrong easily is looked at: texts, whole numbers and quantities.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from deployments.practice.errors import ApiError, bad_request
from deployments.practice.jsons import Json
from deployments.practice.kinds import Kind
from deployments.practice.quantities import amount

Object = dict[str, Any]

GO_NAMES = {
    bool: "bool",
    int: "number",
    float: "number",
    dict: "object",
    list: "array",
    str: "string",
}
QUANTITY_WORDS = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
TEMPLATES = {
    "cronjobs": ("spec", "jobTemplate", "spec", "template"),
    "deployments": ("spec", "template"),
    "jobs": ("spec", "template"),
    "replicasets": ("spec", "template"),
}


def check_types(kind: Kind, obj: Object) -> None:
    """Raise 400 for the first value of a wrong type."""
    _check_texts(kind, obj["metadata"], "metadata")
    if kind.plural == "configmaps":
        _check_map(kind, obj.get("data", {}), "ConfigMap.data")
    if kind.plural == "secrets":
        _check_secret(kind, obj)
    _check_replicas(kind, obj)
    for path, template in _pods(kind, obj):
        if "metadata" in template and path:
            _check_texts(kind, template["metadata"], f"{path}.metadata")
        for container in _containers(template):
            _check_container(kind, container, f"{path}.spec".lstrip("."))


def _refused(kind: Kind, why: str) -> ApiError:
    return bad_request(
        f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {why}'
    )


def _wrong_type(kind: Kind, value: Json, field: str, wanted: str) -> ApiError:
    given = GO_NAMES[type(value)]
    return _refused(
        kind, f"json: cannot unmarshal {given} into Go struct field {field} of type {wanted}"
    )


def _check_texts(kind: Kind, metadata: Object, path: str) -> None:
    for group in ("labels", "annotations"):
        _check_map(kind, metadata.get(group, {}), f"ObjectMeta.{path}.{group}")


def _check_map(kind: Kind, values: Json, field: str) -> None:
    for value in values.values():
        if not isinstance(value, str):
            raise _wrong_type(kind, value, field, "string")


def _check_secret(kind: Kind, obj: Object) -> None:
    for value in obj.get("data", {}).values():
        if not isinstance(value, str):
            raise _wrong_type(kind, value, "Secret.data", "[]uint8")
        try:
            base64.b64decode(value, validate=True)
        except binascii.Error:
            position = next((n for n, letter in enumerate(value) if not _is_base64(letter)), 0)
            raise _refused(kind, f"illegal base64 data at input byte {position}") from None


def _is_base64(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter in "+/=")


def _check_replicas(kind: Kind, obj: Object) -> None:
    replicas = obj.get("spec", {}).get("replicas") if isinstance(obj.get("spec"), dict) else None
    if replicas is not None and (not isinstance(replicas, int) or isinstance(replicas, bool)):
        raise _wrong_type(kind, replicas, f"{kind.kind}Spec.spec.replicas", "int32")


def _pods(kind: Kind, obj: Object) -> Iterator[tuple[str, Object]]:
    if kind.plural == "pods":
        yield "", obj
    path = TEMPLATES.get(kind.plural, ())
    found: Any = obj
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    if path and isinstance(found, dict):
        yield ".".join(path), found


def _containers(template: Object) -> list[Object]:
    spec = template.get("spec", {})
    return [*spec.get("containers", []), *spec.get("initContainers", [])]


def _check_container(kind: Kind, container: Object, path: str) -> None:
    for variable in container.get("env", []):
        value = variable.get("value", "")
        if not isinstance(value, str):
            raise _wrong_type(kind, value, f"EnvVar.{path}.containers.env.value", "string")
    for group in ("limits", "requests"):
        for value in container.get("resources", {}).get(group, {}).values():
            _check_quantity(kind, value)


def _check_quantity(kind: Kind, value: Json) -> None:
    try:
        amount(value)
    except ValueError:
        raise _refused(kind, QUANTITY_WORDS) from None
