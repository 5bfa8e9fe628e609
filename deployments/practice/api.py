"""What the API server asks of the world behind it: answers of pods, and their logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Answer:
    """What a container answered to one HTTP request."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class DialError(Exception):
    """Nobody answered; the text is what Go says, as `dial tcp 10.244.0.7:8080: connect: ...`."""


class World(Protocol):
    """The half with nodes, kubelets and controllers, as far as the API server needs it."""

    def answer(
        self, pod: dict[str, Any], port: int, method: str, path: str, headers: Mapping[str, str]
    ) -> Answer:
        """Send one request to a container of this pod. `path` begins with `/`, query included.

        Raises DialError when nothing listens there, TimeoutError when no answer came.
        """

    def log(self, pod: dict[str, Any], container: str, *, previous: bool) -> str:
        """Return everything that this container wrote. Raises ApiError in the real one's words."""
