"""Garbage: what belongs to nobody goes; foreground and orphan deletions are carried out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.world.hands import Hands
from deployments.practice.world.view import SEEN, View, created, is_going

Obj = dict[str, Any]

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
# An owner may be written just after what it owns: nobody is an orphan in the first second.
SETTLED_AFTER = 1.0


def reconcile(view: View, hands: Hands) -> None:
    dependents = _dependents(view)
    alive = {obj["metadata"]["uid"]: obj for plural in SEEN for obj in view.all(plural)}
    for plural in SEEN:
        for obj in view.all(plural):
            finalizers = obj["metadata"].get("finalizers")
            if finalizers and is_going(obj):
                _finish(plural, obj, dependents.get(obj["metadata"]["uid"], []), hands)
            elif obj["metadata"].get("ownerReferences") and not is_going(obj):
                _collect(plural, obj, alive, view.now, hands)


def _dependents(view: View) -> dict[str, list[tuple[str, Obj]]]:
    found: dict[str, list[tuple[str, Obj]]] = {}
    for plural in SEEN:
        for obj in view.all(plural):
            for owner in obj["metadata"].get("ownerReferences") or ():
                found.setdefault(owner["uid"], []).append((plural, obj))
    return found


def _collect(plural: str, obj: Obj, alive: dict[str, Obj], now: float, hands: Hands) -> None:
    owners = obj["metadata"]["ownerReferences"]
    present = [o for o in owners if o["uid"] in alive]
    waiting = [o for o in present if _deletes_in_foreground(alive[o["uid"]])]
    if len(waiting) < len(present):
        return
    if not present and now < created(obj) + SETTLED_AFTER:
        hands.again_at(created(obj) + SETTLED_AFTER)
        return
    # In the foreground of its owner, so that the owner waits for what this one owns as well.
    propagation = "Foreground" if waiting and plural != "pods" else "Background"
    _try(lambda: hands.delete(plural, obj, propagation=propagation))


def _deletes_in_foreground(owner: Obj) -> bool:
    return is_going(owner) and FOREGROUND in owner["metadata"].get("finalizers", [])


def _finish(plural: str, obj: Obj, dependents: list[tuple[str, Obj]], hands: Hands) -> None:
    finalizers = obj["metadata"]["finalizers"]
    uid = obj["metadata"]["uid"]
    if ORPHAN in finalizers:
        for kind, dependent in dependents:
            _try(partial(_release, kind, dependent, uid, hands))
        _try(lambda: _drop(plural, obj, ORPHAN, hands))
    elif FOREGROUND in finalizers and not any(_blocks(d, uid) for _, d in dependents):
        _try(lambda: _drop(plural, obj, FOREGROUND, hands))


def _blocks(dependent: Obj, uid: str) -> bool:
    owners = dependent["metadata"].get("ownerReferences", [])
    return any(o["uid"] == uid and o.get("blockOwnerDeletion") for o in owners)


def _release(plural: str, dependent: Obj, uid: str, hands: Hands) -> None:
    metadata = dependent["metadata"]
    kept = [o for o in metadata["ownerReferences"] if o["uid"] != uid]
    hands.change(plural, dependent, metadata={**metadata, "ownerReferences": kept})


def _drop(plural: str, obj: Obj, finalizer: str, hands: Hands) -> None:
    metadata = obj["metadata"]
    kept = [name for name in metadata["finalizers"] if name != finalizer]
    hands.change(plural, obj, metadata={**metadata, "finalizers": kept})


def _try(step: Callable[[], object]) -> None:
    try:
        step()
    except ApiError:
        # Gone or changed meanwhile: the next look decides again.
        return
