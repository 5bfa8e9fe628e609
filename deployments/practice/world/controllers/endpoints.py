"""Where Services lead: EndpointSlices, and the older Endpoints, from the pods that a selector
names.
"""

from __future__ import annotations

from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.jsons import timestamp
from deployments.practice.world.controllers.podmaking import suffix
from deployments.practice.world.hands import Hands
from deployments.practice.world.view import (
    View,
    annotations_of,
    is_going,
    is_over,
    is_ready,
    labels_of,
    matches,
    owner_reference,
)

Obj = dict[str, Any]

SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
CONTROLLER = "endpointslice-controller.k8s.io"
CHANGED = "endpoints.kubernetes.io/last-change-trigger-time"
PER_SLICE = 100


def reconcile(view: View, hands: Hands) -> None:
    for service in view.all("services"):
        selector = service["spec"].get("selector")
        if not selector or is_going(service) or service["spec"].get("type") == "ExternalName":
            continue
        try:
            _sync(service, _backends(service, selector, view), view, hands)
        except ApiError:
            # Somebody wrote meanwhile: the next look decides again.
            continue


def _backends(service: Obj, selector: dict[str, str], view: View) -> list[Obj]:
    """Return the pods behind a Service: with an address, and not over."""
    pods = view.in_namespace("pods", service["metadata"]["namespace"])
    return [
        pod
        for pod in pods
        if matches(selector, labels_of(pod)) and pod["status"].get("podIP") and not is_over(pod)
    ]


def _sync(service: Obj, pods: list[Obj], view: View, hands: Hands) -> None:
    groups = _by_ports(service, pods)
    slices = [s for s in view.owned("endpointslices", service) if not is_going(s)]
    for number, (ports, backends) in enumerate(groups):
        ends = [_endpoint(service, pod) for pod in backends]
        if number < len(slices):
            _refresh(slices[number], ends, ports, view.now, hands)
        else:
            hands.create("endpointslices", _new_slice(service, ends, ports, view.now))
    for left in slices[len(groups) :]:
        hands.delete("endpointslices", left)
    _sync_endpoints(service, groups, view, hands)


def _by_ports(service: Obj, pods: list[Obj]) -> list[tuple[list[Obj], list[Obj]]]:
    """Group pods by the numbers of their target ports; one name may mean several."""
    groups: dict[str, tuple[list[Obj], list[Obj]]] = {}
    for pod in sorted(pods, key=lambda p: str(p["metadata"]["creationTimestamp"])):
        ports = [found for p in service["spec"].get("ports", []) if (found := _port(p, pod))]
        groups.setdefault(str(ports), (ports, []))[1].append(pod)
    whole = list(groups.values()) or [([], [])]
    return [
        (ports, backends[i : i + PER_SLICE])
        for ports, backends in whole
        for i in range(0, max(len(backends), 1), PER_SLICE)
    ]


def _port(wanted: Obj, pod: Obj) -> Obj | None:
    target = wanted.get("targetPort", wanted["port"])
    number = target if isinstance(target, int) else named_port(pod, str(target))
    if number is None:
        return None
    return {
        "name": wanted.get("name", ""),
        "port": number,
        "protocol": wanted.get("protocol", "TCP"),
    }


def named_port(pod: Obj, name: str) -> int | None:
    """Return the number of a container port by its name."""
    for container in pod["spec"]["containers"]:
        for port in container.get("ports") or []:
            if port.get("name") == name:
                found: int = port["containerPort"]
                return found
    return None


def _endpoint(service: Obj, pod: Obj) -> Obj:
    going, serving = is_going(pod), is_ready(pod)
    ready = serving and not going
    if service["spec"].get("publishNotReadyAddresses"):
        ready = True
    return {
        "addresses": [pod["status"]["podIP"]],
        "conditions": {"ready": ready, "serving": serving, "terminating": going},
        "targetRef": _target(pod),
        "nodeName": pod["spec"]["nodeName"],
    }


def _target(pod: Obj) -> Obj:
    metadata = pod["metadata"]
    kept = {key: metadata[key] for key in ("namespace", "name", "uid")}
    return {"kind": "Pod", **kept}


def _new_slice(service: Obj, ends: list[Obj], ports: list[Obj], now: float) -> Obj:
    metadata = service["metadata"]
    prefix = f"{metadata['name']}-"
    return {
        "metadata": {
            "name": prefix + suffix(),
            "generateName": prefix,
            "namespace": metadata["namespace"],
            "labels": {
                **labels_of(service),
                MANAGED_BY: CONTROLLER,
                SERVICE_NAME: metadata["name"],
            },
            "annotations": {CHANGED: timestamp(now)},
            "ownerReferences": [owner_reference(service, "services")],
        },
        "addressType": "IPv4",
        "endpoints": ends or None,
        "ports": ports if ends else None,
    }


def _refresh(piece: Obj, ends: list[Obj], ports: list[Obj], now: float, hands: Hands) -> None:
    wanted = {"endpoints": ends or None, "ports": ports if ends else None}
    present = {"endpoints": piece.get("endpoints") or None, "ports": piece.get("ports") or None}
    if wanted == present:
        return
    annotations = {**annotations_of(piece), CHANGED: timestamp(now)}
    metadata = {**piece["metadata"], "annotations": annotations}
    hands.change("endpointslices", piece, metadata=metadata, **wanted)


# The older Endpoints, which the API server's proxy reads


def _sync_endpoints(
    service: Obj, groups: list[tuple[list[Obj], list[Obj]]], view: View, hands: Hands
) -> None:
    metadata = service["metadata"]
    subsets = [_subset(service, *group) for group in groups if group[1]]
    wanted = [subset for subset in subsets if len(subset) > 1]
    present = view.find("endpoints", metadata["namespace"], metadata["name"])
    if present is None:
        named = {"name": metadata["name"], "namespace": metadata["namespace"]}
        labels = {**labels_of(service), "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
        made: Obj = {"metadata": {**named, "labels": labels}}
        hands.create("endpoints", made | ({"subsets": wanted} if wanted else {}))
    elif (present.get("subsets") or []) != wanted:
        hands.change("endpoints", present, subsets=wanted)


def _subset(service: Obj, ports: list[Obj], pods: list[Obj]) -> Obj:
    # A pod that is going is in neither list, as in the real one.
    staying = [pod for pod in pods if not is_going(pod)]
    good = [pod for pod in staying if is_ready(pod)]
    if service["spec"].get("publishNotReadyAddresses"):
        good = staying
    lists = {
        "addresses": [_address(pod) for pod in good],
        "notReadyAddresses": [_address(pod) for pod in staying if pod not in good],
    }
    return {key: value for key, value in lists.items() if value} | {"ports": ports}


def _address(pod: Obj) -> Obj:
    return {
        "ip": pod["status"]["podIP"],
        "nodeName": pod["spec"]["nodeName"],
        "targetRef": _target(pod),
    }
