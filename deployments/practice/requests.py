"""One request and one response, as the resource handlers see them. Sockets are in `server`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from deployments.practice import errors
from deployments.practice.access import User
from deployments.practice.jsons import Json
from deployments.practice.kinds import options_kind

OPTIONS = {"PATCH": "PatchOptions", "PUT": "UpdateOptions", "DELETE": "DeleteOptions"}
JSON_TYPE = "application/json"


@dataclass(frozen=True)
class Request:
    """`path` is decoded, `query` has the last value of each parameter."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: User = field(default_factory=lambda: User("kubernetes-admin"))

    def flag(self, name: str) -> bool:
        return self.query.get(name, "").lower() in ("1", "t", "true")

    def number(self, name: str) -> int | None:
        """Return a whole number of the query, None when it is missing. Raises 400."""
        text = self.query.get(name)
        if not text:
            return None
        try:
            return int(text)
        except ValueError:
            raise errors.bad_request(
                f'strconv.ParseInt: parsing "{text}": invalid syntax'
            ) from None

    @property
    def media_type(self) -> str:
        return self.headers.get("Content-Type", JSON_TYPE).partition(";")[0].strip()

    @property
    def manager(self) -> str:
        """Who owns what this request writes: `fieldManager`, else the start of the user agent."""
        named = self.query.get("fieldManager")
        return named or self.headers.get("User-Agent", "unknown").partition("/")[0]

    @property
    def dry_run(self) -> bool:
        found = self.query.get("dryRun", "")
        if found not in ("", "All"):
            message = f'Unsupported value: ["{found}"]: supported values: "All"'
            cause = errors.Cause("FieldValueNotSupported", message, "dryRun")
            options = OPTIONS.get(self.method, "CreateOptions")
            raise errors.invalid(options_kind(options), "", [cause])
        return found == "All"

    def json(self) -> Json:
        """Return the decoded body. Raises 400 when it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise errors.bad_request(f"error decoding the body as JSON: {error}") from None


@dataclass(frozen=True)
class Response:
    """Either a whole body, or lines that are sent one by one as they come."""

    code: int = 200
    body: bytes = b""
    media_type: str = JSON_TYPE
    headers: Mapping[str, str] = field(default_factory=dict)
    lines: Iterator[bytes] | None = None


def json_response(value: Json, code: int = 200) -> Response:
    return Response(code, json.dumps(value, separators=(",", ":")).encode() + b"\n")


def error_response(error: errors.ApiError) -> Response:
    headers = {}
    if "retryAfterSeconds" in error.details:
        headers["Retry-After"] = str(error.details["retryAfterSeconds"])
    body = json.dumps(error.status(), separators=(",", ":")).encode() + b"\n"
    return Response(error.code, body, headers=headers)
