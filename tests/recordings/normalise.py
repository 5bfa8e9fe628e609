"""From a film of a namespace to what must be equal on both clusters: events, states of pods,
conditions.

Names, addresses, ids and times become placeholders. What varies on the real cluster from one
recording to the next is dropped or collapsed; the reason stands beside each case.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from tests.recordings.client import Film

Obj = dict[str, Any]

# A name ends before anything but a letter or digit; `_` stands between a pod and its namespace.
END = "(?![a-z0-9])"
# The order matters: the longer names first.
PLACEHOLDERS = (
    (r"127\.0\.0\.1:(?!5999)\d+/", "<registry>/"),
    (r"sha256:[0-9a-f]{64}", "<digest>"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>"),
    (r"containerd://[0-9a-f]{64}", "<container>"),
    (r"\b10\.244\.\d+\.\d+\b", "<ip>"),
    (r"\b10\.96\.\d+\.\d+\b", "<cluster-ip>"),
    (r"(?<![a-z0-9-])world-[a-z0-9-]+", "<namespace>"),
    (r"\bnode-[12]\b", "<node>"),
    (r"\bin [0-9.]+m?s \([0-9.]+m?s including waiting\)", "in <time> (<time> including waiting)"),
    (r"Image size: \d+ bytes", "Image size: <n> bytes"),
    # A pod of a ReplicaSet, a ReplicaSet, a pod of a Job, a Job of a CronJob.
    (rf"\b(web(?:-r[12])?|worker|queue)-[a-z0-9]{{7,10}}-[a-z0-9]{{5}}{END}", r"\1-<hash>-<id>"),
    (rf"\b(web(?:-r[12])?|worker|queue)-(?!<)(?!r[12]\b)[a-z0-9]{{7,10}}{END}", r"\1-<hash>"),
    (rf"\bnightly-\d+-[a-z0-9]{{5}}{END}", "nightly-<minute>-<id>"),
    (rf"\bnightly-\d+{END}", "nightly-<minute>"),
    (rf"\b(once|release)-[a-z0-9]{{5}}{END}", r"\1-<id>"),
)
SHORT_LIFE_SECONDS = 2


def normal(text: str) -> str:
    """Replace what differs between two runs."""
    for pattern, placeholder in PLACEHOLDERS:
        text = re.sub(pattern, placeholder, text)
    return text


def recording(film: Film) -> Obj:
    """Return what must be equal, by kind of track; each track belongs to one kind of object."""
    seen = list(film.changes)
    return {
        # How many requests fit before and after a switch is chance, their order is not.
        "answers": _without_repeats([normal(answer) for answer in film.answers]),
        "events": _events(seen),
        "pods": _pods(seen),
        "conditions": {} if _has_short_lives(seen) else _conditions(seen),
        "endpoints": _endpoints(seen),
    }


def _has_short_lives(changes: list[tuple[str, str, Obj]]) -> bool:
    """Whether a long-running program ended within a second or two.

    If somebody happened to look while it ran, its Deployment was available for that moment, else
    not.
    """
    pods = [p for plural, _, p in changes if plural == "pods"]
    endless = [p for p in pods if p["spec"].get("restartPolicy") == "Always"]
    return any(_is_short(s) for pod in endless for s in _states(pod))


def _is_short(state: Obj) -> bool:
    lived = state["_lived"]
    return lived is not None and lived < SHORT_LIFE_SECONDS and state["exitCode"] != 0


# Events


def _events(changes: list[tuple[str, str, Obj]]) -> Obj:
    """Return the events of each object in their order, without their counts.

    How often an event repeats depends on when the kubelet looks; the order between different
    objects on how busy the controllers are. So each object has its own sequence, and the objects of
    one kind that say the same are one.
    """
    tracks: dict[str, dict[str, list[list[str]]]] = defaultdict(lambda: defaultdict(list))
    for plural, _, event in changes:
        if plural != "events":
            continue
        about = event["involvedObject"]
        # On a busy node the token of the pod comes late: a second's delay without a cause.
        if event["reason"] == "FailedMount" and "kube-api-access" in event["message"]:
            continue
        name = normal(about["name"])
        said = _said(event)
        track = tracks[f"{about['kind']}/{name}"][about["uid"]]
        if said not in track:
            track.append(said)
    return {
        name: _distinct(_ordered(t) for t in by_uid.values()) for name, by_uid in tracks.items()
    }


def _said(event: Obj) -> list[str]:
    message = _without_lines(normal(event["message"]))
    place = event["involvedObject"].get("fieldPath", "")
    said = [event["type"], event["reason"], message, place]
    if message.startswith("(combined from similar events)"):
        said[2] = "(combined from similar events)"
    return [*said, event["source"]["component"]]


def _ordered(track: list[list[str]]) -> list[list[str]]:
    # A node that has the image says so at once, the other one pulls: which one it is depends
    # on what ran
    # there before. Both ways are told in the same place.
    kept = [_as_pulled(said) for said in track if not _is_first_pull(said)]
    return [said for i, said in enumerate(kept) if said not in kept[:i]]


def _is_first_pull(said: list[str]) -> bool:
    return said[1] == "Pulling" and not said[2].endswith(('nope"', '5999/sample:1"'))


def _as_pulled(said: list[str]) -> list[str]:
    if said[1] != "Pulled":
        return said
    image = re.search(r'"([^"]+)"', said[2])
    return [said[0], said[1], f"Pulled or present: {image[1] if image else ''}", *said[3:]]


# Pods


def _pods(changes: list[tuple[str, str, Obj]]) -> Obj:
    tracks: dict[str, dict[str, list[Obj]]] = defaultdict(lambda: defaultdict(list))
    for plural, _, pod in changes:
        if plural == "pods":
            tracks[normal(pod["metadata"]["name"])][pod["metadata"]["uid"]].append(pod)
    return {
        name: _distinct(_pod_track(pods) for pods in by_uid.values())
        for name, by_uid in tracks.items()
    }


def _pod_track(pods: list[Obj]) -> Obj:
    return {
        "phases": _phases(pods),
        "containers": _collapsed([s for pod in pods for s in _states(pod)]),
        "scheduled": _without_repeats([_condition(p, "PodScheduled") for p in pods]),
        "deleted": any("deletionTimestamp" in p["metadata"] for p in pods),
    }


def _phases(pods: list[Obj]) -> list[str]:
    phases = _without_repeats([pod["status"]["phase"] for pod in pods])
    # A program of a fraction of a second may be over before anybody looked.
    if phases[-1] in ("Succeeded", "Failed"):
        return [phases[0], phases[-1]]
    return [str(phase) for phase in phases]


def _states(pod: Obj) -> list[Obj]:
    found = []
    for status in pod["status"].get("containerStatuses") or []:
        kind, state = next(iter(status["state"].items()))
        found.append(
            {
                "state": kind,
                "reason": state.get("reason", ""),
                "message": _without_lines(normal(state.get("message", ""))),
                "exitCode": state.get("exitCode"),
                "ready": status["ready"],
                "restarts": status["restartCount"],
                "last": _last(status),
                "_id": status.get("containerID", ""),
                "_lived": _lived(state) if kind == "terminated" else None,
            }
        )
    return found


def _last(status: Obj) -> list[Any]:
    ended = (status.get("lastState") or {}).get("terminated")
    return [ended["reason"], ended["exitCode"]] if ended else []


def _lived(state: Obj) -> float:
    if not state.get("startedAt") or not state.get("finishedAt"):
        return 0.0
    ends = [datetime.fromisoformat(state[k]) for k in ("startedAt", "finishedAt")]
    return (ends[1] - ends[0]).total_seconds()


def _collapsed(states: list[Obj]) -> list[Obj]:
    short = {
        s["_id"]
        for s in states
        if s["_lived"] is not None and s["_lived"] < SHORT_LIFE_SECONDS and s["_id"]
    }
    kept: list[Obj] = []
    for found in states:
        # The first word of the kubelet may be overtaken by the second.
        if found["reason"] == "ContainerCreating":
            continue
        # A life of a second is seen as running only if somebody looked in between.
        if found["state"] == "running" and found["_id"] in short:
            continue
        said = {key: value for key, value in found.items() if not key.startswith("_")}
        # The runtime may have removed the life before by the time the status is made.
        if _is_short(found):
            said["last"] = []
        # A state that comes back (a pull error and its back-off take turns) is told once.
        if said in kept:
            continue
        # Whether the first look came before the first probe is chance.
        if kept and _is_same_but_ready(kept[-1], said):
            kept.pop()
        kept.append(said)
    return kept


def _is_same_but_ready(before: Obj, after: Obj) -> bool:
    same = {**before, "ready": True} == after
    return before["state"] == "running" and not before["ready"] and same


def _condition(obj: Obj, kind: str) -> list[str] | None:
    for found in obj["status"].get("conditions") or []:
        if found["type"] == kind:
            return [found["status"], found.get("reason", ""), normal(found.get("message", ""))]
    return None


# Conditions of controllers


def _conditions(changes: list[tuple[str, str, Obj]]) -> Obj:
    tracks: dict[str, list[Obj]] = defaultdict(list)
    for plural, _, obj in changes:
        if plural in ("deployments", "jobs", "replicasets"):
            tracks[f"{plural}/{normal(obj['metadata']['name'])}"].append(obj)
    return {name: _condition_track(objects) for name, objects in tracks.items()}


def _condition_track(objects: list[Obj]) -> Obj:
    kinds = {c["type"] for o in objects for c in o["status"].get("conditions") or []}
    return {
        kind: [c for c in _without_repeats([_condition(o, kind) for o in objects]) if c]
        for kind in sorted(kinds)
    }


# Endpoints


def _endpoints(changes: list[tuple[str, str, Obj]]) -> Obj:
    """Return for each service the states that each of its pods went through."""
    tracks: dict[str, dict[str, list[Obj]]] = defaultdict(lambda: defaultdict(list))
    for plural, _, piece in changes:
        if plural != "endpointslices":
            continue
        service = piece["metadata"]["labels"]["kubernetes.io/service-name"]
        for end in piece.get("endpoints") or []:
            tracks[service][end["targetRef"]["uid"]].append(end["conditions"])
    return {
        service: _distinct(_end_track(states) for states in by_pod.values())
        for service, by_pod in tracks.items()
    }


def _end_track(states: list[Obj]) -> list[Obj]:
    kept = _without_repeats(states)
    # Whether an address is told before its pod is ready is chance.
    unready = {"ready": False, "serving": False, "terminating": False}
    return kept[1:] if len(kept) > 1 and kept[0] == unready else kept


# Small helpers


def _without_lines(message: str) -> str:
    """Replace the numbered lines of `run`: how many fit before a deadline is chance."""
    return re.sub(r"(line \d+\n){5,}", "<lines>\n", message)


def _without_repeats(values: list[Any]) -> list[Any]:
    return [v for i, v in enumerate(values) if i == 0 or values[i - 1] != v]


def _distinct(tracks: Iterable[Any]) -> list[Any]:
    """Return different tracks once each, in an order of their own: pods have none."""
    by_text = {json.dumps(track, sort_keys=True): track for track in tracks}
    return [by_text[key] for key in sorted(by_text)]
