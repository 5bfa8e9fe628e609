"""Namespaces: the account of their pods when they begin, and everything in them away before they
end.
"""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.jsons import seconds_of
from deployments.practice.kinds import KINDS
from deployments.practice.world.hands import Hands
from deployments.practice.world.view import SEEN, View, is_going

Obj = dict[str, Any]

# The real one takes seconds too: it looks at every kind, then once more.
TAKES_AT_LEAST = 2.0


def reconcile(view: View, hands: Hands) -> None:
    for namespace in view.all("namespaces"):
        try:
            if is_going(namespace):
                _end(namespace, view, hands)
            else:
                _furnish(namespace, view, hands)
        except ApiError:
            # Changed meanwhile: the next look decides again.
            continue


def _furnish(namespace: Obj, view: View, hands: Hands) -> None:
    name = namespace["metadata"]["name"]
    if view.find("serviceaccounts", name, "default") is None:
        hands.create("serviceaccounts", {"metadata": {"name": "default", "namespace": name}})


def _end(namespace: Obj, view: View, hands: Hands) -> None:
    name = namespace["metadata"]["name"]
    kinds = [plural for plural in SEEN if KINDS[plural].namespaced]
    left = [(plural, obj) for plural in kinds for obj in view.in_namespace(plural, name)]
    for plural, obj in left:
        if not is_going(obj):
            hands.delete(plural, obj)
    gone_at = seconds_of(namespace["metadata"]["deletionTimestamp"]) + TAKES_AT_LEAST
    if not left and view.now >= gone_at:
        _forget_events(name, hands)
        hands.remove("namespaces", namespace)
    elif not left:
        hands.again_at(gone_at)


def _forget_events(namespace: str, hands: Hands) -> None:
    for event in hands.store.list("events", namespace):
        hands.remove("events", event)
