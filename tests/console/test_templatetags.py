"""How moments and durations are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template

from console.templatetags.pilothouse import breakable, duration, exactly

NOON = datetime(2026, 12, 7, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (130, "2 min 10 s"),
        (600, "10 min"),
        (1815, "30 min"),
        (3600, "1 h"),
        (3900, "1 h 5 min"),
        (86400, "1 day"),
        (3 * 86400 + 5, "3 days"),
        (-5, "0 s"),
    ],
)
def test_a_duration_is_written_in_its_two_largest_units(seconds: int, words: str) -> None:
    assert duration(timedelta(seconds=seconds)) == words


def test_a_moment_is_written_in_full_with_its_zone() -> None:
    assert exactly(NOON) == "Mon 7 Dec 2026, 12:00:00 UTC"


def test_how_long_ago_stands_beside_the_exact_time() -> None:
    template = Template("{% load pilothouse %}{% ago moment %}")
    context = Context({"now": NOON, "moment": NOON - timedelta(minutes=4, seconds=30)})

    assert template.render(context) == (
        '<time datetime="2026-12-07T11:55:30+00:00" title="Mon 7 Dec 2026, 11:55:30 UTC"'
        ' data-show="ago">4 min ago</time>'
    )


def test_an_image_reference_breaks_after_a_slash_and_stays_text() -> None:
    assert breakable("registry:5000/shop/<api>:4") == ("registry:5000/<wbr>shop/<wbr>&lt;api&gt;:4")
