"""An API server that refuses every change of a Service in one namespace, for a while.

On the practice cluster a right is taken away; on a real one an admission policy says no.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deployments.agent.manifests import Request
from deployments.practice.access import ADMINISTRATOR, Denial
from deployments.practice.cluster import PracticeCluster
from tests.cluster.product import Product
from tests.cluster.target import Target

POLICIES = ("apis", "admissionregistration.k8s.io", "v1")
POLICY, BINDING = "validatingadmissionpolicies", "validatingadmissionpolicybindings"
SECONDS_TO_TAKE_EFFECT = 30
PROBE = "asked-before"


@contextmanager
def refused_switches(product: Product) -> Iterator[None]:
    """Refuse every change of a Service in the product's namespace."""
    on, namespace = product.on, product.environment.namespace
    if on.practice is not None:
        with _denied(on.practice, namespace):
            yield
    else:
        with _against_policy(on, namespace):
            yield


@contextmanager
def _denied(practice: PracticeCluster, namespace: str) -> Iterator[None]:
    refused = Denial("patch", "services", namespace=namespace)
    practice.users.add(practice.token, ADMINISTRATOR, [refused])
    try:
        yield
    finally:
        practice.users.add(practice.token, ADMINISTRATOR)


@contextmanager
def _against_policy(on: Target, namespace: str) -> Iterator[None]:
    name = f"no-change-{namespace}"
    _probe(on, "POST", namespace)
    for plural, body in ((POLICY, _policy(name)), (BINDING, _binding(name, namespace))):
        assert on.api.send(Request("POST", (*POLICIES, plural), body)).status == 201
    try:
        _until_refused(on, namespace)
        yield
    finally:
        for plural in (BINDING, POLICY):
            on.api.send(Request("DELETE", (*POLICIES, plural, name)))


def _policy(name: str) -> dict[str, Any]:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["services"],
    }
    says = {"expression": "false", "message": "no Service is changed today"}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [says]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": spec,
    }


def _binding(name: str, namespace: str) -> dict[str, Any]:
    only_here = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": only_here},
        },
    }


def _until_refused(on: Target, namespace: str) -> None:
    """A policy is asked some time after it was made: wait until it refuses a Service of ours."""
    ends = time.monotonic() + SECONDS_TO_TAKE_EFFECT
    while _probe(on, "PATCH", namespace) == 200:
        assert time.monotonic() < ends, "the policy has no effect"
        time.sleep(0.1)


def _probe(on: Target, method: str, namespace: str) -> int:
    services = ("api", "v1", "namespaces", namespace, "services")
    if method == "POST":
        port = {"port": 80, "targetPort": 80}
        spec = {"ports": [port], "selector": {"nobody": "none"}}
        body: dict[str, Any] = {"metadata": {"name": PROBE}, "spec": spec}
        return on.api.send(Request("POST", services, body)).status
    changed = {"metadata": {"annotations": {"asked": str(time.monotonic())}}}
    merge = "application/merge-patch+json"
    return on.api.send(Request("PATCH", (*services, PROBE), changed, merge)).status
