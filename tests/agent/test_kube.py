"""How an API server is asked, and what counts as no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deployments.agent import answers, fetch, kube
from deployments.agent.cluster import CommandRefused, Forbidden, Stale, TimedOut, Unreachable
from deployments.agent.kube import KubeApi, address
from deployments.agent.manifests import Request
from tests.agent.conftest import Asked, Reply, Server

PODS = ("api", "v1", "namespaces", "shop", "pods")


def kubeconfig(url: str) -> dict[str, Any]:
    return {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "clusters": [{"name": "x", "cluster": {"server": url}}],
        "users": [{"name": "x", "user": {"token": "t0ken"}}],
    }


@pytest.fixture
def api(server: Server) -> KubeApi:
    return KubeApi(kubeconfig(server.url))


def body(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def status(code: int, reason: str, message: str) -> Reply:
    return Reply(code, body(kind="Status", reason=reason, message=message, code=code))


def test_a_list_is_read_to_its_last_page(server: Server, api: KubeApi) -> None:
    def answer(asked: Asked) -> Reply:
        if "continue=next" in asked.path:
            return Reply(body=body(items=[{"n": 2}], metadata={}))
        return Reply(body=body(items=[{"n": 1}], metadata={"continue": "next"}))

    server.answer = answer

    assert api.objects(PODS, "a=b") == [{"n": 1}, {"n": 2}]
    assert all("labelSelector=a%3Db" in asked.path for asked in server.asked)
    assert server.asked[0].headers["Authorization"] == "Bearer t0ken"


def test_a_list_whose_continuation_expired_is_begun_again(server: Server, api: KubeApi) -> None:
    pages = iter(
        [
            Reply(body=body(items=[{"n": 1}], metadata={"continue": "old"})),
            status(410, "Expired", "The provided continue parameter is too old"),
            Reply(body=body(items=[{"n": 1}, {"n": 2}], metadata={})),
        ]
    )
    server.answer = lambda _: next(pages)

    assert api.objects(PODS) == [{"n": 1}, {"n": 2}]


def test_a_list_that_is_null_is_empty(server: Server, api: KubeApi) -> None:
    server.answer = lambda _: Reply(body=body(items=None))

    assert api.objects(PODS) == []


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (status(401, "Unauthorized", "Unauthorized"), "401 Unauthorized"),
        (Reply(429, b"Too many requests, please try again later."), "429: Too many requests"),
        (status(500, "InternalError", "etcdserver: request timed out"), "etcdserver"),
        (Reply(503, b"<html>"), "503"),
        (Reply(200, b"<html>"), "no JSON"),
        (Reply(200, b'{"items": ['), "no JSON"),
        (Reply(200, b"[]"), "no JSON"),
        (Reply(200, b"{}", promised=100), "connection was broken"),
    ],
)
def test_nobody_who_can_be_believed_answered(
    server: Server, api: KubeApi, reply: Reply, reason: str
) -> None:
    server.answer = lambda _: reply

    with pytest.raises(Unreachable, match=reason):
        api.read(PODS)


def test_a_read_that_is_forbidden_is_told_from_silence(server: Server, api: KubeApi) -> None:
    server.answer = lambda _: status(403, "Forbidden", 'pods is forbidden: User "x" cannot list')

    with pytest.raises(Forbidden, match="403: pods is forbidden"):
        api.read(PODS)


def test_nobody_at_the_address_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="connection refused"):
        KubeApi(kubeconfig("http://127.0.0.1:1")).read(PODS)


def test_an_answer_that_takes_too_long_is_not_waited_for(
    server: Server, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT_SECONDS", 0.2)
    server.answer = lambda _: Reply(delay=1)

    with pytest.raises(TimedOut, match="timed out"):
        api.read(PODS)


def test_a_body_without_end_costs_its_connection_and_no_more(
    server: Server, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kube, "LARGEST_BODY", 1000)
    server.answer = lambda _: Reply(body=b" " * 100_000)
    with pytest.raises(Unreachable, match="no JSON"):
        api.read(PODS)

    server.answer = lambda _: Reply(body=b"{}")

    assert api.read(PODS) == {}


def test_a_proxy_of_the_surroundings_is_not_used_for_this_machine(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    server.answer = lambda _: Reply(body=b"{}")

    assert KubeApi(kubeconfig(server.url)).read(PODS) == {}


@pytest.mark.parametrize("part", ["..", ".", "%2e%2e", "%2E."])
def test_no_part_of_a_path_leads_out_of_it(part: str) -> None:
    with pytest.raises(ValueError, match="leads out of itself"):
        address(("api", "v1", part, "secrets"), ())


def test_names_are_encoded_whole() -> None:
    assert (
        address(("a b", "c/d", "http:web:80"), {"e": "f&g"}) == "/a%20b/c%2Fd/http:web:80?e=f%26g"
    )


@pytest.mark.parametrize(
    ("reply", "raised"),
    [
        (status(409, "Conflict", "the object has been modified"), Stale),
        (status(404, "NotFound", 'deployments.apps "x" not found'), Stale),
        (status(422, "Invalid", 'x is invalid: metadata.uid: Invalid value: "u"'), Stale),
        (status(422, "Invalid", "spec.replicas: Invalid value"), CommandRefused),
        (status(403, "Forbidden", "cannot patch"), CommandRefused),
        (status(500, "InternalError", 'webhook "w" denied the request'), CommandRefused),
        (status(500, "InternalError", "failed calling webhook"), Unreachable),
        (status(504, "Timeout", "too slow"), Unreachable),
    ],
)  # fmt: skip
def test_what_an_answer_to_a_change_means(
    server: Server, api: KubeApi, reply: Reply, raised: type[Exception]
) -> None:
    server.answer = lambda _: reply

    with pytest.raises(raised):
        answers.check_change(api.send(Request("PATCH", PODS, {})))


def test_a_refusal_carries_code_reason_and_message(server: Server, api: KubeApi) -> None:
    server.answer = lambda _: status(403, "Forbidden", "exceeded\nquota: \x1b[1msmall")

    with pytest.raises(CommandRefused) as refusal:
        answers.check_creation(api.send(Request("POST", PODS, {})))

    found = refusal.value
    assert (found.code, found.reason, found.message) == (403, "Forbidden", "exceeded quota: small")
