"""Lists in pages, by the key of the last row: a row that is added meanwhile moves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.db.models import Model, QuerySet

from deployments.api.requests import Page
from deployments.api.schemas import Listed

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


def newest_first(
    rows: QuerySet[Row], page: Page, *, key: str = "pk"
) -> tuple[list[Row], str | None]:
    """Return one page of rows, the highest key first, and what `next` leads to (None: no more)."""
    if page.next is not None:
        rows = rows.filter(**{f"{key}__lt": page.next})
    return _cut(rows.order_by(f"-{key}"), page, key)


def oldest_first(
    rows: QuerySet[Row], page: Page, *, key: str = "pk"
) -> tuple[list[Row], str | None]:
    """Return one page of rows, the lowest key first, and what `next` leads to (None: no more)."""
    if page.next is not None:
        rows = rows.filter(**{f"{key}__gt": page.next})
    return _cut(rows.order_by(key), page, key)


def listed(found: tuple[list[Row], str | None], shape: Callable[[Row], Item]) -> Listed[Item]:
    """Return a page as the API answers it."""
    rows, following = found
    return Listed(items=[shape(row) for row in rows], next=following)


def _cut(rows: QuerySet[Row], page: Page, key: str) -> tuple[list[Row], str | None]:
    # One row more than asked for says whether there is another page.
    found = list(rows[: page.limit + 1])
    shown = found[: page.limit]
    more = len(found) > page.limit
    return shown, str(getattr(shown[-1], key)) if more else None
