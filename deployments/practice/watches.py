"""Watches: what changes, as JSON lines, until the client's time is over or it goes away."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from deployments.practice.errors import ApiError
from deployments.practice.history import Change
from deployments.practice.lists import matcher, revision_of
from deployments.practice.requests import Request
from deployments.practice.routes import Target
from deployments.practice.selectors import Matches
from deployments.practice.store import Store
from deployments.practice.wire import outgoing

Object = dict[str, Any]

SHORTEST_DEFAULT_SECONDS = 1800
BOOKMARK_SECONDS = 30.0
LOOK_UP_SECONDS = 0.5
INITIAL_END = {"annotations": {"k8s.io/initial-events-end": "true"}}


@dataclass
class Watch:
    """One client's watch; `ended` says that the server stops or the client is gone."""

    store: Store
    target: Target
    matches: Matches
    revision: int
    bookmarks: bool
    seconds: float
    ended: Callable[[], bool]

    def changes(self) -> Iterator[bytes]:
        """Yield what happens from `revision` on; a 410 comes as an ERROR event and ends it."""
        end = time.monotonic() + self.seconds
        bookmark_at = time.monotonic() + BOOKMARK_SECONDS
        while time.monotonic() < end and not self.ended():
            try:
                yield from self._new_lines()
            except ApiError as error:
                yield line("ERROR", error.status())
                return
            if self.bookmarks and time.monotonic() >= bookmark_at:
                yield self.bookmark()
                bookmark_at = time.monotonic() + BOOKMARK_SECONDS
            self.store.wait(self.revision, min(LOOK_UP_SECONDS, max(end - time.monotonic(), 0)))

    def _new_lines(self) -> list[bytes]:
        with self.store.lock:
            changes = self.store.changes.since(self.revision)
            self.revision = self.store.revision
        return [found for change in changes if (found := self._line(change))]

    def _line(self, change: Change) -> bytes | None:
        """Return the event, seen through the selector: what begins to match is ADDED."""
        namespace = change.new["metadata"].get("namespace", "")
        if change.plural != self.target.plural or self.target.namespace not in ("", namespace):
            return None
        before = change.old is not None and self.matches(change.old)
        after = change.type != "DELETED" and self.matches(change.new)
        if not before and not after:
            return None
        kind = "MODIFIED" if before and after else "ADDED" if after else "DELETED"
        shown = change.new
        if kind == "DELETED" and change.type != "DELETED" and change.old is not None:
            # It left the selector: the real one shows it as it was, with the new revision.
            version = {"resourceVersion": str(change.revision)}
            shown = {**change.old, "metadata": {**change.old["metadata"], **version}}
        return line(kind, outgoing(self.target.kind, shown))

    def bookmark(self, metadata: Object | None = None) -> bytes:
        kind = self.target.kind
        shown = {"resourceVersion": str(self.revision), **(metadata or {})}
        obj = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": shown}
        return line("BOOKMARK", obj)


def line(kind: str, obj: Object) -> bytes:
    return json.dumps({"type": kind, "object": obj}, separators=(",", ":")).encode() + b"\n"


def watch(
    store: Store, request: Request, target: Target, ended: Callable[[], bool]
) -> Iterator[bytes]:
    """Return the lines of a watch; what is refused before it begins is raised here."""
    given = request.query.get("resourceVersion", "")
    revision = _begin(given)
    matches = matcher(request, target)
    default = SHORTEST_DEFAULT_SECONDS * (1 + random.random())  # noqa: S311 - spreads reconnects
    found = Watch(
        store=store,
        target=target,
        matches=matches,
        revision=revision,
        bookmarks=request.flag("allowWatchBookmarks"),
        seconds=request.number("timeoutSeconds") or default,
        ended=ended,
    )
    if revision == 0:
        return _from_the_start(found, initial_end=request.flag("sendInitialEvents"))
    return found.changes()


def _begin(given: str) -> int:
    """Return where a watch begins. Raises 500: here, unlike in a list, a bad one is no 400."""
    try:
        return revision_of(given)
    except ApiError as error:
        message = error.message.removeprefix("invalid resource version: ")
        raise ApiError(500, "", message) from None


def _from_the_start(found: Watch, *, initial_end: bool) -> Iterator[bytes]:
    """Yield what is there as ADDED, then what changes."""
    with found.store.lock:
        found.revision = found.store.revision
        present = found.store.stored(found.target.plural, found.target.namespace)
    for obj in present:
        if found.matches(obj):
            yield line("ADDED", outgoing(found.target.kind, obj))
    if initial_end:
        yield found.bookmark(INITIAL_END)
    yield from found.changes()
