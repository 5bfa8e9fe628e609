"""Names, labels and annotations."""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import Cause
from deployments.practice.kinds import Kind


def check_metadata(kind: Kind, metadata: dict[str, Any]) -> list[Cause]:
    if not metadata.get("name"):
        message = "Required value: name or generateName is required"
        return [Cause("FieldValueRequired", message, "metadata.name")]
    return []
