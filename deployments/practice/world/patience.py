"""How long to wait after each refusal before trying the same again: doubling, up to a limit, per
thing tried.
"""

from __future__ import annotations

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1000.0


class Patience:
    """Waits per key.

    Without it a refusal that is told in an event would wake its own retry for ever.
    """

    def __init__(self, *, first: float = FIRST_PAUSE, longest: float = LONGEST_PAUSE) -> None:
        self._first = first
        self._longest = longest
        self._pauses: dict[str, float] = {}
        self._until: dict[str, float] = {}

    def until(self, key: str) -> float:
        """Return when the next try is due; 0.0 where nothing was refused."""
        return self._until.get(key, 0.0)

    def refused(self, key: str, now: float) -> float:
        """Note a refusal and return when to try again."""
        pause = min(self._pauses.get(key, self._first / 2) * 2, self._longest)
        self._pauses[key] = pause
        self._until[key] = now + pause
        return now + pause

    def succeeded(self, key: str) -> None:
        self._pauses.pop(key, None)
        self._until.pop(key, None)
