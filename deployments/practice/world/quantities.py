"""Amounts of CPU and memory as Kubernetes writes them.

What a pod asks for is here too, whether it fits is not.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

Obj = dict[str, Any]

SUFFIXES = {
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("0.001"),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
}
MILLI_BELOW = 1000


def amount(text: str | int) -> Decimal:
    """Read `500m`, `1.5`, `64Mi`: cores, bytes or a number of things."""
    written = str(text)
    for suffix, factor in SUFFIXES.items():
        if written.endswith(suffix):
            return Decimal(written[: -len(suffix)]) * factor
    return Decimal(written)


def written(resource: str, value: Decimal) -> str:
    """Write an amount as the API server does: cores in thousandths where needed, bytes in powers of
    two.
    """
    if resource.endswith("cpu"):
        return _cores(value)
    if resource.endswith(("memory", "storage")):
        return _bytes(int(value))
    return str(int(value))


def _cores(value: Decimal) -> str:
    milli = int(value * 1000)
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


def _bytes(value: int) -> str:
    for suffix in ("Ti", "Gi", "Mi", "Ki"):
        factor = int(SUFFIXES[suffix])
        if value and value % factor == 0:
            return f"{value // factor}{suffix}"
    return str(value)


def asked(pod: Obj, section: str = "requests") -> dict[str, Decimal]:
    """Return what a pod asks for by resource; init containers run before the others, so the larger
    counts.
    """
    spec = pod["spec"]
    total = _sum(spec.get("containers", []), section)
    for container in spec.get("initContainers", []):
        for resource, value in _of(container, section).items():
            total[resource] = max(total.get(resource, Decimal(0)), value)
    return total


def _sum(containers: list[Obj], section: str) -> dict[str, Decimal]:
    total: dict[str, Decimal] = {}
    for container in containers:
        for resource, value in _of(container, section).items():
            total[resource] = total.get(resource, Decimal(0)) + value
    return total


def _of(container: Obj, section: str) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    named = dict(resources.get(section) or {})
    if section == "requests":
        # A missing request equals the limit, as the API server fills it in.
        named = {**(resources.get("limits") or {}), **named}
    return {resource: amount(value) for resource, value in named.items()}
