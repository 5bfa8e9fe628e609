"""Every error is a problem document, whoever noticed it."""

from __future__ import annotations

import logging

import pytest
from django.db import OperationalError
from django.test import Client

from deployments import access
from deployments.models import Deployment, Service
from tests.api.client import PRODUCTION, STRANGER, WEB, Answer, Caller, Shop, outsider

SERVICES = "/projects/shop/services"


def assert_problem(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.body["status"], answer.body["code"]) == (status, status, code)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.body["request_id"] == answer.headers["X-Request-Id"]
    assert answer.body["title"]
    assert answer.body["type"]


@pytest.mark.parametrize(
    "body",
    ["", "{", "[1", "nope", '{"slug": NaN}', b"\xff\xfe", "[" * 100_000, '{"slug": ' + "9" * 5000],
)
def test_what_is_not_json_is_malformed(engineer: Caller, body: str | bytes) -> None:
    answer = engineer.send("POST", SERVICES, body)

    if body == "":
        assert_problem(answer, 422, "invalid")
    else:
        assert_problem(answer, 400, "malformed")
        assert answer.detail == "The body is not JSON."
    assert Service.objects.count() == 1


@pytest.mark.parametrize(
    "body", ['{"slug": "api"}'.encode("utf-16"), b'{"slug": "\xed\xa0\x80"}', b'{"slug": "\xe9"}']
)
def test_json_is_utf_8(engineer: Caller, body: bytes) -> None:
    assert_problem(engineer.send("POST", SERVICES, body), 400, "malformed")


def test_a_mark_that_says_utf_8_is_borne_with(engineer: Caller) -> None:
    answer = engineer.send("POST", SERVICES, b'\xef\xbb\xbf{"slug": "api"}')

    assert answer.status == 201


@pytest.mark.parametrize(
    "body", ['{"slug": "api", "slug": "pay"}', '{"slug": {"a": 1, "b": [{"c": 1, "c": 1}]}}']
)
def test_a_field_that_stands_twice_is_refused_wherever_it_is(engineer: Caller, body: str) -> None:
    answer = engineer.send("POST", SERVICES, body)

    assert_problem(answer, 400, "malformed")
    assert answer.detail == "The body has a field twice."


@pytest.mark.parametrize("path", [f"{WEB}/deploy", SERVICES])
@pytest.mark.parametrize("body", ["[]", "3", "null", '"text"'])
def test_json_that_is_no_object_is_refused(engineer: Caller, path: str, body: str) -> None:
    assert_problem(engineer.send("POST", path, body), 422, "invalid")


def test_a_body_above_1_mib_is_too_large(engineer: Caller) -> None:
    body = '{"slug": "api", "kind": "' + "a" * 1024 * 1024 + '"}'

    answer = engineer.send("POST", SERVICES, body)

    assert_problem(answer, 413, "too-large")
    assert answer.detail == "The body is larger than 1 MiB."


def test_a_stranger_with_a_large_body_is_a_stranger_first(shop: Shop) -> None:
    assert_problem(STRANGER.send("POST", SERVICES, "a" * 2 * 1024 * 1024), 401, "unauthenticated")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/nothing",
        "/projects/",
        "/projects/nope",
        "/projects/sh%00op",
        "/projects/nope/environments",
        "/projects/shop/environments/nope",
        "/projects/shop/environments/nope/services",
        f"{PRODUCTION}/services/nope",
        f"{PRODUCTION}/services/nope/settings",
        "/organizations/nope",
        "/clusters/nope",
        "/deployments/999999",
        "/deployments/99999999999999999999999999",
        "/deployments/nope",
        "/deployments/999999/events",
    ],
)
def test_what_does_not_exist_is_not_found(viewer: Caller, path: str) -> None:
    answer = viewer.get(path)

    assert_problem(answer, 404, "not-found")
    assert answer.detail == access.NOT_FOUND


@pytest.mark.parametrize("path", ["/api/", "/api/v2/projects", "/api/v1/projects/shop%0A"])
def test_an_address_that_no_call_begins_with_is_answered_as_the_api_answers(path: str) -> None:
    answer = Client().get(path)

    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_request_for_another_host_is_answered_as_the_api_answers(viewer: Caller) -> None:
    answer = viewer.get("/projects", Host="evil.example")

    assert (answer.status, answer.body["code"]) == (400, "malformed")
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_an_outsider_is_answered_as_for_what_does_not_exist(shop: Shop) -> None:
    stranger, nothing = outsider(), "/projects/nope"

    for path in ("", "/environments", "/services", PRODUCTION.removeprefix("/projects/shop")):
        seen, missing = stranger.get(f"/projects/shop{path}"), stranger.get(f"{nothing}{path}")
        assert_problem(seen, 404, "not-found")
        assert seen.body | {"request_id": ""} == missing.body | {"request_id": ""}


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/projects", "GET"),
        ("PUT", SERVICES, "GET, POST"),
        ("GET", f"{WEB}/deploy", "POST"),
    ],
)
def test_another_method_names_those_that_there_are(
    viewer: Caller, method: str, path: str, allowed: str
) -> None:
    answer = viewer.send(method, path)

    assert_problem(answer, 405, "method-not-allowed")
    assert sorted(answer.headers["Allow"].split(", ")) == allowed.split(", ")


def test_a_fault_of_ours_says_nothing_but_the_id_to_look_for(
    viewer: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(access, "projects_of", _broken)

    with caplog.at_level(logging.ERROR):
        answer = viewer.get("/projects")

    assert_problem(answer, 500, "fault")
    assert "secret" not in str(answer.body)
    assert answer.body["request_id"] in caplog.text


def _broken(_person: object) -> None:
    raise RuntimeError("secret")


def test_a_busy_database_asks_to_come_back(viewer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "projects_of", _busy)

    answer = viewer.get("/projects")

    assert_problem(answer, 503, "busy")
    assert answer.headers["Retry-After"] == "5"


def _busy(_person: object) -> None:
    raise OperationalError("canceling statement due to lock timeout")


@pytest.mark.parametrize(
    ("query", "pointer", "sentence"),
    [
        ("limit=0", "/limit", "limit is at least 1; this is '0'."),
        ("limit=101", "/limit", "limit is at most 100; this is '101'."),
        ("limit=many", "/limit", "limit is a whole number; this is 'many'."),
        ("next=x", "/next", "next is a whole number; this is 'x'."),
        ("stat=failed", "/stat", "'stat' is not a field that there is."),
        ("since=yesterday", "/since", None),
        ("since=2026-05-10T08:00:00", "/since", None),
        ("since=0", "/since", "since is a time such as 2026-05-10T08:00:00Z; this is '0'."),
        ("since=99999999999999", "/since", None),
        ("since=0001-01-01T00:00:00%2B23:59", "/since", None),
        ("since=9999-12-31T23:59:59-23:59", "/since", None),
        ("blocker=nope", "/blocker", None),
        ("project=sh%00op", "/project", None),
    ],
)
def test_a_filter_that_is_none_is_refused(
    viewer: Caller, query: str, pointer: str, sentence: str | None
) -> None:
    answer = viewer.get(f"/deployments?{query}")

    assert_problem(answer, 422, "invalid")
    assert answer.pointers == [pointer]
    assert sentence in {None, answer.body["errors"][0]["detail"]}


def test_nothing_is_written_by_what_is_refused(engineer: Caller) -> None:
    engineer.post(f"{WEB}/deploy", {"image": "http://registry.example/shop/web:1"})

    assert Deployment.objects.count() == 0
