"""SelfSubjectAccessReview: what the asking user may do."""

from __future__ import annotations

from typing import Any

from deployments.practice.access import User
from deployments.practice.discovery import ACCESS_REVIEW
from deployments.practice.requests import Request, Response, json_response

PATH = f"/apis/{ACCESS_REVIEW.api_version}/{ACCESS_REVIEW.plural}"


def review(request: Request) -> Response:
    """Answer one review; nothing is stored."""
    body = request.json()
    spec = body.get("spec", {})
    status: dict[str, Any] = {"allowed": _allowed(request.user, spec)}
    answer = {
        "kind": ACCESS_REVIEW.kind,
        "apiVersion": ACCESS_REVIEW.api_version,
        "metadata": {},
        "spec": spec,
        "status": status,
    }
    return json_response(answer, 201)


def _allowed(user: User, spec: dict[str, Any]) -> bool:
    asked = spec.get("resourceAttributes", {})
    resource = asked.get("resource", "")
    if asked.get("subresource"):
        resource = f"{resource}/{asked['subresource']}"
    return user.may(
        asked.get("verb", ""), asked.get("group", ""), resource, asked.get("namespace", "")
    )
