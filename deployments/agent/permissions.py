"""What the agent must be allowed to do in a cluster, and a question to the cluster about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deployments.agent import answers
from deployments.agent.kube import KubeApi
from deployments.agent.manifests import Request

REVIEWS = ("apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews")


@dataclass(frozen=True)
class Permission:
    """One right: a verb on a resource, of a group (empty for the core one)."""

    verb: str
    group: str
    resource: str
    subresource: str = ""

    def __str__(self) -> str:
        """Return it as a sentence names it: `list pods`, `get services/proxy`."""
        below = f"/{self.subresource}" if self.subresource else ""
        return f"{self.verb} {self.resource}{below}"


def _of(verbs: str, group: str, resource: str, subresource: str = "") -> list[Permission]:
    return [Permission(verb, group, resource, subresource) for verb in verbs.split()]


CHANGES = "get list create patch delete"

NEEDED: tuple[Permission, ...] = (
    *_of("get", "", "namespaces"),
    *_of("list", "", "nodes"),
    *_of("list", "", "pods"),
    *_of("get", "", "pods", "log"),
    *_of(CHANGES, "apps", "deployments"),
    *_of(CHANGES, "batch", "cronjobs"),
    *_of(CHANGES, "batch", "jobs"),
    *_of(CHANGES, "", "services"),
    *_of("get", "", "services", "proxy"),
    *_of("create get delete", "", "secrets"),
    *_of("list", "discovery.k8s.io", "endpointslices"),
    *_of("list", "", "resourcequotas"),
)


def missing(api: KubeApi) -> Iterator[Permission]:
    """Give the rights that the agent lacks, in every namespace alike. Raises Unreachable."""
    for permission in NEEDED:
        if not _has(api, permission):
            yield permission


def _has(api: KubeApi, permission: Permission) -> bool:
    asked = {
        "verb": permission.verb,
        "group": permission.group,
        "resource": permission.resource,
        "subresource": permission.subresource,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {key: value for key, value in asked.items() if value}},
    }
    answer = answers.check_creation(api.send(Request("POST", REVIEWS, review)))
    return answer is not None and (answer.get("status") or {}).get("allowed") is True
