"""What clients hear while a second version takes over: no error, and never the old one again."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import groupby

from deployments.agent import kubeconfig
from deployments.agent.kube import KubeApi
from deployments.models import Deployment
from tests.cluster.product import DEADLINE_SECONDS, WEB, Product, state_of
from tests.cluster.witness import again_and_again

OLD, NEW = "200 sample 1", "200 sample 2"
PAUSE_SECONDS = 0.02


def ask(api: KubeApi, product: Product, service: str, *path: str) -> str:
    """Ask a stable Service through the API server's proxy."""
    root = ("api", "v1", "namespaces", product.environment.namespace, "services")
    answer = api.get((*root, f"http:{service}:80", "proxy", *(path or ("",))))
    return f"{answer.status} {answer.body.decode(errors='replace').strip()}"


def wait_for(holds: Callable[[], object]) -> None:
    """Wait without looking."""
    ends = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < ends
        time.sleep(PAUSE_SECONDS)


def heard_during(
    product: Product, second: Callable[[], Deployment], client: Callable[[], str]
) -> tuple[list[str], list[str], str]:
    """Deploy while a client asks without end.

    Return what it heard, each change once, what it heard once traffic had moved and the older
    pods yet ran, and how the deployment ended.
    """
    heard: list[str] = []
    with again_and_again(lambda: heard.append(client()), PAUSE_SECONDS):
        wait_for(lambda: heard)
        deployment = second()
        product.until(lambda: state_of(deployment) == "draining")
        moved = len(heard)
        # Nobody looks meanwhile, so the older pods go on.
        wait_for(lambda: len(heard) > moved + 5)
        between = heard[moved + 1 :]
        running = [pod for pod in product.pods(1) if not pod["metadata"].get("deletionTimestamp")]
        ended = product.ended(deployment).state
        gone = len(heard)
        wait_for(lambda: len(heard) > gone + 5)
    assert running, "the older pods still ran when traffic had moved"
    return [answer for answer, _ in groupby(heard)], between, ended


def test_a_client_that_connects_for_each_request_hears_the_old_one_then_the_new_one(
    product: Product,
) -> None:
    slot = product.slot(WEB)
    product.walk(slot)

    def client() -> str:
        return ask(KubeApi(kubeconfig.read(product.on.kubeconfig, None)), product, "web")

    heard, between, ended = heard_during(product, lambda: product.deploy(slot, "sample:2"), client)

    assert ended == "healthy"
    assert heard == [OLD, NEW]
    assert set(between) == {NEW}


def test_a_client_that_keeps_its_connection_hears_the_old_one_until_it_stops(
    product: Product,
) -> None:
    """Kubernetes moves new connections only: that is what the drain time is for."""
    slot = product.slot(WEB)
    caller = product.slot(WEB, service="caller", variables={"TARGET": "http://web"})
    for deployment in (product.deploy(slot), product.deploy(caller)):
        product.ended(deployment)

    def client() -> str:
        return ask(product.on.api, product, "caller", "call", "TARGET")

    heard, between, ended = heard_during(product, lambda: product.deploy(slot, "sample:2"), client)

    assert ended == "healthy"
    assert heard == [OLD, NEW]
    assert set(between) == {OLD}
