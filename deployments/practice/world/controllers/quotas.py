"""Resource quotas: refusing what goes beyond them, and counting what is used.

Scopes are not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

from deployments.practice import errors
from deployments.practice.errors import ApiError
from deployments.practice.kinds import KINDS
from deployments.practice.store import Store
from deployments.practice.world.hands import Hands
from deployments.practice.world.quantities import amount, asked, written
from deployments.practice.world.view import View, is_over, stored

Obj = dict[str, Any]
Amounts = dict[str, Decimal]

PLAIN_COUNTS = (
    "pods",
    "services",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "resourcequotas",
)
OF_PODS = ("cpu", "memory", "ephemeral-storage")
ONE = Decimal(1)


def reconcile(view: View, hands: Hands) -> None:
    for quota in view.all("resourcequotas"):
        hard = quota.get("spec", {}).get("hard", {})
        namespace = quota["metadata"]["namespace"]
        used = _used(hard, partial(_present, view, namespace))
        status = {"hard": dict(hard), "used": {k: written(k, v) for k, v in used.items()}}
        try:
            hands.status("resourcequotas", quota, status)
        except ApiError:
            # Changed meanwhile: the next look counts again.
            continue


def _present(view: View, namespace: str, plural: str) -> list[Obj]:
    return view.in_namespace(plural, namespace)


class QuotaAdmission:
    """The hook for the store: refuses a new object beyond a quota of its namespace."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, plural: str, operation: str, new: Obj, old: Obj | None) -> None:
        """Raise ApiError when a quota stands against it."""
        namespace = new["metadata"].get("namespace")
        if operation != "CREATE" or plural == "events" or not namespace:
            return
        for quota in stored(self._store, "resourcequotas"):
            if quota["metadata"]["namespace"] == namespace:
                self._check(quota, plural, new, namespace)

    def _check(self, quota: Obj, plural: str, new: Obj, namespace: str) -> None:
        hard = quota.get("spec", {}).get("hard", {})
        wanted = {k: v for k, v in _counted_as(plural, new).items() if k in hard}
        self._refuse_unspecified(quota, plural, new, wanted)
        used = _used(hard, lambda kind: self._in(kind, namespace))
        over = sorted(k for k, v in wanted.items() if v and used[k] + v > amount(hard[k]))
        if over:
            raise _exceeded(quota, plural, new, wanted=wanted, used=used, over=over)

    def _refuse_unspecified(self, quota: Obj, plural: str, new: Obj, wanted: Amounts) -> None:
        if plural != "pods":
            return
        hard = quota.get("spec", {}).get("hard", {})
        missing = [k for k in sorted(hard) if _is_of_pods(k) and k not in wanted]
        if missing:
            names = ", ".join(c["name"] for c in new["spec"]["containers"])
            text = "; ".join(f"must specify {k} for: {names}" for k in missing)
            why = f"failed quota: {quota['metadata']['name']}: {text}"
            raise errors.forbidden(KINDS[plural], new["metadata"]["name"], why)

    def _in(self, plural: str, namespace: str) -> list[Obj]:
        objects = stored(self._store, plural)
        return [o for o in objects if o["metadata"].get("namespace") == namespace]


def _exceeded(
    quota: Obj, plural: str, new: Obj, *, wanted: Amounts, used: Amounts, over: list[str]
) -> ApiError:
    hard = quota["spec"]["hard"]
    requested = ",".join(f"{k}={written(k, wanted[k])}" for k in over)
    present = ",".join(f"{k}={written(k, used[k])}" for k in over)
    limited = ",".join(f"{k}={written(k, amount(hard[k]))}" for k in over)
    why = (
        f"exceeded quota: {quota['metadata']['name']}, requested: {requested}, "
        f"used: {present}, limited: {limited}"
    )
    return errors.forbidden(KINDS[plural], new["metadata"]["name"], why)


def _is_of_pods(resource: str) -> bool:
    return resource.rpartition(".")[2] in OF_PODS and not resource.startswith("count/")


def _counted_as(plural: str, obj: Obj) -> Amounts:
    """Return under which names, and with how much, an object counts."""
    kind = KINDS[plural]
    found: Amounts = {f"count/{kind.resource}": ONE}
    if plural in PLAIN_COUNTS:
        found[plural] = ONE
    if plural == "pods":
        requests, limits = asked(obj), asked(obj, "limits")
        found |= {f"requests.{k}": v for k, v in requests.items()}
        found |= {k: v for k, v in requests.items() if k in OF_PODS}
        found |= {f"limits.{k}": v for k, v in limits.items()}
    return found


def _used(hard: Obj, objects_of: Callable[[str], list[Obj]]) -> Amounts:
    used: Amounts = {resource: Decimal(0) for resource in hard}
    for plural in _kinds_of(hard):
        for obj in objects_of(plural):
            if plural == "pods" and is_over(obj):
                continue
            for resource, value in _counted_as(plural, obj).items():
                if resource in used:
                    used[resource] += value
    return used


def _kinds_of(hard: Obj) -> set[str]:
    found = {name for name in PLAIN_COUNTS if name in hard}
    found |= {k.plural for k in KINDS.values() if f"count/{k.resource}" in hard}
    return found | ({"pods"} if any(_is_of_pods(name) for name in hard) else set())
