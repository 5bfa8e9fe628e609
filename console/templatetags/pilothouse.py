"""How the console writes icons, moments and durations. What is shown is decided in `reads`.

The tags that depend on the time of day take it from the page's `now`, so that everything on a
page speaks of the same moment.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from deployments.reads.cards import StageRow

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw one shape of `static/icons.svg`; the word beside it says the same."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', static("icons.svg"), name
    )


@register.filter
def breakable(reference: str) -> SafeString:
    """Write an image reference that breaks after a slash where it has to, before any word does."""
    return format_html_join(mark_safe("/<wbr>"), "{}", ((part,) for part in reference.split("/")))


MINUTE, HOUR, DAY = 60, 3600, 86400  # seconds


@register.filter
def duration(span: timedelta) -> str:
    """Write a duration as `50 s`, `2 min 10 s`, `14 min`, `1 h 5 min`, `3 days`."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < MINUTE:
        return f"{seconds} s"
    if seconds < 10 * MINUTE:
        return _two(seconds, (MINUTE, "min"), (1, "s"))
    if seconds < HOUR:
        return f"{seconds // MINUTE} min"
    if seconds < DAY:
        return _two(seconds, (HOUR, "h"), (MINUTE, "min"))
    return "1 day" if seconds < 2 * DAY else f"{seconds // DAY} days"


def _two(seconds: int, large: tuple[int, str], small: tuple[int, str]) -> str:
    """Write a duration in two units, the smaller one only where something is left for it."""
    whole, rest = divmod(seconds, large[0])
    left = rest // small[0]
    return f"{whole} {large[1]} {left} {small[1]}" if left else f"{whole} {large[1]}"


def _ago(span: timedelta) -> str:
    """Write how long ago something was, in its largest unit only."""
    seconds = max(0, int(span.total_seconds()))
    for size, unit in ((MINUTE, "s"), (HOUR, "min"), (DAY, "h")):
        if seconds < size:
            return f"{seconds // _SIZES[unit]} {unit} ago"
    return f"{duration(span)} ago"


_SIZES = {"s": 1, "min": MINUTE, "h": HOUR}


def _time(moment: datetime, text: str, show: str) -> SafeString:
    return format_html(
        '<time datetime="{}" title="{}" data-show="{}">{}</time>',
        moment.isoformat(timespec="seconds"),
        exactly(moment),
        show,
        text,
    )


@register.filter
def exactly(moment: datetime) -> str:
    """Write a moment in full with its zone; the page's script changes it to the reader's own."""
    local = timezone.localtime(moment)
    return f"{local:%a} {local.day} {local:%b %Y, %H:%M:%S %Z}"


@register.simple_tag(takes_context=True)
def ago(context: template.Context, moment: datetime) -> SafeString:
    """Write `4 min ago`, with the exact time on hover."""
    return _time(moment, _ago(context["now"] - moment), "ago")


@register.simple_tag(takes_context=True)
def spent_since(context: template.Context, moment: datetime) -> SafeString:
    """Write how long something has been going on: `2 min 10 s`."""
    return _time(moment, duration(context["now"] - moment), "spent")


@register.simple_tag(takes_context=True)
def bar(context: template.Context, row: StageRow) -> SafeString:
    """Draw a stage's thin bar: the time spent out of the usual time, full once it is done."""
    whole = int(row.usual.total_seconds())
    if row.since is not None:
        value = min(whole, int((context["now"] - row.since).total_seconds()))
        return format_html(
            '<progress aria-hidden="true" max="{}" value="{}" data-since="{}"></progress>',
            whole,
            value,
            row.since.isoformat(timespec="seconds"),
        )
    value = min(whole, int(row.spent.total_seconds())) if row.spent is not None else 0
    return format_html('<progress aria-hidden="true" max="{}" value="{}"></progress>', whole, value)


@register.simple_tag(takes_context=True)
def part(context: template.Context, row: StageRow) -> SafeString:
    """Draw one part of a card's bar: full for a stage that is behind, empty for one ahead."""
    if row.since is not None:
        return bar(context, row)
    value = 1 if row.reached else 0
    return format_html('<progress aria-hidden="true" max="1" value="{}"></progress>', value)
