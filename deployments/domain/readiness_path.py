"""The path of a readiness check: a path on the release's own Service and nothing else.

The check goes through the API server's proxy, so a path that could leave it is refused.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from deployments.domain.limits import READINESS_PATH_LENGTH

_ALLOWED = re.compile(r"[!-~]*")  # printable ASCII without the space
_LEADS_AWAY = ("@", "\\", "://", "#")


def path_problem(path: str) -> str | None:
    """Return what is wrong with a readiness path, as the end of a sentence, or None."""
    if len(path) > READINESS_PATH_LENGTH:
        return f"has at most {READINESS_PATH_LENGTH} characters; this has {len(path)}"
    if not path.startswith("/") or path.startswith("//"):
        return "begins with one /, without a scheme and a host"
    plain = _decoded(path)
    if not _ALLOWED.fullmatch(path) or not plain.isprintable():
        return "has no spaces, control characters or letters beyond ASCII; encode them with %"
    if any(mark in plain for mark in _LEADS_AWAY):
        return "contains no @, \\, # and no ://"
    if any(part in {".", ".."} for part in plain.partition("?")[0].split("/")):
        return "contains no . or .. between two /"
    return None


def _decoded(path: str) -> str:
    """Return the path as the last of several servers may read it: each may decode it once."""
    for _ in range(3):
        path = unquote(path)
    return path
