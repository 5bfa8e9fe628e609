"""Who answered a readiness check, and what that means. The wordings are a real API server's."""

from __future__ import annotations

import json

import pytest

from deployments.agent import fetch, probes
from deployments.agent.answers import Answer
from deployments.agent.kube import KubeApi
from deployments.domain.observations import Answer as Verdict
from deployments.domain.observations import CheckResult
from deployments.domain.readiness import Check
from tests.agent.conftest import Reply, Server
from tests.agent.test_kube import kubeconfig

HTTP = Check("http", "web-r1", 80, "/", 3)
YES, NO, UNKNOWN = Verdict.YES, Verdict.NO, Verdict.UNKNOWN


def servers(code: int, reason: str, message: str) -> Answer:
    said = {"kind": "Status", "reason": reason, "message": message, "code": code}
    return Answer(code, json.dumps(said).encode())


DIAL = servers(
    503, "ServiceUnavailable",
    "error trying to reach service: dial tcp 10.244.0.79:9999: connect: connection refused",
)  # fmt: skip
RESET = servers(
    503, "ServiceUnavailable",
    "error trying to reach service: read tcp 10.244.1.1:40720->10.244.1.50:8080: read:"
    " connection reset by peer",
)  # fmt: skip
NOBODY = servers(503, "ServiceUnavailable", 'no endpoints available for service "web-r1"')
MISSING = servers(404, "NotFound", 'services "web-r1" not found')
FORBIDDEN = servers(403, "Forbidden", 'services "http:web-r1:80" is forbidden')
LIMITED = Answer(429, b"Too many requests", {"Retry-After": "1"})


@pytest.mark.parametrize(
    ("answer", "http", "tcp"),
    [
        (Answer(200, b"ok"), YES, YES),
        (Answer(302, b""), YES, YES),
        (Answer(404, b"not here"), YES, YES),
        (Answer(429, b"the program's own"), YES, YES),
        (Answer(500, b"broken"), NO, YES),
        (Answer(503, b"starting"), NO, YES),
        (DIAL, NO, NO),
        (RESET, NO, YES),
        (NOBODY, NO, NO),
        (MISSING, UNKNOWN, UNKNOWN),
        (FORBIDDEN, UNKNOWN, UNKNOWN),
        (LIMITED, UNKNOWN, UNKNOWN),
    ],
)
def test_what_an_answer_means(answer: Answer, http: Verdict, tcp: Verdict) -> None:
    assert probes.judge_http(answer, "/").answer is http
    assert probes.judge_tcp(answer).answer is tcp


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        ((YES, YES), YES),
        ((YES, NO, UNKNOWN), NO),
        ((YES, UNKNOWN), UNKNOWN),
        ((), UNKNOWN),
    ],
)
def test_yes_needs_every_answer_and_one_no_is_enough(
    verdicts: tuple[Verdict, ...], together: Verdict
) -> None:
    assert probes.together(CheckResult(verdict) for verdict in verdicts).answer is together


def test_a_service_is_asked_as_often_as_there_are_replicas(server: Server) -> None:
    server.answer = lambda _: Reply(body=b"ok")

    result = probes.check(KubeApi(kubeconfig(server.url)), "shop", HTTP)

    proxied = "/api/v1/namespaces/shop/services/http:web-r1:80/proxy/"
    assert (result.answer, result.detail) == (YES, "/ answered 200")
    assert [asked.path for asked in server.asked] == [proxied] * 3


def test_the_readiness_path_stays_as_somebody_wrote_it(server: Server) -> None:
    server.answer = lambda _: Reply(body=b"ok")
    check = Check("http", "web-r1", 80, "/up/%C3%BC?deep=1&empty=", 1)

    probes.check(KubeApi(kubeconfig(server.url)), "shop", check)

    assert server.asked[0].path.endswith(":80/proxy/up/%C3%BC?deep=1&empty=")


@pytest.mark.parametrize(("kind", "verdict"), [("http", UNKNOWN), ("tcp", YES)])
def test_silence(
    server: Server, monkeypatch: pytest.MonkeyPatch, kind: str, verdict: Verdict
) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT_SECONDS", 0.2)
    server.answer = lambda _: Reply(delay=1)
    check = Check(kind, "web-r1", 9000, "/", 1)

    assert probes.check(KubeApi(kubeconfig(server.url)), "shop", check).answer is verdict


def test_an_api_server_that_is_away_is_neither_yes_nor_no() -> None:
    api = KubeApi(kubeconfig("http://127.0.0.1:1"))

    for kind in ("http", "tcp"):
        result = probes.check(api, "shop", Check(kind, "web-r1", 80, "/", 1))
        assert result == CheckResult(UNKNOWN, "connection refused")
