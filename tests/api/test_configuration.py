"""Settings and variables of a service in an environment, over the API."""

from __future__ import annotations

import pytest

from deployments.domain.roles import Role
from deployments.domain.settings import default_settings
from deployments.models import SecretValue, Slot, Variable
from tests.api.client import STRANGER, WEB, Caller, Shop, member, outsider

SETTINGS = f"{WEB}/settings"
VARIABLES = f"{WEB}/variables"


def test_settings_are_shown_whole_in_the_shape_of_the_manual(viewer: Caller) -> None:
    answer = viewer.get(SETTINGS)

    assert (answer.status, answer.body) == (200, default_settings())
    assert answer.headers["ETag"] == '"1"'


def test_a_change_takes_parts_and_answers_with_the_whole(engineer: Caller) -> None:
    change = {
        "processes": [{"name": "http", "replicas": 3}, {"name": "queue", "kind": "worker"}],
        "image_repository": "registry.example/shop/web",
    }

    answer = engineer.patch(SETTINGS, change)

    assert answer.status == 200
    assert [process["replicas"] for process in answer.body["processes"]] == [3, 1]
    assert answer.body == engineer.get(SETTINGS).body
    assert answer.body["image_repository"] == "registry.example/shop/web"


def test_all_problems_of_a_change_are_named_and_nothing_is_written(
    engineer: Caller, shop: Shop
) -> None:
    change = {
        "processes": [{"name": "http", "replicas": 0, "drain_seconds": 901}],
        "volumes": [{"name": "data"}],
        "deploy_after": ["api"],
        "colour": "red",
    }

    answer = engineer.patch(SETTINGS, change)

    assert answer.status == 422
    assert sorted(answer.pointers) == [
        "/colour",
        "/deploy_after",
        "/processes/0/drain_seconds",
        "/processes/0/replicas",
        "/volumes",
    ]
    assert Slot.objects.get(pk=shop.web.pk).settings == default_settings()
    assert Slot.objects.get(pk=shop.web.pk).settings_version == 1


@pytest.mark.parametrize("body", [None, [], "text", 3])
def test_settings_that_are_no_object_are_refused(engineer: Caller, body: object) -> None:
    assert engineer.patch(SETTINGS, body).status == 422
    assert engineer.put(VARIABLES, body).status == 422


def test_of_two_editors_the_second_hears_of_the_first(engineer: Caller) -> None:
    seen = engineer.get(SETTINGS).headers["ETag"]
    first = engineer.patch(SETTINGS, {"image_repository": "a.example/web"}, **{"If-Match": seen})

    second = engineer.patch(SETTINGS, {"image_repository": "b.example/web"}, **{"If-Match": seen})

    assert (first.status, second.status, second.body["code"]) == (200, 412, "changed-meanwhile")
    assert second.detail == (
        "Somebody has changed these settings since you read them. Read them again, then send your"
        " change."
    )
    assert engineer.get(SETTINGS).body["image_repository"] == "a.example/web"


@pytest.mark.parametrize(
    ("if_match", "status"),
    [
        ('"1"', 200),
        ('"7", "1"', 200),
        ("*", 200),
        ('W/"1"', 200),
        ('"2"', 412),
        ("1", 412),
        (f'"{"9" * 5000}"', 412),
        ('"\u0661"', 412),
    ],
)
def test_if_match_takes_the_version_of_the_etag(
    engineer: Caller, if_match: str, status: int
) -> None:
    assert engineer.patch(SETTINGS, {}, **{"If-Match": if_match}).status == status


def test_a_change_of_nothing_is_no_new_version(engineer: Caller) -> None:
    assert engineer.patch(SETTINGS, {}).headers["ETag"] == '"1"'


def test_variables_are_replaced_and_a_secret_is_never_shown(engineer: Caller) -> None:
    engineer.put(VARIABLES, {"variables": {"OLD": {"value": "x"}}})

    answer = engineer.put(
        VARIABLES,
        {"variables": {"URL": {"value": "http://a"}, "KEY": {"value": "s3cr3t", "secret": True}}},
    )

    assert answer.status == 200
    assert answer.body == engineer.get(VARIABLES).body
    assert answer.body == {
        "variables": {
            "KEY": {"secret": True},
            "URL": {"value": "http://a", "secret": False},
        }
    }


def test_a_secret_is_encrypted_at_rest(engineer: Caller) -> None:
    engineer.put(VARIABLES, {"variables": {"KEY": {"value": "s3cr3t", "secret": True}}})

    assert Variable.objects.get().value == ""
    assert b"s3cr3t" not in bytes(SecretValue.objects.get().ciphertext)


def test_what_was_read_can_be_sent_back_and_keeps_the_secret(engineer: Caller) -> None:
    engineer.put(VARIABLES, {"variables": {"KEY": {"value": "s3cr3t", "secret": True}}})
    stored = bytes(SecretValue.objects.get().ciphertext)

    answer = engineer.put(VARIABLES, engineer.get(VARIABLES).body)

    assert answer.status == 200
    assert bytes(SecretValue.objects.get().ciphertext) == stored


def test_a_secret_made_plain_without_a_value_is_refused(engineer: Caller) -> None:
    engineer.put(VARIABLES, {"variables": {"KEY": {"value": "s3cr3t", "secret": True}}})

    answer = engineer.put(VARIABLES, {"variables": {"KEY": {"secret": False}}})

    assert (answer.status, answer.pointers) == (422, ["/variables/KEY/value"])


def test_all_problems_of_variables_are_named_and_nothing_is_written(engineer: Caller) -> None:
    engineer.put(VARIABLES, {"variables": {"KEPT": {"value": "x"}}})

    answer = engineer.put(
        VARIABLES,
        {"variables": {"1": {"value": ""}, "A": {"value": "${{ db.URL }}"}, "B": {"secret": True}}},
    )

    assert answer.status == 422
    assert sorted(answer.pointers) == ["/variables/1", "/variables/A/value", "/variables/B/value"]
    assert Variable.objects.get().key == "KEPT"


def test_variables_have_the_version_of_the_settings(engineer: Caller) -> None:
    engineer.patch(SETTINGS, {"image_repository": "a.example/web"})

    answer = engineer.put(VARIABLES, {"variables": {}}, **{"If-Match": '"1"'})

    assert answer.status == 412


@pytest.mark.parametrize("path", [SETTINGS, VARIABLES])
def test_a_viewer_reads_and_changes_nothing(viewer: Caller, path: str) -> None:
    write = viewer.patch if path == SETTINGS else viewer.put

    answer = write(path, {})

    assert viewer.get(path).status == 200
    assert (answer.status, answer.body["code"]) == (403, "role-too-low")
    assert answer.detail == "Changing settings needs the role engineer or above; you are viewer."


@pytest.mark.parametrize("path", [SETTINGS, VARIABLES])
def test_an_outsider_finds_nothing_and_a_stranger_is_sent_away(shop: Shop, path: str) -> None:
    assert outsider().get(path).status == 404
    assert outsider().patch(SETTINGS, {}).status == 404
    assert outsider().put(VARIABLES, {}).status == 404
    assert STRANGER.get(path).status == 401


@pytest.mark.parametrize("role", [Role.ON_CALL, Role.OWNER])
def test_higher_roles_may_what_an_engineer_may(shop: Shop, role: Role) -> None:
    assert member(shop, role).patch(SETTINGS, {}).status == 200
