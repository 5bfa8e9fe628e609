"""What an API server's answer means: a body, silence, a change that came too late, or a no.

Pure: how the answer was fetched is in `kube.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deployments.agent.cluster import CommandRefused, Forbidden, Stale, Unreachable
from deployments.domain.text import one_line

Json = dict[str, Any]

LONGEST_MESSAGE = 400
REFUSED, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, CONFLICT = 300, 401, 403, 404, 409
SERVER_ERROR = 500
_NOBODY_TO_BELIEVE = frozenset({401, 408, 429})
# A webhook may give its no any status, also a 5xx; whoever wrote it meant no, not "try again".
_A_WEBHOOKS_NO = "denied the request"


@dataclass(frozen=True)
class Answer:
    """An HTTP answer as it came. `whole` says that the body was not cut at its limit."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    whole: bool = True


def parsed(answer: Answer) -> Json:
    """Return the body as an object. Raises Unreachable for anything else."""
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        body = None
    if not answer.whole or not isinstance(body, dict):
        raise Unreachable(f"Kubernetes answered {answer.status} with something that is no JSON")
    return body


def status_of(answer: Answer) -> Json:
    """Return the Kubernetes Status in a body, empty when it has none."""
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) and body.get("kind") == "Status" else {}


def message_of(answer: Answer) -> str:
    """Return the sentence of an answer on one line: the Status' own, else the body."""
    said = status_of(answer).get("message") or answer.body.decode("utf-8", "replace")
    return one_line(str(said), LONGEST_MESSAGE)


def check_believable(answer: Answer) -> None:
    """Raise Unreachable for an answer that says nothing about what was asked."""
    if _A_WEBHOOKS_NO in message_of(answer):
        return
    if answer.status in _NOBODY_TO_BELIEVE or answer.status >= SERVER_ERROR:
        raise Unreachable(_unbelievable(answer))


def check_change(answer: Answer) -> Json:
    """Return the object that a patch or delete answered with; raise what the answer means."""
    check_believable(answer)
    if answer.status in {NOT_FOUND, CONFLICT} or _is_another_object(answer):
        raise Stale(message_of(answer))
    return _accepted(answer)


def check_creation(answer: Answer) -> Json | None:
    """Return the created object, None where the name exists already; raise what else it means."""
    check_believable(answer)
    if answer.status == CONFLICT and status_of(answer).get("reason") == "AlreadyExists":
        return None
    if answer.status == CONFLICT:
        raise Stale(message_of(answer))
    return _accepted(answer)


def check_read(answer: Answer) -> Json | None:
    """Return the object that a read found, None for 404; an answered no is Unreachable too.

    What may not be read cannot be judged, so it never becomes a failure of a deployment.
    """
    check_believable(answer)
    if answer.status == NOT_FOUND:
        return None
    if answer.status >= REFUSED:
        kind = Forbidden if answer.status == FORBIDDEN else Unreachable
        raise kind(f"Kubernetes answered {answer.status}: {message_of(answer)}")
    return parsed(answer)


def _is_another_object(answer: Answer) -> bool:
    """Whether a change named a uid that the object of this name does not have."""
    return "metadata.uid: Invalid value" in message_of(answer)


def _accepted(answer: Answer) -> Json:
    if answer.status >= REFUSED:
        reason = one_line(str(status_of(answer).get("reason") or ""), 100)
        raise CommandRefused(answer.status, reason, message_of(answer))
    return parsed(answer)


def _unbelievable(answer: Answer) -> str:
    if answer.status == UNAUTHORIZED:
        return "401 Unauthorized: Kubernetes does not accept the credentials"
    return f"Kubernetes answered {answer.status}: {message_of(answer)}"
