"""Reading the kept end of what a deployment's containers wrote, over the API."""

from __future__ import annotations

from datetime import timedelta

from deployments.actions import outputs
from deployments.domain.outputs import Output, Source
from deployments.domain.states import State
from deployments.models import Deployment
from tests.api.client import STRANGER, Caller, Shop, outsider
from tests.factories import NOON, make_deployment


def failed(shop: Shop) -> Deployment:
    """Make a failed deployment of which a crash and what came after it are kept."""
    made = make_deployment(shop.web, state=State.FAILED)
    kept = [
        Output(Source("web-1", "web", previous=True), "no route to ledger\n"),
        Output(Source("web-1", "web", previous=False), "listening\n"),
    ]
    outputs.keep(made.pk, kept, now=NOON)
    return made


def test_the_kept_output_is_listed_with_where_it_came_from(viewer: Caller, shop: Shop) -> None:
    made = failed(shop)

    answer = viewer.get(f"/deployments/{made.pk}/output")

    assert answer.status == 200
    assert answer.body == {
        "items": [
            {
                "pod": "web-1",
                "container": "web",
                "previous": True,
                "text": "no route to ledger\n",
                "at": "2026-03-02T12:00:00Z",
            },
            {
                "pod": "web-1",
                "container": "web",
                "previous": False,
                "text": "listening\n",
                "at": "2026-03-02T12:00:00Z",
            },
        ],
        "next": None,
    }


def test_a_deployment_of_which_nothing_is_kept_has_an_empty_list(
    viewer: Caller, shop: Shop
) -> None:
    made = make_deployment(shop.web, state=State.HEALTHY)

    assert viewer.get(f"/deployments/{made.pk}/output").body == {"items": [], "next": None}


def test_what_was_read_last_replaces_what_was_kept_and_has_its_time(
    viewer: Caller, shop: Shop
) -> None:
    made = failed(shop)
    newer = Output(Source("web-1", "web", previous=True), "out of memory\n")
    outputs.keep(made.pk, [newer], now=NOON + timedelta(seconds=2))

    items = viewer.get(f"/deployments/{made.pk}/output").body["items"]

    assert [(item["text"], item["at"]) for item in items] == [
        ("out of memory\n", "2026-03-02T12:00:02Z"),
        ("listening\n", "2026-03-02T12:00:00Z"),
    ]


def test_who_may_not_see_the_deployment_may_not_see_its_output(shop: Shop) -> None:
    path = f"/deployments/{failed(shop).pk}/output"

    assert STRANGER.get(path).status == 401
    assert outsider().get(path).status == 404
    assert outsider().get(path).body["detail"] == outsider().get("/deployments/0/output").detail
