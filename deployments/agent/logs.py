"""The end of what containers wrote, read through the API server from the nodes' kubelets.

What is read and how much is kept is said in `domain/outputs.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from deployments.agent import answers
from deployments.agent.answers import Answer
from deployments.agent.cluster import Unreachable
from deployments.agent.kube import KubeApi
from deployments.domain import outputs
from deployments.domain.outputs import Output, Source

OK = 200
AT_A_TIME = 10
# `limitBytes` cuts the end off, which is what matters. A node writes at most 16 KiB to a line, so
# where the many lines were too much the few are whole.
LIMIT_BYTES = 512 * 1024
MANY_LINES, FEW_LINES = 2000, 30


def read(api: KubeApi, namespace: str, sources: Sequence[Source]) -> tuple[Output, ...]:
    """Return what there is of these outputs, side by side. Raises Unreachable.

    A container without a log, and a node that does not give it, are left out.
    """
    with ThreadPoolExecutor(max_workers=AT_A_TIME) as pool:
        found = pool.map(lambda source: _output(api, namespace, source), sources)
        return tuple(output for output in found if output.text)


def _output(api: KubeApi, namespace: str, source: Source) -> Output:
    written = _tail(api, namespace, source, MANY_LINES)
    if len(written) >= LIMIT_BYTES:
        written = _tail(api, namespace, source, FEW_LINES)
    return Output(source, outputs.cleaned(written))


def _tail(api: KubeApi, namespace: str, source: Source, lines: int) -> bytes:
    pods = ("api", "v1", "namespaces", namespace, "pods")
    query = {
        "container": source.container,
        "previous": str(source.previous).lower(),
        "tailLines": str(lines),
        "limitBytes": str(LIMIT_BYTES),
    }
    try:
        return _body(api.get((*pods, source.pod, "log"), query))
    except Unreachable:
        # Is it the API server that is silent, or the node behind it? A node that never answers
        # must not keep what has failed in the cluster for ever.
        answers.check_read(api.get(pods, {"limit": "1"}))
        return b""


def _body(answer: Answer) -> bytes:
    if answer.status == OK:
        return answer.body
    answers.check_believable(answer)
    return b""
