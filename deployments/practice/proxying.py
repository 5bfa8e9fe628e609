"""services/proxy and pods/proxy: which pod is asked, and what comes back."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from deployments.practice import errors
from deployments.practice.api import DialError, World
from deployments.practice.kinds import KINDS
from deployments.practice.requests import Request, Response
from deployments.practice.routes import Target
from deployments.practice.store import Store

Object = dict[str, Any]

# No program of the practice cluster speaks TLS.
NO_TLS = "tls: first record does not look like a TLS handshake"
HOP_HEADERS = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "date"})


@dataclass(frozen=True)
class Address:
    """One pod's port behind a service."""

    pod: Object
    port: int


@dataclass(frozen=True)
class Named:
    """What stands in the path: `http:web:80` is a scheme, a name and a port (name or number)."""

    whole: str
    name: str
    port: str
    scheme: str = "http"


def proxy(store: Store, world: World, request: Request, target: Target) -> Response:
    """Pass a request on to a pod and return what it answered. Raises ApiError."""
    named = _named(target)
    if target.plural == "pods":
        address = _of_pod(store, target, named)
    else:
        address = _of_service(store, target, named)
    if not target.rest:
        return _to_the_slash(request)
    if named.scheme == "https":
        raise errors.unavailable(f"error trying to reach service: {NO_TLS}")
    return _asked(world, address, request, target)


def _to_the_slash(request: Request) -> Response:
    query = f"?{urlencode(request.query)}" if request.query else ""
    location = {"Location": f"{quote(request.path)}/{query}"}
    return Response(301, media_type="text/html; charset=utf-8", headers=location)


def _named(target: Target) -> Named:
    match target.name.split(":"):
        case [name]:
            return Named(target.name, name, "")
        case [name, port]:
            return Named(target.name, name, port)
        case ["http" | "https" | "" as scheme, name, port]:
            return Named(target.name, name, port, scheme or "http")
    word = "service" if target.plural == "services" else "pod"
    raise errors.bad_request(f'invalid {word} request "{target.name}"')


def _of_pod(store: Store, target: Target, named: Named) -> Address:
    pod = store.get("pods", target.namespace, named.name)
    if not pod["status"].get("podIP"):
        raise errors.bad_request("address not allowed")
    ports = [port for found in pod["spec"].get("containers", []) for port in found.get("ports", [])]
    if named.port.isdecimal():
        return Address(pod, int(named.port))
    by_name = [port for port in ports if named.port in ("", port.get("name"))]
    if named.port and not by_name:
        raise errors.unavailable(f'no port "{named.port}" in pod "{named.name}"')
    return Address(pod, by_name[0]["containerPort"] if by_name else 80)


def _of_service(store: Store, target: Target, named: Named) -> Address:
    port_name = named.port
    if named.port.isdecimal():
        service = store.get("services", target.namespace, named.name)
        ports = [p for p in service["spec"].get("ports", []) if p["port"] == int(named.port)]
        if not ports:
            message = f'no service port {named.port} found for service "{named.name}"'
            raise errors.unavailable(message)
        port_name = ports[0].get("name", "")
    subsets = _subsets(store, target.namespace, named.name)
    if not subsets:
        raise errors.unavailable(f'no endpoints available for service "{named.name}"')
    random.shuffle(subsets)
    for subset in subsets:
        found = _in_subset(store, subset, port_name)
        if found is not None:
            return found
    raise errors.unavailable(f'no endpoints available for service "{named.whole}"')


def _subsets(store: Store, namespace: str, service: str) -> list[Object]:
    """Return the service's ready addresses with their ports. Raises 404 before there are any."""
    endpoints = store.find("endpoints", namespace, service)
    if endpoints is None:
        # It says services, although it is their endpoints that do not exist yet.
        raise errors.not_found(KINDS["services"], service)
    return list(endpoints.get("subsets", []))


def _in_subset(store: Store, subset: Object, port_name: str) -> Address | None:
    ports = [port for port in subset.get("ports", []) if port.get("name", "") == port_name]
    addresses = list(subset.get("addresses", []))
    random.shuffle(addresses)
    for address in addresses if ports else []:
        reference = address.get("targetRef") or {}
        # Only pods: the API server must not be made to call any address that somebody writes.
        if reference.get("kind") != "Pod":
            continue
        pod = store.find("pods", reference.get("namespace"), reference.get("name", ""))
        if pod is not None:
            return Address(pod, ports[0]["port"])
    return None


def _asked(world: World, address: Address, request: Request, target: Target) -> Response:
    query = f"?{urlencode(request.query)}" if request.query else ""
    path = quote(target.rest, safe="/:@!$&'()*+,;=-._~") + query
    try:
        answer = world.answer(address.pod, address.port, request.method, path, request.headers)
    except DialError as error:
        raise errors.unavailable(f"error trying to reach service: {error}") from None
    except TimeoutError:
        ip = address.pod["status"].get("podIP", "")
        message = f"error trying to reach service: dial tcp {ip}:{address.port}: i/o timeout"
        raise errors.unavailable(message) from None
    headers = {k: v for k, v in answer.headers.items() if k.lower() not in HOP_HEADERS}
    media_type = headers.pop("Content-Type", "text/plain; charset=utf-8")
    return Response(answer.status, answer.body, media_type, headers)
