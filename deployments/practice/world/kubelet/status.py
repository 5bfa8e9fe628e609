"""The status of a pod from the state of its containers: phase and conditions in the kubelet's
words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deployments.practice.jsons import timestamp
from deployments.practice.world.kubelet.container import START_ERROR, Container
from deployments.practice.world.view import condition

Obj = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """What the kubelet knows beyond the containers.

    `final`: the sandbox is gone, nothing starts again.
    """

    ip: str
    host_ip: str
    started_at: float
    has_sandbox: bool
    final: bool


def render(pod: Obj, containers: list[Container], seen: Seen, now: float) -> Obj:
    """Return the whole status; times of conditions that did not change stay."""
    ended = all("terminated" in c.state for c in containers) and (
        seen.final or not may_restart(pod, containers)
    )
    phase = phase_of(pod, containers)
    if ended:
        phase = final_phase(containers)
    status = {
        **{k: v for k, v in pod["status"].items() if k in ("qosClass", "conditions")},
        "observedGeneration": pod["metadata"].get("generation", 1),
        # The phase is told last: until then the pod still reads as it did.
        "phase": phase if seen.final or not ended else phase_of(pod, containers),
        "hostIP": seen.host_ip,
        "hostIPs": [{"ip": seen.host_ip}],
        "startTime": timestamp(seen.started_at),
        "containerStatuses": [c.status(image_id(c)) for c in containers],
    }
    if seen.ip:
        status |= {"podIP": seen.ip, "podIPs": [{"ip": seen.ip}]}
    status["conditions"] = _conditions(pod, containers, seen, phase if ended else "", now)
    return status


def image_id(container: Container) -> str:
    if container.image is None:
        return ""
    name = container.spec["image"].partition("@")[0]
    head, slash, tail = name.rpartition("/")
    return f"{head}{slash}{tail.partition(':')[0]}@{container.image.digest}"


def may_restart(pod: Obj, containers: list[Container]) -> bool:
    policy = pod["spec"].get("restartPolicy", "Always")
    codes = [c.state["terminated"]["exitCode"] for c in containers if "terminated" in c.state]
    return policy == "Always" or (policy == "OnFailure" and any(codes))


def final_phase(containers: list[Container]) -> str:
    codes = [c.state.get("terminated", {}).get("exitCode", 1) for c in containers]
    return "Failed" if any(codes) else "Succeeded"


def phase_of(pod: Obj, containers: list[Container]) -> str:
    """Return the phase of a pod that is not over: a crash loop is Running, a pull error Pending."""
    return "Pending" if any(_never_ran(c) for c in containers) else "Running"


def _never_ran(container: Container) -> bool:
    if "waiting" in container.state:
        return not container.last_state
    return bool(container.state.get("terminated", {}).get("reason") == START_ERROR)


def _conditions(
    pod: Obj, containers: list[Container], seen: Seen, ended_as: str, now: float
) -> list[Obj]:
    unready = [c.name for c in containers if not c.ready]
    not_ready: Obj = {}
    if ended_as:
        not_ready = {"reason": "PodCompleted" if ended_as == "Succeeded" else "PodFailed"}
    elif unready:
        message = f"containers with unready status: [{' '.join(unready)}]"
        not_ready = {"reason": "ContainersNotReady", "message": message}
    completed = {"reason": "PodCompleted"} if ended_as == "Succeeded" else {}
    has_network = seen.has_sandbox and not seen.final
    return [
        _condition(pod, "PodReadyToStartContainers", has_network, {}, now),
        _condition(pod, "Initialized", True, completed, now),
        _condition(pod, "Ready", not not_ready, not_ready, now),
        _condition(pod, "ContainersReady", not not_ready, not_ready, now),
        _condition(pod, "PodScheduled", True, {}, now),
    ]


def _condition(pod: Obj, kind: str, holds: bool, said: Obj, now: float) -> Obj:
    old = condition(pod, kind)
    status = "True" if holds else "False"
    since = timestamp(now)
    if old is not None and old["status"] == status:
        since = old["lastTransitionTime"]
    return {
        "type": kind,
        "observedGeneration": pod["metadata"].get("generation", 1),
        "status": status,
        "lastProbeTime": None,
        "lastTransitionTime": since,
        **said,
    }
