"""How many pods a rollout may have too many and too few, from a Deployment's strategy."""

from __future__ import annotations

import math
from typing import Any

Obj = dict[str, Any]


def strategy_of(deployment: Obj) -> Obj:
    found: Obj = deployment["spec"].get("strategy") or {}
    return found.get("rollingUpdate") or {}


def surge(deployment: Obj) -> int:
    """Return how many pods above the wanted number a rollout may have."""
    if is_recreate(deployment):
        return 0
    return _share(strategy_of(deployment).get("maxSurge", "25%"), deployment, round_up=True)


def unavailable(deployment: Obj) -> int:
    """Return how many pods below the wanted number a rollout may have."""
    if is_recreate(deployment):
        return 0
    wanted = deployment["spec"]["replicas"]
    value = strategy_of(deployment).get("maxUnavailable", "25%")
    found = _share(value, deployment, round_up=False)
    if found == 0 and surge(deployment) == 0:
        found = 1
    return min(found, int(wanted))


def is_recreate(deployment: Obj) -> bool:
    return (deployment["spec"].get("strategy") or {}).get("type") == "Recreate"


def _share(value: int | str, deployment: Obj, *, round_up: bool) -> int:
    if isinstance(value, int):
        return value
    exact = float(deployment["spec"]["replicas"]) * int(value.rstrip("%")) / 100
    return math.ceil(exact) if round_up else math.floor(exact)
