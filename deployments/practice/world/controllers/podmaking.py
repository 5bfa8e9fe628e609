"""A pod from the template of its controller. What its fields default to is the store's matter."""

from __future__ import annotations

import secrets
from typing import Any

from deployments.practice.jsons import copy_json
from deployments.practice.world.view import owner_reference

Obj = dict[str, Any]

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
LONGEST_PREFIX = 58


def pod_from(owner: Obj, plural: str, template: Obj) -> Obj:
    """Return a new pod of `owner`, named after it; the name is chosen here because refusals name
    it.
    """
    metadata = owner["metadata"]
    template = copy_json(template)
    inner = template.get("metadata") or {}
    prefix = f"{metadata['name'][:LONGEST_PREFIX]}-"
    made = {
        "name": prefix + suffix(),
        "generateName": prefix,
        "namespace": metadata["namespace"],
        "labels": inner.get("labels") or {},
        "annotations": inner.get("annotations") or {},
        "ownerReferences": [owner_reference(owner, plural)],
    }
    kept = {key: value for key, value in made.items() if value}
    return {"metadata": kept, "spec": template["spec"]}


def suffix() -> str:
    return "".join(secrets.choice(SUFFIX_LETTERS) for _ in range(5))
