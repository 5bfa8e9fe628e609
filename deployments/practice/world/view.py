"""What the store holds at one moment, indexed for the controllers. Nothing here writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from deployments.practice.jsons import seconds_of
from deployments.practice.kinds import KINDS
from deployments.practice.store import Store

Obj = dict[str, Any]

FINAL_PHASES = ("Succeeded", "Failed")
# Events are many and nobody decides by them.
SEEN = tuple(plural for plural in KINDS if plural != "events")


def stored(store: Store, plural: str) -> list[Obj]:
    """Return the stored objects themselves, without copying: never change one.

    A copy of every object on every tick would cost more than everything else together.
    """
    seen: list[Obj] = []

    def note(obj: Obj) -> bool:
        seen.append(obj)
        return False

    store.list(plural, where=note)
    return seen


class View:
    """Every object at one moment, `now` in seconds since 1970.

    The objects are shared: copy, then change.
    """

    def __init__(self, store: Store, now: float) -> None:
        self.now = now
        with store.lock:
            self.revision = store.revision
            self._all = {plural: stored(store, plural) for plural in SEEN}
        self._named: dict[str, dict[tuple[str, str], Obj]] = {}
        self._owned: dict[str, dict[str, list[Obj]]] = {}
        self._by_node: dict[str, list[Obj]] | None = None
        self._by_namespace: dict[str, dict[str, list[Obj]]] = {}

    def all(self, plural: str) -> list[Obj]:
        return self._all[plural]

    def find(self, plural: str, namespace: str, name: str) -> Obj | None:
        if plural not in self._named:
            self._named[plural] = {key_of(obj): obj for obj in self._all[plural]}
        return self._named[plural].get((namespace, name))

    def owned(self, plural: str, owner: Obj) -> list[Obj]:
        """Return the objects of a kind whose controller is `owner`."""
        if plural not in self._owned:
            self._owned[plural] = by_controller(self._all[plural])
        return self._owned[plural].get(owner["metadata"]["uid"], [])

    def pods_on(self, node: str) -> list[Obj]:
        if self._by_node is None:
            self._by_node = defaultdict(list)
            for pod in self._all["pods"]:
                self._by_node[pod["spec"].get("nodeName", "")].append(pod)
        return self._by_node.get(node, [])

    def in_namespace(self, plural: str, namespace: str) -> list[Obj]:
        if plural not in self._by_namespace:
            found: dict[str, list[Obj]] = defaultdict(list)
            for obj in self._all[plural]:
                found[obj["metadata"].get("namespace", "")].append(obj)
            self._by_namespace[plural] = found
        return self._by_namespace[plural].get(namespace, [])


def key_of(obj: Obj) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def by_controller(objects: Iterable[Obj]) -> dict[str, list[Obj]]:
    found: dict[str, list[Obj]] = defaultdict(list)
    for obj in objects:
        for owner in obj["metadata"].get("ownerReferences") or ():
            if owner.get("controller"):
                found[owner["uid"]].append(obj)
    return found


def is_going(obj: Obj) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def is_over(pod: Obj) -> bool:
    return pod.get("status", {}).get("phase") in FINAL_PHASES


def condition(obj: Obj, kind: str) -> Obj | None:
    """Return the condition of this type, None where it is not set."""
    conditions = obj.get("status", {}).get("conditions") or ()
    return next((c for c in conditions if c["type"] == kind), None)


def is_true(obj: Obj, kind: str) -> bool:
    found = condition(obj, kind)
    return found is not None and found["status"] == "True"


def is_ready(pod: Obj) -> bool:
    return is_true(pod, "Ready")


def matches(selector: Mapping[str, str], labels: Mapping[str, str] | None) -> bool:
    """Whether every key of a plain selector is there; an empty selector matches nothing."""
    found = labels or {}
    return bool(selector) and all(found.get(key) == value for key, value in selector.items())


def created(obj: Obj) -> float:
    return seconds_of(obj["metadata"]["creationTimestamp"])


def labels_of(obj: Obj) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def annotations_of(obj: Obj) -> dict[str, str]:
    return obj["metadata"].get("annotations") or {}


def owner_reference(owner: Obj, kind: str) -> Obj:
    metadata = owner["metadata"]
    return {
        "apiVersion": KINDS[kind].api_version,
        "kind": KINDS[kind].kind,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
