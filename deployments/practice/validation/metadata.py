"""Names, labels, annotations and owner references of every kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deployments.practice.errors import Cause
from deployments.practice.kinds import Kind
from deployments.practice.validation import words

MOST_ANNOTATION_BYTES = 256 * 1024

_NAMES: Mapping[str, Callable[[str], list[str]]] = {
    "namespaces": words.label,
    "services": words.service_name,
}


def check_metadata(kind: Kind, metadata: dict[str, Any]) -> list[Cause]:
    """Return what is wrong with the metadata of a new object."""
    return _check_name(kind, metadata.get("name", "")) + check_labels_and_annotations(metadata)


def _check_name(kind: Kind, name: str) -> list[Cause]:
    if not name:
        return [words.required("metadata.name", "name or generateName is required")]
    check = _NAMES.get(kind.plural, words.subdomain)
    return [words.invalid("metadata.name", name, why) for why in check(name)]


def check_labels_and_annotations(metadata: dict[str, Any]) -> list[Cause]:
    causes = check_labels(metadata.get("labels", {}), "metadata.labels")
    annotations = metadata.get("annotations", {})
    for key in sorted(annotations):
        wrong = words.qualified(key.lower())
        causes += [words.invalid("metadata.annotations", key, why) for why in wrong]
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > MOST_ANNOTATION_BYTES:
        message = f"Too long: may not be more than {MOST_ANNOTATION_BYTES} bytes"
        causes.append(Cause("FieldValueTooLong", message, "metadata.annotations"))
    return causes + _check_owners(metadata.get("ownerReferences", []))


def check_finalizers(new: dict[str, Any], old: dict[str, Any]) -> list[Cause]:
    """Refuse a further finalizer on what is being deleted; it would never go."""
    added = [f for f in new.get("finalizers", []) if f not in old.get("finalizers", [])]
    if not added or "deletionTimestamp" not in old:
        return []
    why = (
        "no new finalizers can be added if the object is being deleted, "
        f"found new finalizers []string{{{', '.join(words.quoted(f) for f in added)}}}"
    )
    # Twice: two layers of the real one find it.
    return [words.forbidden("metadata.finalizers", why)] * 2


def check_labels(labels: dict[str, str], field: str) -> list[Cause]:
    """Return what is wrong with labels; keys are told under `field` itself."""
    causes = []
    for key, value in sorted(labels.items()):
        causes += [words.invalid(field, key, why) for why in words.qualified(key)]
        causes += [words.invalid(field, value, why) for why in words.label_value(value)]
    return causes


def _check_owners(owners: list[dict[str, Any]]) -> list[Cause]:
    causes = []
    field = "metadata.ownerReferences"
    for owner in owners:
        causes += [
            words.invalid(f"{field}.{name}", "", "must not be empty")
            for name in ("apiVersion", "kind", "name", "uid")
            if not owner.get(name)
        ]
    controllers = [owner for owner in owners if owner.get("controller")]
    if len(controllers) > 1:
        first, second = controllers[0], controllers[1]
        why = (
            'Only one reference can have Controller set to true. Found "true" in references for '
            f"{first['kind']}/{first['name']} and {second['kind']}/{second['name']}"
        )
        causes.append(words.invalid("metadata.ownerReferences", owners, why))
    return causes
