"""Addresses of services: allocated at the creation, never changed afterwards."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from deployments.practice.errors import Cause, invalid
from deployments.practice.kinds import KINDS

Object = dict[str, Any]

SERVICE_NETWORK = ipaddress.IPv4Network("10.96.0.0/16")
FIRST_ALLOCATED = 10
KEPT = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")


def allocate(plural: str, new: Object, services: Mapping[Any, Object]) -> None:
    """Give a new service the lowest free address, unless it is headless or brings its own."""
    spec = new.get("spec", {})
    if plural != "services" or spec.get("type") == "ExternalName":
        return
    if spec.get("clusterIP", "None") != "None":
        _check_given(new)
    elif not spec.get("clusterIP"):
        used = {service["spec"].get("clusterIP") for service in services.values()}
        spec["clusterIP"] = next(ip for ip in _addresses() if ip not in used)
    spec["clusterIPs"] = [spec["clusterIP"]]


def _check_given(new: Object) -> None:
    address = new["spec"]["clusterIP"]
    try:
        inside = ipaddress.ip_address(address) in SERVICE_NETWORK
    except ValueError:
        inside = False
    if not inside:
        message = (
            f'Invalid value: ["{address}"]: failed to allocate IP {address}: the provided IP '
            f"({address}) is not in the valid range. The range of valid IPs is {SERVICE_NETWORK}"
        )
        cause = Cause("FieldValueInvalid", message, "spec.clusterIPs")
        raise invalid(KINDS["services"], new["metadata"]["name"], [cause])


def _addresses() -> Iterator[str]:
    for number in range(FIRST_ALLOCATED, SERVICE_NETWORK.num_addresses - 1):
        yield str(SERVICE_NETWORK[number])


def keep(plural: str, new: Object, old: Object) -> None:
    """Fill in the address that an update leaves out, as the real one does."""
    if plural != "services" or new.get("spec", {}).get("type") == "ExternalName":
        return
    for field in KEPT:
        if field in old["spec"] and not new["spec"].get(field):
            new["spec"][field] = old["spec"][field]
