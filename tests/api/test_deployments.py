"""Deploying and reading deployments, releases and statuses, over the API."""

from __future__ import annotations

from datetime import timedelta

import pytest

from deployments.domain.roles import Role
from deployments.domain.states import State
from deployments.models import Cluster, Deployment, Observation, Release, Slot
from deployments.reads.clock import database_now
from tests.api.client import STRANGER, WEB, Caller, Shop, member, outsider
from tests.factories import DIGEST, NOON, make_active, make_deployment, make_release

DEPLOY = f"{WEB}/deploy"


def deploy(somebody: Caller, image: str = "shop/web:1") -> str:
    """Deploy and return the deployment's id."""
    answer = somebody.post(DEPLOY, {"image": image})
    assert answer.status == 201, answer.body
    return str(answer.body["deployment"]["id"])


def test_a_deployment_has_the_shape_of_the_manual(engineer: Caller) -> None:
    answer = engineer.post(DEPLOY, {"image": "shop/web:2.4", "reason": "new prices"})

    made = answer.body["deployment"]
    assert (answer.status, answer.body["ended"]) == (201, [])
    assert engineer.user is not None
    assert made["created_by"] == {"id": str(engineer.user.pk), "name": engineer.user.username}
    assert made["url"] == f"http://testserver/deployments/{made['id']}/"
    assert made["created_at"].endswith("Z")
    assert made["stage_started_at"].endswith("Z")
    varying = ("id", "created_by", "url", "created_at", "stage_started_at")
    assert {name: value for name, value in made.items() if name not in varying} == {
        "kind": "deploy",
        "project": "shop",
        "environment": "production",
        "service": "web",
        "release": "r-1",
        "image": "registry.example/shop/web:2.4",
        "state": "pending",
        "label": "Deploying: Pending",
        "blocker": None,
        "message": "",
        "parts": {"what": "", "leaves": "", "do": ""},
        "cause": None,
        "held": False,
        "waits_for": [],
        "usual_seconds": 60,
        "traffic": False,
        "returning_to": None,
        "superseded_by": None,
        "reason": "new prices",
        "emergency": False,
        "ended_at": None,
        "previous_release": None,
        "approval": None,
        "version": 1,
    }
    assert engineer.get(f"/deployments/{made['id']}").body == made


def test_a_newer_deployment_ends_the_one_before_and_the_answer_lists_it(engineer: Caller) -> None:
    older = deploy(engineer)

    answer = engineer.post(DEPLOY, {"image": "shop/web:2"})

    [ended] = answer.body["ended"]
    assert (ended["id"], ended["state"], ended["label"]) == (older, "superseded", "Superseded")
    assert ended["superseded_by"] == answer.body["deployment"]["id"]
    assert (ended["cause"], ended["message"]) == ("newer", "Superseded by r-2")


def test_behind_one_that_takes_over_traffic_the_new_one_is_held(
    engineer: Caller, shop: Shop
) -> None:
    older = make_deployment(shop.web, state=State.ACTIVATING)

    made = engineer.post(DEPLOY, {"image": "shop/web:2"}).body["deployment"]

    assert (made["held"], made["label"], made["blocker"]) == (True, "Waiting", "waiting")
    assert made["message"] == "Waiting for r-1 to finish taking over traffic"
    assert made["waits_for"] == [str(older.pk)]


def test_once_the_digest_is_known_the_image_is_what_runs(engineer: Caller) -> None:
    made = deploy(engineer)
    Release.objects.update(digest=DIGEST)

    answer = engineer.get(f"/deployments/{made}")

    assert answer.body["image"] == f"registry.example/shop/web@{DIGEST}"


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        ("", "An image is needed, such as shop/api:4.2 or :4.2."),
        ("https://shop/web:1", "leave out https://"),
        ("shop/web: 1", "it contains spaces"),
        ("a" * 300, "An image reference has at most 255 characters; this has 300."),
        ("Shop/Web:1", "a repository consists of a-z"),
        ("shop/web@sha256:abc", "a digest is sha256: and 64 characters"),
        (":2", "needs the service's image repository, which is not set"),
        ("shop/web:\0", "it contains spaces"),
    ],
)
def test_what_is_no_image_reference_is_refused_and_leaves_no_row(
    engineer: Caller, image: str, sentence: str
) -> None:
    answer = engineer.post(DEPLOY, {"image": image})

    assert (answer.status, answer.pointers) == (422, ["/image"])
    assert sentence in answer.detail
    assert (Deployment.objects.count(), Release.objects.count()) == (0, 0)


def test_all_problems_of_a_deploy_are_named_at_once(engineer: Caller) -> None:
    answer = engineer.post(DEPLOY, {"image": "a b", "reason": "x" * 501, "force": True})

    assert (answer.status, sorted(answer.pointers)) == (422, ["/force", "/image", "/reason"])
    assert Deployment.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "pointers", "sentence"),
    [
        ({}, ["/image"], "image is missing."),
        ({"image": 3}, ["/image"], "image is a text; this is 3."),
        ({"image": None}, ["/image"], "image is a text; this is null."),
        ({"image": "shop/web:1", "reason": "\0"}, ["/reason"], None),
        ({"image": "shop/web:1", "reason": "\ud800"}, ["/reason"], None),
    ],
)
def test_a_field_of_another_type_is_refused(
    engineer: Caller, body: dict[str, object], pointers: list[str], sentence: str | None
) -> None:
    answer = engineer.post(DEPLOY, body)

    assert (answer.status, answer.pointers) == (422, pointers)
    assert sentence in {None, answer.detail}
    assert Deployment.objects.count() == 0


def test_a_tag_alone_takes_the_image_repository(engineer: Caller) -> None:
    engineer.patch(f"{WEB}/settings", {"image_repository": "registry.example/shop/web"})

    made = engineer.post(DEPLOY, {"image": ":4"}).body["deployment"]

    assert made["image"] == "registry.example/shop/web:4"


def test_a_viewer_may_not_deploy_and_nothing_is_written(viewer: Caller) -> None:
    answer = viewer.post(DEPLOY, {"image": "shop/web:1"})

    assert (answer.status, answer.body["code"]) == (403, "role-too-low")
    assert answer.detail == "Deploying needs the role engineer or above; you are viewer."
    assert Deployment.objects.count() == 0


def test_an_outsider_finds_nothing_to_deploy(shop: Shop) -> None:
    deployment = make_deployment(shop.web)

    assert outsider().post(DEPLOY, {"image": "shop/web:1"}).status == 404
    assert outsider().get(f"/deployments/{deployment.pk}").status == 404
    assert outsider().get(f"/deployments/{deployment.pk}/events").status == 404
    assert outsider().get("/deployments").body["items"] == []
    for part in ("", "/history", "/releases"):
        assert outsider().get(f"{WEB}{part}").status == 404
    assert STRANGER.post(DEPLOY, {"image": "shop/web:1"}).status == 401


def test_every_move_is_an_event_oldest_first(engineer: Caller) -> None:
    older = deploy(engineer)
    deploy(engineer, "shop/web:2")

    events = engineer.get(f"/deployments/{older}/events").body["items"]

    assert [(event["from"], event["to"]) for event in events] == [
        (None, "pending"),
        ("pending", "superseded"),
    ]
    assert engineer.user is not None
    assert events[1]["actor"] == {"kind": "person", "name": engineer.user.username}
    assert (events[1]["kind"], events[1]["cause"], events[1]["blocker"]) == ("move", "newer", None)
    assert set(events[1]) == {
        "at",
        "kind",
        "from",
        "to",
        "actor",
        "cause",
        "blocker",
        "message",
    }


def test_deployments_are_listed_newest_first_and_page_by_page(engineer: Caller, shop: Shop) -> None:
    made = [str(make_deployment(shop.web, state=State.HEALTHY).pk) for _ in range(5)]

    first = engineer.get("/deployments?limit=2").body
    second = engineer.get(f"/deployments?limit=2&next={first['next']}").body
    third = engineer.get(f"/deployments?limit=2&next={second['next']}").body

    found = [item["id"] for page in (first, second, third) for item in page["items"]]
    assert found == made[::-1]
    assert third["next"] is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 2),
        ("project=shop", 2),
        ("project=other", 0),
        ("environment=production", 2),
        ("environment=staging", 0),
        ("service=web", 2),
        ("service=api", 0),
        ("state=failed", 1),
        ("state=healthy", 1),
        ("blocker=readiness", 1),
        ("blocker=source", 0),
        ("blocker=policy", 0),
        ("since=2026-03-02T12:00:00Z", 2),
        ("since=2026-03-02T12:00:01Z", 0),
        ("state=failed&service=web&project=shop", 1),
    ],
)
def test_a_list_can_be_narrowed(viewer: Caller, shop: Shop, query: str, found: int) -> None:
    make_deployment(shop.web, state=State.HEALTHY)
    make_deployment(shop.web, state=State.FAILED)

    answer = viewer.get(f"/deployments?{query}")

    assert (answer.status, len(answer.body["items"])) == (200, found)


def test_a_state_that_there_is_not_names_those_that_there_are(viewer: Caller) -> None:
    answer = viewer.get("/deployments?state=running")

    assert (answer.status, answer.pointers) == (422, ["/state"])
    assert answer.detail.startswith("state is one of awaiting-approval, pending, admitted, ")


def test_listing_more_deployments_asks_the_database_no_more_often(
    viewer: Caller, shop: Shop, django_assert_max_num_queries: object
) -> None:
    for _ in range(3):
        make_deployment(shop.web, state=State.HEALTHY)

    with django_assert_max_num_queries(4):  # type: ignore[operator]
        viewer.get("/deployments")


def test_history_is_that_of_one_service_in_one_environment(viewer: Caller, shop: Shop) -> None:
    here = make_deployment(shop.web, state=State.HEALTHY)
    make_deployment(state=State.HEALTHY)

    answer = viewer.get(f"{WEB}/history")

    assert [item["id"] for item in answer.body["items"]] == [str(here.pk)]


def test_releases_say_what_they_are_to_the_service(viewer: Caller, shop: Shop) -> None:
    make_release(shop.web)
    retired = make_release(shop.web, healthy_at=NOON)
    Release.objects.filter(pk=retired.pk).update(retired_at=NOON)
    make_active(shop.web)
    make_deployment(shop.web, release=make_release(shop.web, digest=""))

    items = viewer.get(f"{WEB}/releases").body["items"]

    assert [(item["release"], item["state"]) for item in items] == [
        ("r-4", "deploying"),
        ("r-3", "active"),
        ("r-2", "retired"),
        ("r-1", "never-active"),
    ]
    assert (items[0]["digest"], items[1]["digest"]) == (None, DIGEST)
    assert items[1]["rollback"] == {"offered": False, "why_not": "r-3 is active."}
    assert items[1]["image"] == "registry.example/shop/web:3"


def test_a_service_that_was_never_deployed_is_not_deployed(viewer: Caller) -> None:
    answer = viewer.get(WEB)

    assert (answer.status, answer.body) == (
        200,
        {
            "project": "shop",
            "environment": "production",
            "service": "web",
            "lifecycle": "NotDeployed",
            "confirmed": True,
            "generation": 0,
            "ready": 0,
            "desired": 0,
            "detail": "",
            "active_release": None,
            "serving_release": None,
            "scaled_by_hand": [],
            "image": None,
            "paused": False,
            "suspended": False,
            "observed_at": None,
            "deployment": None,
            "settings_differ": False,
        },
    )


def test_a_service_that_runs_is_ready_and_confirmed(viewer: Caller, shop: Shop) -> None:
    running = _run(shop)

    answer = viewer.get(WEB).body

    assert (answer["lifecycle"], answer["confirmed"], answer["generation"]) == ("Ready", True, 1)
    assert (answer["ready"], answer["desired"]) == (3, 3)
    assert (answer["active_release"], answer["serving_release"]) == ("r-1", "r-1")
    assert answer["image"] == f"registry.example/shop/web@{DIGEST}"
    assert answer["deployment"] == {
        "id": str(running.pk),
        "state": "healthy",
        "label": "Healthy",
    }
    assert viewer.get(f"/deployments/{running.pk}").body["traffic"] is True
    assert viewer.get(WEB.rsplit("/", 1)[0]).body["items"] == [answer]


def test_before_the_first_report_a_service_is_unconfirmed(engineer: Caller) -> None:
    deploy(engineer)

    answer = engineer.get(WEB).body

    assert (answer["lifecycle"], answer["confirmed"]) == ("UpdateInProgress", False)
    assert answer["detail"] == "no operator has reported on this service"


def test_without_its_cluster_the_last_word_stands_unconfirmed(viewer: Caller, shop: Shop) -> None:
    _run(shop)
    Cluster.objects.update(
        heartbeat_at=NOON, unreachable_since=NOON, unreachable_reason="connection refused"
    )

    answer = viewer.get(WEB).body

    assert (answer["lifecycle"], answer["confirmed"]) == ("Ready", False)
    assert answer["detail"] == "could not reach the cluster: connection refused"


def test_saved_settings_that_do_not_run_yet_are_told(engineer: Caller, shop: Shop) -> None:
    _run(shop)
    before = engineer.get(WEB).body["settings_differ"]

    engineer.patch(f"{WEB}/settings", {"processes": [{"name": "http", "replicas": 2}]})

    assert (before, engineer.get(WEB).body["settings_differ"]) == (False, True)


def test_a_changed_secret_counts_as_a_difference(engineer: Caller, shop: Shop) -> None:
    engineer.put(f"{WEB}/variables", {"variables": {"KEY": {"value": "a", "secret": True}}})
    made = deploy(engineer)
    Slot.objects.update(active_release=Deployment.objects.get(pk=made).release)
    before = engineer.get(WEB).body["settings_differ"]

    engineer.put(f"{WEB}/variables", {"variables": {"KEY": {"value": "b", "secret": True}}})

    assert (before, engineer.get(WEB).body["settings_differ"]) == (False, True)


def test_statuses_ask_no_more_often_for_more_services(
    engineer: Caller, shop: Shop, django_assert_max_num_queries: object
) -> None:
    _run(shop)
    for slug in ("api", "billing", "search"):
        engineer.post("/projects/shop/services", {"slug": slug})

    with django_assert_max_num_queries(8):  # type: ignore[operator]
        engineer.get(WEB.rsplit("/", 1)[0])


@pytest.mark.parametrize("role", [Role.ON_CALL, Role.OWNER])
def test_higher_roles_may_deploy(shop: Shop, role: Role) -> None:
    assert member(shop, role).post(DEPLOY, {"image": "shop/web:1"}).status == 201


def _run(shop: Shop) -> Deployment:
    """Let a release of the web service be active, serve and have been seen."""
    release = make_release(shop.web, healthy_at=NOON)
    running = make_deployment(shop.web, state=State.HEALTHY, release=release)
    Slot.objects.filter(pk=shop.web.pk).update(active_release=release, serving_release=release)
    now = database_now()
    Cluster.objects.update(heartbeat_at=now)
    Observation.objects.create(
        slot=shop.web, generation=1, observed_at=now - timedelta(seconds=1), ready=3, desired=3
    )
    return running
