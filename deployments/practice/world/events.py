"""Events as the recorder of client-go writes them: counted series, combined ones, and a limit for
noise.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.jsons import timestamp
from deployments.practice.store import Store

Obj = dict[str, Any]

BURST = 25
REFILL_SECONDS = 300
SIMILAR_AT_MOST = 10
SIMILAR_SECONDS = 600
COMBINED = "(combined from similar events): "


@dataclass(frozen=True)
class Teller:
    """Who writes: the component in events, the node where there is one, the field manager."""

    component: str
    host: str = ""
    manager: str = "kube-controller-manager"

    def source(self) -> dict[str, str]:
        return {"component": self.component} | ({"host": self.host} if self.host else {})


@dataclass
class _Noise:
    """How much one source has said about one object."""

    tokens: float = BURST
    at: float = 0.0


@dataclass
class _Similar:
    """The messages of one reason about one object within ten minutes."""

    messages: dict[str, float] = field(default_factory=dict)


class Recorder:
    """Writes events. What it remembers of a series is lost with a restart, as the real one's is."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._names: dict[tuple[str, ...], str] = {}
        self._noise: dict[tuple[str, ...], _Noise] = {}
        self._similar: dict[tuple[str, ...], _Similar] = {}
        self._serial = itertools.count(int(store.clock() * 1e9))

    def record(
        self, teller: Teller, about: Obj, kind: str, reason: str, message: str, *, field: str = ""
    ) -> None:
        """Write an event, or count up the one that says the same."""
        now = self._store.clock()
        uid = about["metadata"]["uid"]
        who = (teller.component, teller.host, uid)
        message = self._combined((*who, kind, reason, field), message, now)
        if not self._may_speak(who, now):
            return
        key = (*who, kind, reason, field, message)
        if message.startswith(COMBINED):
            key = (*who, kind, reason, field, COMBINED)
        if key in self._names and self._count_up(self._names[key], about, message, now):
            return
        self._names[key] = self._write(
            teller, about, kind, reason=reason, message=message, field=field
        )
        self._forget(now)

    def _combined(self, key: tuple[str, ...], message: str, now: float) -> str:
        similar = self._similar.setdefault(key, _Similar()).messages
        for said, at in list(similar.items()):
            if now - at > SIMILAR_SECONDS:
                del similar[said]
        similar[message] = now
        return COMBINED + message if len(similar) >= SIMILAR_AT_MOST else message

    def _may_speak(self, who: tuple[str, ...], now: float) -> bool:
        noise = self._noise.setdefault(who, _Noise(at=now))
        noise.tokens = min(BURST, noise.tokens + (now - noise.at) / REFILL_SECONDS)
        noise.at = now
        if noise.tokens < 1:
            return False
        noise.tokens -= 1
        return True

    def _count_up(self, name: str, about: Obj, message: str, now: float) -> bool:
        namespace = about["metadata"].get("namespace") or "default"
        found = self._store.find("events", namespace, name)
        if found is None:
            return False
        found["count"] += 1
        found["lastTimestamp"] = timestamp(now)
        found["message"] = message
        try:
            self._store.update("events", found)
        except ApiError:
            return False
        return True

    def _write(
        self, teller: Teller, about: Obj, kind: str, *, reason: str, message: str, field: str
    ) -> str:
        now = timestamp(self._store.clock())
        metadata = about["metadata"]
        namespace = metadata.get("namespace") or "default"
        name = f"{metadata['name']}.{next(self._serial):x}"
        event = {
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": reference(about, field),
            "type": kind,
            "reason": reason,
            "message": message,
            "source": teller.source(),
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "eventTime": None,
            "reportingComponent": teller.component,
            "reportingInstance": teller.host,
        }
        try:
            self._store.create("events", event)
        except ApiError:
            # The namespace is on its way out: nobody will read it.
            return ""
        return name

    def _forget(self, now: float) -> None:
        """Drop what is remembered of objects that nobody spoke about for an hour."""
        if len(self._noise) < 1000:  # noqa: PLR2004 - a bound on memory, not a rule
            return
        old = {who for who, noise in self._noise.items() if now - noise.at > 3600}  # noqa: PLR2004
        self._noise = {k: v for k, v in self._noise.items() if k not in old}
        self._names = {k: v for k, v in self._names.items() if k[:3] not in old}
        self._similar = {k: v for k, v in self._similar.items() if k[:3] not in old}


def reference(about: Obj, field: str) -> Obj:
    metadata = about["metadata"]
    found = {
        "kind": about["kind"],
        "namespace": metadata.get("namespace"),
        "name": metadata["name"],
        "uid": metadata["uid"],
        "apiVersion": about["apiVersion"],
        "resourceVersion": metadata.get("resourceVersion"),
        "fieldPath": field,
    }
    return {key: value for key, value in found.items() if value}
