"""The agent's own readiness check, through the API server's proxy to the release's own Service.

The first question is always who answered: a program's answer is evidence, the API server's own is
none (specification §7, Readiness).
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl

from deployments.agent import answers
from deployments.agent.answers import Answer
from deployments.agent.cluster import TimedOut, Unreachable
from deployments.agent.kube import KubeApi
from deployments.domain.observations import Answer as Verdict
from deployments.domain.observations import CheckResult
from deployments.domain.readiness import Check
from deployments.domain.text import one_line

SERVER_ERROR = 500
UNAVAILABLE, TOO_MANY = 503, 429
LONGEST_DETAIL = 200
# The API server's own words when it could not reach a pod for us.
_NO_ENDPOINTS = "no endpoints available for service"
_DIAL = "dial tcp"
_NOT_REACHED = "error trying to reach service"


def check(api: KubeApi, namespace: str, wanted: Check) -> CheckResult:
    """Ask the Service as often as the check says, side by side. Never raises for the network."""
    with ThreadPoolExecutor(max_workers=wanted.times) as pool:
        asked = [pool.submit(_ask, api, namespace, wanted) for _ in range(wanted.times)]
        return together(future.result() for future in asked)


def together(results: Iterable[CheckResult]) -> CheckResult:
    """Return one answer for all: any no is a no, and yes needs every one of them."""
    found = tuple(results)
    for verdict in (Verdict.NO, Verdict.UNKNOWN):
        for result in found:
            if result.answer is verdict:
                return result
    return found[0] if found else CheckResult(Verdict.UNKNOWN)


def _ask(api: KubeApi, namespace: str, wanted: Check) -> CheckResult:
    path, query = proxy_path(namespace, wanted), proxy_query(wanted)
    try:
        answer = api.get(path, query)
    except TimedOut as silence:
        return judge_silence(wanted, str(silence))
    except Unreachable as silence:
        return CheckResult(Verdict.UNKNOWN, str(silence))
    return judge_http(answer, wanted.path) if wanted.kind == "http" else judge_tcp(answer)


def proxy_path(namespace: str, wanted: Check) -> tuple[str, ...]:
    """Return the proxy's path to a Service's port and to the readiness path behind it."""
    service = f"http:{wanted.service}:{wanted.port}"
    root = ("api", "v1", "namespaces", namespace, "services", service, "proxy")
    return (*root, *wanted.path.partition("?")[0].removeprefix("/").split("/"))


def proxy_query(wanted: Check) -> list[tuple[str, str]]:
    """Return what follows the `?` of a readiness path."""
    return parse_qsl(wanted.path.partition("?")[2], keep_blank_values=True)


def judge_silence(wanted: Check, reason: str) -> CheckResult:
    """Return what no answer in time means.

    A worker need not speak HTTP: a connection that it holds open without a word is one. The
    API server dials only pods that kubelet holds Ready, and a pod that is not opens a spell of
    itself. An http process that is silent may be fine behind an API server that is not.
    """
    if wanted.kind == "tcp":
        return CheckResult(Verdict.YES, "connected")
    return CheckResult(Verdict.UNKNOWN, reason)


def judge_http(answer: Answer, path: str) -> CheckResult:
    """Return what an http process said: below 500 is yes."""
    if _from_the_server(answer):
        return _servers_word(answer)
    if answer.status < SERVER_ERROR:
        return CheckResult(Verdict.YES, f"{path} answered {answer.status}")
    return CheckResult(Verdict.NO, f"{path} answered {answer.status}")


def judge_tcp(answer: Answer) -> CheckResult:
    """Return what a dial to a worker's port gave: anything after the dial is yes."""
    said = answers.message_of(answer)
    if not _from_the_server(answer):
        return CheckResult(Verdict.YES, "connected")
    if _NOT_REACHED in said and _DIAL not in said:
        return CheckResult(Verdict.YES, "connected")
    return _servers_word(answer)


def _from_the_server(answer: Answer) -> bool:
    """Whether the API server answered itself; a program may imitate it, and is then doubted too."""
    limited = answer.status == TOO_MANY and "Retry-After" in answer.headers
    return limited or bool(answers.status_of(answer)) or _is_a_proxy_error(answer)


def _is_a_proxy_error(answer: Answer) -> bool:
    return answer.status in {UNAVAILABLE, 502} and answer.body.startswith(_NOT_REACHED.encode())


def _servers_word(answer: Answer) -> CheckResult:
    said = answers.message_of(answer)
    if _NO_ENDPOINTS in said:
        return CheckResult(Verdict.NO, "no replica is ready behind its Service")
    verdict = Verdict.NO if _NOT_REACHED in said else Verdict.UNKNOWN
    return CheckResult(verdict, one_line(said, LONGEST_DETAIL))
