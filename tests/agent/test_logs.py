"""Reading the end of an output: what is asked for, who did not answer, and what that means."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest

from deployments.agent import fetch, logs
from deployments.agent.cluster import Unreachable
from deployments.agent.kube import KubeApi
from deployments.domain.outputs import MOST_BYTES, Output, Source
from tests.agent.conftest import Asked, Reply, Server
from tests.agent.test_kube import kubeconfig

BEFORE = Source("web-1", "http", previous=True)
NOW = Source("web-1", "http", previous=False)
LOG = "/api/v1/namespaces/shop/pods/web-1/log"
NO_PODS = Reply(body=json.dumps({"items": []}).encode())


def status(code: int, reason: str, message: str) -> Reply:
    said = {"kind": "Status", "reason": reason, "message": message, "code": code}
    return Reply(code, json.dumps(said).encode())


NOT_FOUND_BEFORE = status(
    400, "BadRequest", 'previous terminated container "http" in pod "web-1" not found'
)
GONE = status(404, "NotFound", 'pods "web-1" not found')
NO_RIGHT = status(403, "Forbidden", 'pods "web-1" is forbidden: cannot get resource "pods/log"')
NODE_SILENT = status(
    500,
    "InternalError",
    'Get "https://10.0.0.2:10250/containerLogs/shop/web-1/http": dial tcp 10.0.0.2:10250:'
    " connect: connection refused",
)


@pytest.fixture
def api(server: Server) -> KubeApi:
    return KubeApi(kubeconfig(server.url))


def answering(log: Callable[[dict[str, str]], Reply], rest: Reply = NO_PODS) -> object:
    """Return a server's answers: to a question for a log, and to every other one."""

    def answer(asked: Asked) -> Reply:
        address = urlsplit(asked.path)
        if address.path != LOG:
            return rest
        return log({name: values[0] for name, values in parse_qs(address.query).items()})

    return answer


def test_both_runs_of_a_container_are_read_and_cleaned(server: Server, api: KubeApi) -> None:
    said = {"true": b"\x1b[31mno route\x1b[0m to ledger\n", "false": b"sample begins\n"}
    server.answer = answering(lambda query: Reply(body=said[query["previous"]]))  # type: ignore[assignment]

    found = logs.read(api, "shop", [BEFORE, NOW])

    assert found == (Output(BEFORE, "no route to ledger\n"), Output(NOW, "sample begins\n"))


def test_every_question_is_bounded_and_names_its_container(server: Server, api: KubeApi) -> None:
    asked: list[dict[str, str]] = []
    server.answer = answering(lambda query: asked.append(query) or Reply())  # type: ignore[assignment, func-returns-value]

    logs.read(api, "shop", [BEFORE])

    assert asked == [
        {"container": "http", "previous": "true", "tailLines": "2000", "limitBytes": "524288"}
    ]


def test_lines_that_are_too_long_together_are_asked_for_again_in_fewer(
    server: Server, api: KubeApi
) -> None:
    def log(query: dict[str, str]) -> Reply:
        if query["tailLines"] == "2000":
            return Reply(body=b"x" * logs.LIMIT_BYTES)  # the end is what was cut off
        return Reply(body=b"x" * MOST_BYTES + b"\nno route to ledger\n")

    server.answer = answering(log)  # type: ignore[assignment]

    (found,) = logs.read(api, "shop", [NOW])

    assert found.text.endswith("\nno route to ledger\n")
    assert len(found.text.encode()) <= MOST_BYTES


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Reply(), id="it wrote nothing"),
        pytest.param(Reply(204), id="it has no node yet"),
        pytest.param(NOT_FOUND_BEFORE, id="it never ran before"),
        pytest.param(GONE, id="its pod is gone"),
        pytest.param(NO_RIGHT, id="the right is missing"),
        pytest.param(NODE_SILENT, id="its node is silent"),
    ],
)
def test_a_container_without_a_log_is_left_out(server: Server, api: KubeApi, answer: Reply) -> None:
    server.answer = answering(lambda _: answer)  # type: ignore[assignment]

    assert logs.read(api, "shop", [NOW]) == ()


def test_a_node_that_takes_too_long_is_left_out_too(
    server: Server, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT_SECONDS", 0.2)
    server.answer = answering(lambda _: Reply(delay=0.6))  # type: ignore[assignment]

    assert logs.read(api, "shop", [NOW]) == ()


def test_a_silent_api_server_is_no_container_without_a_log(server: Server, api: KubeApi) -> None:
    down = status(503, "ServiceUnavailable", "the server is shutting down")
    server.answer = answering(lambda _: down, rest=down)  # type: ignore[assignment]

    with pytest.raises(Unreachable):
        logs.read(api, "shop", [NOW])


def test_nobody_listening_is_no_container_without_a_log() -> None:
    nobody = KubeApi(kubeconfig("http://127.0.0.1:9"))

    with pytest.raises(Unreachable, match="refused"):
        logs.read(nobody, "shop", [NOW])
