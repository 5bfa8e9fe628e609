"""Organizations, projects, environments, services and clusters, over the API."""

from __future__ import annotations

from datetime import timedelta

import pytest

from deployments.domain.roles import Role
from deployments.models import Cluster, Environment, Service, Slot
from deployments.reads.clock import database_now
from tests.api.client import PRODUCTION, Caller, Shop, administrator, member, outsider
from tests.factories import make_cluster, make_environment, make_project, make_slot

ENVIRONMENTS = "/projects/shop/environments"
SERVICES = "/projects/shop/services"
STAGING = {"slug": "staging", "cluster": "practice", "namespace": "shop-staging"}


def test_a_member_sees_their_organization_and_no_other(viewer: Caller) -> None:
    make_project()

    answer = viewer.get("/organizations")

    harbor = {"slug": "harbor", "name": "Harbor", "role": "viewer", "suspended": False}
    assert answer.body == {"items": [harbor], "next": None}
    assert viewer.get("/organizations/harbor").body == harbor


def test_a_member_sees_their_projects_and_no_other(viewer: Caller) -> None:
    make_project(slug="secret")

    answer = viewer.get("/projects")

    shop = {"slug": "shop", "organization": "harbor", "deploy_concurrency": None}
    assert answer.body == {"items": [shop], "next": None}
    assert viewer.get("/projects/shop").body == shop
    assert viewer.get("/projects/secret").status == 404


def test_an_administrator_sees_everything(shop: Shop) -> None:
    make_project(slug="other")

    answer = administrator().get("/projects")

    assert {item["slug"] for item in answer.body["items"]} == {"shop", "other"}
    assert administrator().get("/organizations/harbor").body["role"] == "administrator"


def test_an_environment_has_the_shape_of_the_manual(viewer: Caller) -> None:
    answer = viewer.get(PRODUCTION)

    assert answer.body == {
        "slug": "production",
        "cluster": "practice",
        "namespace": "shop-production",
        "protected": False,
        "approvals_needed": 1,
        "default_registry": "registry.example",
        "frozen_until": None,
    }
    assert viewer.get(ENVIRONMENTS).body["items"] == [answer.body]


def test_an_owner_adds_an_environment_with_a_slot_for_each_service(owner: Caller) -> None:
    answer = owner.post(ENVIRONMENTS, STAGING | {"default_registry": "127.0.0.1:5000"})

    assert answer.status == 201
    assert answer.body == owner.get(f"{ENVIRONMENTS}/staging").body
    assert answer.body["default_registry"] == "127.0.0.1:5000"
    assert owner.get(f"{ENVIRONMENTS}/staging/services/web").status == 200


@pytest.mark.parametrize(
    ("change", "pointers"),
    [
        ({"slug": "Staging"}, ["/slug"]),
        ({"slug": "staging-r2"}, ["/slug"]),
        ({"cluster": "nope"}, ["/cluster"]),
        ({"namespace": "kube-system"}, ["/namespace"]),
        ({"namespace": "a_b"}, ["/namespace"]),
        ({"namespace": "a" * 64}, ["/namespace"]),
        ({"default_registry": "https://registry.example"}, ["/default_registry"]),
        ({"protected": "yes"}, ["/protected"]),
        ({"slug": 3, "namespace": "-", "colour": "red"}, ["/colour", "/namespace", "/slug"]),
    ],
)
def test_an_environment_against_the_rules_leaves_no_row(
    owner: Caller, change: dict[str, object], pointers: list[str]
) -> None:
    answer = owner.post(ENVIRONMENTS, STAGING | change)

    assert (answer.status, sorted(answer.pointers)) == (422, pointers)
    assert Environment.objects.count() == 1


def test_a_protected_environment_is_refused_in_its_own_sentence(owner: Caller) -> None:
    sentence = "Protected environments come with approvals; production stays unprotected until then"

    for answer in (
        owner.post(ENVIRONMENTS, STAGING | {"protected": True}),
        owner.patch(PRODUCTION, {"protected": True}),
    ):
        assert (answer.status, answer.pointers) == (422, ["/protected"])
        assert sentence in answer.detail


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"slug": "production"}, "shop has an environment called production already."),
        (
            {"namespace": "shop-production"},
            "The namespace shop-production of practice belongs to another environment.",
        ),
    ],
)
def test_what_is_taken_is_refused(owner: Caller, change: dict[str, str], sentence: str) -> None:
    answer = owner.post(ENVIRONMENTS, STAGING | change)

    assert (answer.status, answer.detail) == (409, sentence)
    assert Environment.objects.count() == 1


def test_an_owner_binds_only_to_clusters_that_they_see(owner: Caller) -> None:
    make_cluster("others")
    sent = STAGING | {"cluster": "others"}

    assert owner.post(ENVIRONMENTS, sent).pointers == ["/cluster"]
    assert administrator().post(ENVIRONMENTS, sent).status == 201


def test_an_owner_changes_the_default_registry(owner: Caller) -> None:
    changed = owner.patch(PRODUCTION, {"default_registry": "registry.example:5000"})
    emptied = owner.patch(PRODUCTION, {"default_registry": None})

    assert changed.body["default_registry"] == "registry.example:5000"
    assert emptied.body["default_registry"] is None


def test_a_change_without_the_registry_leaves_it(owner: Caller) -> None:
    assert owner.patch(PRODUCTION, {}).body["default_registry"] == "registry.example"


def test_the_namespace_may_change_until_something_was_deployed(owner: Caller, shop: Shop) -> None:
    before = owner.patch(PRODUCTION, {"namespace": "elsewhere"})
    Slot.objects.update(generation=1)

    after = owner.patch(PRODUCTION, {"namespace": "shop-production", "default_registry": None})

    assert before.body["namespace"] == "elsewhere"
    assert (after.status, after.detail) == (
        409,
        "Something was deployed to production, so its cluster and namespace stay as they are.",
    )
    assert owner.get(PRODUCTION).body["default_registry"] == "registry.example"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.ENGINEER, Role.ON_CALL])
def test_environments_belong_to_owners(shop: Shop, role: Role) -> None:
    somebody = member(shop, role)

    for answer in (
        somebody.post(ENVIRONMENTS, STAGING),
        somebody.patch(PRODUCTION, {"default_registry": None}),
    ):
        assert (answer.status, answer.body["code"]) == (403, "role-too-low")
        assert "needs the role owner or above" in answer.detail


def test_an_outsider_finds_nothing(shop: Shop) -> None:
    stranger = outsider()

    assert stranger.get("/projects").body["items"] == []
    assert stranger.get("/organizations").body["items"] == []
    assert stranger.get("/clusters").body["items"] == []
    assert stranger.get("/organizations/harbor").status == 404
    assert stranger.get("/clusters/practice").status == 404
    assert stranger.get(PRODUCTION).status == 404
    assert stranger.post(ENVIRONMENTS, STAGING).status == 404
    assert stranger.patch(PRODUCTION, {}).status == 404
    assert stranger.post(SERVICES, {"slug": "api"}).status == 404


def test_an_engineer_adds_a_service_to_every_environment(engineer: Caller, shop: Shop) -> None:
    make_environment(shop.project, "staging", cluster=shop.cluster)

    answer = engineer.post(SERVICES, {"slug": "api", "kind": "app"})

    api = {"service": "api", "kind": "app", "environments": ["production", "staging"]}
    assert (answer.status, answer.body) == (201, api)
    assert [item["service"] for item in engineer.get(SERVICES).body["items"]] == ["web", "api"]
    assert Slot.objects.filter(service__slug="api").count() == 2


@pytest.mark.parametrize(
    "slug",
    ["", "Web", "1web", "web-", "we--b", "web-r1", "web-rw", "web-ro", "web-r", "a" * 31, "wéb"],
)
def test_a_service_slug_against_the_rule_leaves_no_row(engineer: Caller, slug: str) -> None:
    answer = engineer.post(SERVICES, {"slug": slug})

    assert (answer.status, answer.pointers) == (422, ["/slug"])
    assert answer.detail.startswith("A service's slug ")
    assert Service.objects.count() == 1


def test_a_database_service_is_refused_in_its_own_sentence(engineer: Caller) -> None:
    answer = engineer.post(SERVICES, {"slug": "db", "kind": "database"})

    assert (answer.status, answer.pointers, answer.detail) == (
        422,
        ["/kind"],
        "Database services come with a later version; until then a service is an app.",
    )


def test_all_problems_of_a_service_are_named(engineer: Caller) -> None:
    answer = engineer.post(SERVICES, {"slug": "Web", "kind": "job", "colour": "red"})

    assert sorted(answer.pointers) == ["/colour", "/kind", "/slug"]


def test_a_second_service_of_one_name_is_refused(engineer: Caller) -> None:
    answer = engineer.post(SERVICES, {"slug": "web"})

    assert (answer.status, answer.detail) == (409, "shop has a service called web already.")


def test_a_viewer_adds_no_service(viewer: Caller) -> None:
    assert viewer.post(SERVICES, {"slug": "api"}).status == 403
    assert viewer.get(SERVICES).status == 200


def test_a_cluster_says_how_long_ago_it_answered(viewer: Caller, shop: Shop) -> None:
    Cluster.objects.update(heartbeat_at=database_now() - timedelta(seconds=3))
    make_cluster("others")

    answer = viewer.get("/clusters/practice")

    assert answer.body["heartbeat_age_seconds"] in {3, 4}
    assert answer.body | {"heartbeat_age_seconds": 3} == {
        "slug": "practice",
        "version": "v1.34.0",
        "heartbeat_age_seconds": 3,
        "reachable": True,
        "missing_permissions": [],
    }
    assert [item["slug"] for item in viewer.get("/clusters").body["items"]] == ["practice"]


def test_a_silent_cluster_is_not_reachable(viewer: Caller, shop: Shop) -> None:
    never = viewer.get("/clusters/practice").body
    Cluster.objects.update(heartbeat_at=database_now() - timedelta(seconds=90))

    silent = viewer.get("/clusters/practice").body

    assert (never["heartbeat_age_seconds"], never["reachable"]) == (None, False)
    assert (silent["heartbeat_age_seconds"] >= 90, silent["reachable"]) == (True, False)


def test_a_list_is_read_page_by_page(viewer: Caller, shop: Shop) -> None:
    for number in range(4):
        make_slot(shop.production, f"s{number}")

    first = viewer.get(f"{PRODUCTION}/services?limit=2")
    second = viewer.get(f"{PRODUCTION}/services?limit=2&next={first.body['next']}")
    third = viewer.get(f"{PRODUCTION}/services?limit=2&next={second.body['next']}")

    pages = [
        [item["service"] for item in answer.body["items"]] for answer in (first, second, third)
    ]
    assert pages == [["web", "s0"], ["s1", "s2"], ["s3"]]
    assert third.body["next"] is None
