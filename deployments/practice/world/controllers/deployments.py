"""Deployments: a ReplicaSet per template, scaled up and down by the strategy.

The status is in deployment_status.

Where several ReplicaSets have pods and the number of replicas changes, only the newest is scaled;
the real one spreads the change over all.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.jsons import copy_json
from deployments.practice.world.controllers.deployment_status import (
    announce,
    status_of,
    with_condition,
)
from deployments.practice.world.controllers.strategy import is_recreate, surge, unavailable
from deployments.practice.world.hands import Hands
from deployments.practice.world.view import (
    View,
    annotations_of,
    created,
    is_going,
    is_over,
    labels_of,
    owner_reference,
)

Obj = dict[str, Any]

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"
# The letters of generated names: no vowels, so that no words come out.
LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def reconcile(view: View, hands: Hands) -> None:
    for deployment in view.all("deployments"):
        try:
            _sync(deployment, view, hands)
        except ApiError:
            # Somebody wrote meanwhile: the next look decides again.
            continue


def _sync(deployment: Obj, view: View, hands: Hands) -> None:
    sets = sorted(view.owned("replicasets", deployment), key=created)
    newest = next((s for s in sets if _same_template(s, deployment)), None)
    if is_going(deployment) or _is_scaling(deployment, sets) or deployment["spec"].get("paused"):
        _scale_only(deployment, sets, newest, view, hands)
        return
    if newest is None:
        _create_set(deployment, sets, view, hands)
        return
    if _adopt_revision(deployment, newest, hands):
        return
    if not _scaled(deployment, newest, sets, view, hands):
        _clean_up(deployment, [s for s in sets if s is not newest], hands)
    _write_status(deployment, sets, newest, view, hands)


def _scale_only(
    deployment: Obj, sets: list[Obj], newest: Obj | None, view: View, hands: Hands
) -> None:
    if not is_going(deployment):
        running = [s for s in sets if s["spec"]["replicas"] or s is newest]
        if running:
            chosen = newest if newest in running else running[-1]
            if chosen is not None:
                _scale(deployment, chosen, _wanted_of_newest(deployment, chosen, sets), hands)
    status = status_of(deployment, sets, newest, view.now)
    hands.status("deployments", deployment, status)


def _write_status(deployment: Obj, sets: list[Obj], newest: Obj, view: View, hands: Hands) -> None:
    status = announce(
        deployment, status_of(deployment, sets, newest, view.now), sets, newest, view.now
    )
    hands.status("deployments", deployment, status)
    deadline = deployment["spec"].get("progressDeadlineSeconds")
    if deadline:
        # Looked at again in a while: nothing else happens when a rollout stands still.
        hands.again_at(view.now + min(deadline, 10))


# Finding and making the ReplicaSet of a template


def _same_template(replicaset: Obj, deployment: Obj) -> bool:
    found = copy_json(replicaset["spec"]["template"])
    labels = found["metadata"].get("labels", {})
    labels.pop(HASH, None)
    wanted = copy_json(deployment["spec"]["template"])
    found.setdefault("metadata", {}).setdefault("labels", {})
    wanted.setdefault("metadata", {}).setdefault("labels", {})
    return bool(found == wanted)


def template_hash(template: Obj) -> str:
    """Return a short name for a template: the same for the same one."""
    text = json.dumps(template, sort_keys=True).encode()
    number = int.from_bytes(hashlib.sha256(text).digest()[:4], "big")
    return "".join(LETTERS[int(digit)] for digit in str(number))


def _create_set(deployment: Obj, sets: list[Obj], view: View, hands: Hands) -> None:
    revision = str(max((int(annotations_of(s).get(REVISION, "0")) for s in sets), default=0) + 1)
    replicaset = _new_set(deployment, revision)
    replicaset["spec"]["replicas"] = _room_for_new(deployment, sets)
    try:
        made = hands.create("replicasets", replicaset)
    except ApiError as refusal:
        _say_not_created(deployment, refusal, view, hands)
        return
    name = made["metadata"]["name"]
    if made["spec"]["replicas"]:
        _tell_scaled(deployment, made, 0, made["spec"]["replicas"], hands)
    metadata = _annotated(deployment, {REVISION: revision})
    fresh = hands.change("deployments", deployment, metadata=metadata)
    said = ("True", "NewReplicaSetCreated", f'Created new replica set "{name}"')
    hands.status("deployments", fresh, with_condition(fresh, said, view.now))


def _say_not_created(deployment: Obj, refusal: ApiError, view: View, hands: Hands) -> None:
    message = f"Failed to create new replica set: {refusal.message}"
    said = ("False", "ReplicaSetCreateError", message)
    hands.status("deployments", deployment, with_condition(deployment, said, view.now))
    hands.again_at(view.now + 1)


def _new_set(deployment: Obj, revision: str) -> Obj:
    template = copy_json(deployment["spec"]["template"])
    short = template_hash(template)
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    labels[HASH] = short
    selector = copy_json(deployment["spec"]["selector"])
    selector.setdefault("matchLabels", {})[HASH] = short
    metadata = deployment["metadata"]
    return {
        "metadata": {
            "name": f"{metadata['name']}-{short}",
            "namespace": metadata["namespace"],
            "labels": dict(labels),
            "annotations": {**_inherited(deployment), **_counts(deployment), REVISION: revision},
            "ownerReferences": [owner_reference(deployment, "deployments")],
        },
        "spec": {
            "replicas": 0,
            "selector": selector,
            "template": template,
            **_waiting_time(deployment),
        },
    }


def _waiting_time(deployment: Obj) -> Obj:
    seconds = deployment["spec"].get("minReadySeconds")
    return {"minReadySeconds": seconds} if seconds else {}


def _inherited(deployment: Obj) -> dict[str, str]:
    own = ("deployment.kubernetes.io/", "kubectl.kubernetes.io/")
    return {k: v for k, v in annotations_of(deployment).items() if not k.startswith(own)}


def _counts(deployment: Obj) -> dict[str, str]:
    wanted = deployment["spec"]["replicas"]
    return {DESIRED: str(wanted), MAXIMUM: str(wanted + surge(deployment))}


def _annotated(obj: Obj, added: dict[str, str]) -> Obj:
    return {**obj["metadata"], "annotations": {**annotations_of(obj), **added}}


def _adopt_revision(deployment: Obj, newest: Obj, hands: Hands) -> bool:
    revision = annotations_of(newest).get(REVISION, "1")
    if annotations_of(deployment).get(REVISION) == revision:
        return False
    hands.change("deployments", deployment, metadata=_annotated(deployment, {REVISION: revision}))
    return True


# How many


def _is_scaling(deployment: Obj, sets: list[Obj]) -> bool:
    wanted = str(deployment["spec"]["replicas"])
    active = [s for s in sets if s["spec"]["replicas"]]
    return any(annotations_of(s).get(DESIRED, wanted) != wanted for s in active)


def _room_for_new(deployment: Obj, others: list[Obj]) -> int:
    """Return how many replicas a new ReplicaSet may have at once."""
    wanted: int = deployment["spec"]["replicas"]
    present = sum(int(s["spec"]["replicas"]) for s in others)
    if is_recreate(deployment):
        return 0 if present or _pods_of(others) else wanted
    return max(min(wanted + surge(deployment) - present, wanted), 0)


def _pods_of(sets: list[Obj]) -> int:
    return sum(int(s.get("status", {}).get("replicas", 0)) for s in sets)


def _wanted_of_newest(deployment: Obj, newest: Obj, sets: list[Obj]) -> int:
    """When the number of replicas changes: the newest takes what the others leave."""
    wanted: int = deployment["spec"]["replicas"]
    others = sum(s["spec"]["replicas"] for s in sets if s is not newest)
    return max(wanted + (surge(deployment) if others else 0) - others, 0) if wanted else 0


def _scaled(deployment: Obj, newest: Obj, sets: list[Obj], view: View, hands: Hands) -> bool:
    """Take one step of the rollout. Return whether one was taken."""
    others = [s for s in sets if s is not newest]
    if is_recreate(deployment):
        return _scaled_recreate(deployment, newest, others, view, hands)
    target = newest["spec"]["replicas"] + _room_for_new(deployment, [*others, newest])
    target = min(max(target, newest["spec"]["replicas"]), deployment["spec"]["replicas"])
    if newest["spec"]["replicas"] > deployment["spec"]["replicas"]:
        target = deployment["spec"]["replicas"]
    if _scale(deployment, newest, target, hands):
        return True
    return _scaled_down_old(deployment, newest, others, hands)


def _scaled_recreate(
    deployment: Obj, newest: Obj, others: list[Obj], view: View, hands: Hands
) -> bool:
    stopped = [_scale(deployment, s, 0, hands) for s in others if s["spec"]["replicas"]]
    if any(stopped):
        return True
    left = [p for s in others for p in view.owned("pods", s) if not is_over(p)]
    return not left and _scale(deployment, newest, deployment["spec"]["replicas"], hands)


def _scaled_down_old(deployment: Obj, newest: Obj, others: list[Obj], hands: Hands) -> bool:
    old = [s for s in others if s["spec"]["replicas"]]
    if not old:
        return False
    least = deployment["spec"]["replicas"] - unavailable(deployment)
    missing = newest["spec"]["replicas"] - newest.get("status", {}).get("availableReplicas", 0)
    total = sum(s["spec"]["replicas"] for s in [*old, newest])
    spare = total - least - max(missing, 0)
    stepped = False
    for replicaset in sorted(old, key=_health):
        if spare <= 0:
            break
        take = min(spare, replicaset["spec"]["replicas"])
        spare -= take
        target = replicaset["spec"]["replicas"] - take
        stepped |= _scale(deployment, replicaset, target, hands)
    return stepped


def _health(replicaset: Obj) -> int:
    # Those that serve nobody go first.
    found: int = replicaset.get("status", {}).get("availableReplicas", 0)
    return found


def _scale(deployment: Obj, replicaset: Obj, target: int, hands: Hands) -> bool:
    present = int(replicaset["spec"]["replicas"])
    metadata = _annotated(replicaset, _counts(deployment))
    if target == present and metadata["annotations"] == annotations_of(replicaset):
        return False
    spec = {**replicaset["spec"], "replicas": target}
    hands.change("replicasets", replicaset, spec=spec, metadata=metadata)
    if target != present:
        _tell_scaled(deployment, replicaset, present, target, hands)
    return target != present


def _tell_scaled(deployment: Obj, replicaset: Obj, before: int, after: int, hands: Hands) -> None:
    way = "up" if after > before else "down"
    name = replicaset["metadata"]["name"]
    message = f"Scaled {way} replica set {name} from {before} to {after}"
    hands.tell(deployment, "Normal", "ScalingReplicaSet", message)


def _clean_up(deployment: Obj, others: list[Obj], hands: Hands) -> None:
    limit = deployment["spec"].get("revisionHistoryLimit", 10)
    empty = [s for s in others if not s["spec"]["replicas"] and not _pods_of([s])]
    for replicaset in empty[: max(len(others) - limit, 0)]:
        if not is_going(replicaset) and labels_of(replicaset):
            hands.delete("replicasets", replicaset)
