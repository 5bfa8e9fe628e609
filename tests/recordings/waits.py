"""What the walks wait for, each with its own deadline. Nothing is judged here."""

from __future__ import annotations

from tests.recordings.client import Namespace, Obj


def wait_ready(space: Namespace, name: str, replicas: int) -> None:
    def ready() -> bool:
        return bool(space.get("deployments", name)["status"].get("availableReplicas") == replicas)

    space.until(ready, seconds=60, what=f"{name} becoming available")


def wait_endpoints(space: Namespace, of: str, count: int) -> None:
    def listed() -> bool:
        slices = [s for s in space.list("endpointslices") if _service_of(s) == of]
        ends = [e for s in slices for e in s.get("endpoints") or []]
        return sum(bool(e["conditions"].get("ready")) for e in ends) == count == len(ends)

    space.until(listed, seconds=60, what=f"{count} endpoints of {of}")


def wait_serving(space: Namespace, service: str, deployment: str) -> None:
    """Wait until every endpoint of a Service is a pod of this Deployment."""

    def switched() -> bool:
        slices = [s for s in space.list("endpointslices") if _service_of(s) == service]
        names = [e["targetRef"]["name"] for s in slices for e in s.get("endpoints") or []]
        return bool(names) and all(name.startswith(f"{deployment}-") for name in names)

    space.until(switched, seconds=60, what=f"{service} leading to {deployment}")


def _service_of(piece: Obj) -> str:
    labels: dict[str, str] = piece["metadata"].get("labels", {})
    return labels.get("kubernetes.io/service-name", "")


def wait_no_pods(space: Namespace) -> None:
    space.until(lambda: not space.list("pods"), seconds=60, what="the pods going")


def wait_condition(space: Namespace, plural: str, name: str, kind: str) -> None:
    def holds() -> bool:
        conditions = space.get(plural, name).get("status", {}).get("conditions", [])
        return any(c["type"] == kind and c["status"] == "True" for c in conditions)

    space.until(holds, seconds=90, what=f"{kind} of {name}")


def statuses(space: Namespace) -> list[Obj]:
    pods = space.list("pods")
    return [s for p in pods for s in p.get("status", {}).get("containerStatuses") or []]


def wait_waiting(space: Namespace, reason: str, *, restarts: int = 0) -> None:
    def waits() -> bool:
        return any(
            s["state"].get("waiting", {}).get("reason") == reason and s["restartCount"] >= restarts
            for s in statuses(space)
        )

    space.until(waits, seconds=90, what=f"{reason} after {restarts} restarts")


def wait_event(space: Namespace, reason: str, *, count: int = 1) -> None:
    def told() -> bool:
        named = [e for e in space.list("events") if e["reason"] == reason]
        return sum(e.get("count") or 1 for e in named) >= count

    space.until(told, seconds=90, what=f"the event {reason}")


def wait_message(space: Namespace, begins: str) -> None:
    def told() -> bool:
        return any(e["message"].startswith(begins) for e in space.list("events"))

    space.until(told, seconds=60, what=f"an event {begins}")


def wait_line(space: Namespace, line: str) -> None:
    def printed() -> bool:
        names = [pod["metadata"]["name"] for pod in space.list("pods")]
        return any(line in space.log(name) for name in names if _has_begun(space, name))

    space.until(printed, seconds=60, what=f"the output {line}")


def _has_begun(space: Namespace, pod: str) -> bool:
    return bool(space.get("pods", pod)["status"]["phase"] == "Running")
