"""Lists: selectors, pages that stay consistent while things change, and resource versions."""

from __future__ import annotations

import base64
import json
import secrets
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

from deployments.practice import errors
from deployments.practice.requests import Request
from deployments.practice.routes import Target
from deployments.practice.selectors import Matches, field_matcher, label_matcher
from deployments.practice.store import Store
from deployments.practice.wire import as_list

Object = dict[str, Any]
# `list` is the name of a method here.
Objects = list[Object]

KEPT_PAGED_LISTS = 64
WAIT_FOR_REVISION_SECONDS = 3.0
TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)
INCONSISTENT = -1


@dataclass(frozen=True)
class Token:
    """What a `continue` parameter holds: which kept list, its revision, the last name sent."""

    kept: str
    revision: int
    after: tuple[str, str]

    def text(self) -> str:
        value = {"rv": self.revision, "start": self.after, "id": self.kept}
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@dataclass(frozen=True)
class Page:
    """What is left of a list, the moment it is of, and the name under which it is kept."""

    rows: Objects
    revision: int
    kept: str = ""


def _token(text: str) -> Token:
    try:
        value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return Token(value["id"], value["rv"], tuple(value["start"]))
    except (ValueError, KeyError, TypeError):
        raise errors.bad_request(
            "invalid continue token: continue key is not valid: invalid token"
        ) from None


class Lister:
    """Answers lists; keeps the rest of paged ones, so that later pages are of the same moment."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, Objects] = OrderedDict()

    def list(self, request: Request, target: Target) -> Object:
        """Return the list that was asked for, or one page of it."""
        matches = matcher(request, target)
        limit = request.number("limit") or 0
        given = request.query.get("continue", "")
        with self._store.lock:
            if given:
                page = self._rest(_token(given), target, matches)
            else:
                self._check_revision(request)
                page = Page(self._now(target, matches), self._store.revision)
            selected = request.query.get("labelSelector") or request.query.get("fieldSelector")
            return self._first(page, limit, target, selected=bool(selected))

    def forget_pages(self) -> None:
        """Forget what was kept for later pages, as a compaction does."""
        self._kept.clear()

    def _now(self, target: Target, matches: Matches) -> Objects:
        return [obj for obj in self._store.stored(target.plural, target.namespace) if matches(obj)]

    def _rest(self, token: Token, target: Target, matches: Matches) -> Page:
        if token.revision == INCONSISTENT:
            page = Page(self._now(target, matches), self._store.revision)
        elif token.kept in self._kept:
            page = Page(self._kept[token.kept], token.revision, token.kept)
        else:
            error = errors.gone(TOO_OLD)
            error.metadata = {"continue": Token("", INCONSISTENT, token.after).text()}
            raise error
        rest = [obj for obj in page.rows if _key(obj) > token.after]
        return replace(page, rows=rest)

    def _first(self, page: Page, limit: int, target: Target, *, selected: bool) -> Object:
        """Return the first `limit` rows of a page; 0 means all of them."""
        rows = page.rows
        metadata: Object = {"resourceVersion": str(page.revision)}
        if limit and len(rows) > limit:
            kept = page.kept or secrets.token_hex(8)
            self._keep(kept, rows)
            metadata["continue"] = Token(kept, page.revision, _key(rows[limit - 1])).text()
            if not selected:
                metadata["remainingItemCount"] = len(rows) - limit
            rows = rows[:limit]
        return as_list(target.kind, rows, metadata)

    def _keep(self, name: str, rows: Objects) -> None:
        self._kept[name] = rows
        self._kept.move_to_end(name)
        while len(self._kept) > KEPT_PAGED_LISTS:
            self._kept.popitem(last=False)

    def _check_revision(self, request: Request) -> None:
        wanted = revision_of(request.query.get("resourceVersion", ""))
        wait_for_revision(self._store, wanted)
        exact = request.query.get("resourceVersionMatch") == "Exact"
        if exact and wanted != self._store.revision:
            raise errors.gone("The resourceVersion for the provided list is too old.")


def matcher(request: Request, target: Target) -> Matches:
    """Return whether an object belongs to this list or watch."""
    labels = label_matcher(request.query.get("labelSelector", ""))
    fields = field_matcher(target.kind, request.query.get("fieldSelector", ""))
    return lambda obj: labels(obj) and fields(obj) and target.name in ("", obj["metadata"]["name"])


def revision_of(text: str) -> int:
    """Return a resourceVersion parameter as a number, 0 when it is missing. Raises 400."""
    if not text:
        return 0
    if not text.isdecimal():
        raise errors.bad_request(
            f'invalid resource version: resourceVersion: Invalid value: "{text}": '
            f'strconv.ParseUint: parsing "{text}": invalid syntax'
        )
    return int(text)


def wait_for_revision(store: Store, wanted: int) -> None:
    """Wait a little for a revision of the future, then raise 504 as a cache that lags does."""
    if wanted <= store.wait(wanted - 1, 0):
        return
    present = store.wait(wanted - 1, WAIT_FOR_REVISION_SECONDS)
    if present < wanted:
        message = f"Timeout: Too large resource version: {wanted}, current: {present}"
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        details = {"causes": [cause], "retryAfterSeconds": 1}
        raise errors.ApiError(504, "Timeout", message, details=details)


def _key(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
