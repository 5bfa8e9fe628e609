"""What the API server answers when it refuses: one exception, and a constructor for each refusal.

The words are those of the real API server, because clients decide by them. HTTP is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deployments.practice.kinds import Kind

MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@dataclass(frozen=True)
class Cause:
    """One reason of a refusal: `field` is a path such as `spec.replicas`, without leading dot."""

    reason: str
    message: str
    field: str = ""

    def as_dict(self) -> dict[str, str]:
        found = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in found.items() if value}


class ApiError(Exception):
    """A refusal with its HTTP code; `status()` is the body that the real one would send."""

    def __init__(
        self, code: int, reason: str, message: str, *, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = dict(details or {})
        self.shows_details = details is not None
        self.metadata: dict[str, Any] = {}

    def status(self) -> dict[str, Any]:
        """Return the metav1.Status of this refusal."""
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            body["reason"] = self.reason
        if self.shows_details:
            body["details"] = self.details
        return body | {"code": self.code}


def details_of(kind: Kind, name: str, causes: Iterable[Cause] = ()) -> dict[str, Any]:
    """Return details that name the resource (`deployments`), as most refusals do."""
    return _details(kind.group, kind.plural, name, causes)


def _details(group: str, word: str, name: str, causes: Iterable[Cause] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "group": group, "kind": word}
    found["causes"] = [cause.as_dict() for cause in causes]
    return {key: value for key, value in found.items() if value}


def not_found(kind: Kind, name: str) -> ApiError:
    message = f'{kind.resource} "{name}" not found'
    return ApiError(404, "NotFound", message, details=details_of(kind, name))


def no_such_resource() -> ApiError:
    """Return the answer to a path that no resource serves."""
    message = "the server could not find the requested resource"
    return ApiError(404, "NotFound", message, details={})


def already_exists(kind: Kind, name: str, *, being_deleted: bool = False) -> ApiError:
    before = "object is being deleted: " if being_deleted else ""
    message = f'{before}{kind.resource} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, details=details_of(kind, name))


def conflict(kind: Kind, name: str, why: str = MODIFIED) -> ApiError:
    message = f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}'
    return ApiError(409, "Conflict", message, details=details_of(kind, name))


def stale_delete(kind: Kind, name: str, why: str) -> ApiError:
    """Return the 409 of a delete's precondition, which names the kind and not the resource."""
    word = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    details = _details(kind.group, kind.kind, name)
    message = f'Operation cannot be fulfilled on {word} "{name}": {why}'
    return ApiError(409, "Conflict", message, details=details)


def apply_conflict(causes: Iterable[Cause], message: str) -> ApiError:
    """Return the refusal of a server-side apply whose fields belong to somebody else."""
    found = [cause.as_dict() for cause in causes]
    plural = "" if len(found) == 1 else "s"
    text = f"Apply failed with {len(found)} conflict{plural}: {message}"
    return ApiError(409, "Conflict", text, details={"causes": found})


def invalid(kind: Kind, name: str, causes: Iterable[Cause]) -> ApiError:
    """Return a 422 that lists every cause; the message names the kind, not the resource."""
    found = list(causes)
    # Once each: two layers of the real one find the same fault, and its message says it once.
    parts = list(dict.fromkeys(f"{c.field}: {c.message}" for c in found))
    text = parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]"
    word = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    details = _details(kind.group, kind.kind, name, found)
    return ApiError(422, "Invalid", f'{word} "{name}" is invalid: {text}', details=details)


def rejected() -> ApiError:
    """Return the 422 of a patch that cannot be applied, such as a failed JSON patch `test`."""
    message = "the server rejected our request due to an error in our request"
    return ApiError(422, "Invalid", message, details={})


def forbidden(kind: Kind, name: str, why: str, causes: Iterable[Cause] = ()) -> ApiError:
    """Return a 403; an empty name gives `pods is forbidden`, as for lists."""
    quoted = f' "{name}"' if name else ""
    message = f"{kind.resource}{quoted} is forbidden: {why}"
    return ApiError(403, "Forbidden", message, details=details_of(kind, name, causes))


def gone(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def method_not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, details={})


def unsupported_media_type() -> ApiError:
    return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", details={})


def too_large(limit: int) -> ApiError:
    message = f"Request entity too large: limit is {limit}"
    return ApiError(413, "RequestEntityTooLarge", message)


def too_many_requests(message: str, *, retry_after_seconds: int = 1) -> ApiError:
    details = {"retryAfterSeconds": retry_after_seconds}
    return ApiError(429, "TooManyRequests", message, details=details)


def unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message)


def internal(message: str) -> ApiError:
    causes = [{"message": message}]
    text = f"Internal error occurred: {message}"
    return ApiError(500, "InternalError", text, details={"causes": causes})
