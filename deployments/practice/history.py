"""The bounded history of changes that watches read from. How objects are stored is not here."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

from deployments.practice import errors

KEPT_CHANGES = 10_000


@dataclass(frozen=True)
class Change:
    """One write: `new` as it is after it (for DELETED: as it was last), `old` as it was before."""

    revision: int
    plural: str
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    new: dict[str, Any]
    old: dict[str, Any] | None


class History:
    """The newest changes, oldest first. The caller holds the store's lock."""

    def __init__(self, start: int, *, kept: int = KEPT_CHANGES) -> None:
        self._changes: deque[Change] = deque(maxlen=kept)
        self._forgotten = start

    def append(self, change: Change) -> None:
        if len(self._changes) == self._changes.maxlen:
            self._forgotten = self._changes[0].revision
        self._changes.append(change)

    def since(self, revision: int) -> list[Change]:
        """Return what happened after `revision`; raises 410 when some of it is forgotten."""
        if revision < self._forgotten:
            raise errors.gone(f"too old resource version: {revision} ({self._forgotten})")
        newer = []
        for change in reversed(self._changes):
            if change.revision <= revision:
                break
            newer.append(change)
        return newer[::-1]

    def forget(self, revision: int) -> None:
        """Forget everything up to `revision`, as a compaction does."""
        self._forgotten = max(self._forgotten, revision)
        while self._changes and self._changes[0].revision <= revision:
            self._changes.popleft()
