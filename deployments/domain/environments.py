"""What an environment may be called and bound to. Who may change it is in `roles`."""

from __future__ import annotations

import re

from deployments.domain.errors import Invalid, Problem
from deployments.domain.images import LONGEST_REFERENCE
from deployments.domain.names import slug_problem

PROTECTION_LATER = (
    "Protected environments come with approvals; production stays unprotected until then."
)
LONGEST_NAMESPACE = 63
LONGEST_REGISTRY = LONGEST_REFERENCE // 2

_NAMESPACE = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_REGISTRY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?")


def check_new(*, slug: str, namespace: str, default_registry: str) -> None:
    """Raise Invalid with everything that is wrong with a new environment."""
    found = {
        "/slug": slug_problem(slug, what="An environment's slug"),
        "/namespace": namespace_problem(namespace),
        "/default_registry": default_registry_problem(default_registry),
    }
    problems = [Problem(pointer, detail) for pointer, detail in found.items() if detail]
    if problems:
        raise Invalid(*problems)


def namespace_problem(namespace: str) -> str | None:
    """Return what is wrong with a namespace's name, or None."""
    if not 1 <= len(namespace) <= LONGEST_NAMESPACE:
        return f"A namespace has 1 to {LONGEST_NAMESPACE} characters; this has {len(namespace)}."
    if not _NAMESPACE.fullmatch(namespace):
        return "A namespace consists of a-z, 0-9 and - and begins and ends with a letter or digit."
    if namespace.startswith("kube-"):
        return "Namespaces that begin with kube- belong to Kubernetes itself."
    return None


def default_registry_problem(registry: str) -> str | None:
    """Return what is wrong with a default registry (`host` or `host:port`), or None; empty is
    none at all."""
    if not registry:
        return None
    if len(registry) > LONGEST_REGISTRY or not _REGISTRY.fullmatch(registry):
        return "A default registry is a host, or host:port, such as registry.example:5000."
    host = registry.partition(":")[0]
    if "." not in host and ":" not in registry and host != "localhost":
        return "A default registry's host has a dot or a port, such as registry.example."
    return None
