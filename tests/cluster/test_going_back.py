"""Going back to the version before, seen from outside: who answers, and who is behind the Service.

A release turns unready some seconds after its start; kubelet goes on holding its pods ready, since
it only dials them, so that whoever is behind the Service is the agent's doing alone.
"""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from deployments.agent import clients
from deployments.agent.kube import KubeApi
from deployments.agent.manifests import MERGE_PATCH, Request, object_path
from deployments.agent.remote import KubeCluster
from deployments.domain import names
from deployments.domain.commands import Command, written
from deployments.domain.deadlines import LIMITS
from deployments.domain.observations import Meta, ObjectKind
from deployments.domain.wanted import Wanted
from tests.cluster.hurry import HURRIED
from tests.cluster.product import ROUTE, Json, Product, state_of, states_of
from tests.cluster.watched import Walk, deploy, drains, ran_while_it_had_traffic, serve, until, walk
from tests.cluster.witness import asking, counting

# Long enough to take over on a busy machine, and to fall while the one before is still needed.
FALLS_AFTER = "25"
TOOK_OVER = (*ROUTE[:6], "failed")


class KilledError(BaseException):
    """The worker is gone: no handler of the agent's may catch this."""


class DyingCluster(KubeCluster):
    """A cluster whose agent dies right after each kind of write, once for each object."""

    def __init__(self, api: KubeApi) -> None:
        super().__init__(api)
        self.died_after: set[tuple[str, str]] = set()

    def run(self, command: Command, wanted: Wanted, **secrets: object) -> Meta | None:
        made = super().run(command, wanted, **secrets)  # type: ignore[arg-type]
        kind, name = written(command)
        step = (type(command).__name__, f"{kind} {name}")
        if step not in self.died_after:
            self.died_after.add(step)
            raise KilledError
        return made


class RecklessProduct(Product):
    """The product whose worker may be killed in a look: the next look goes on."""

    def look(self) -> bool:
        try:
            return super().look()
        except KilledError:
            return True


@pytest.fixture
def hurried(product: Product) -> Product:
    """The product with durations that a test can wait for."""
    on, environment = product.on, product.environment
    # Some of these are slow to start, which is not what they are about.
    limits = replace(HURRIED, qualifying=LIMITS.qualifying)
    return RecklessProduct(on, product.cluster_id, environment, product.user, limits)


@pytest.mark.parametrize("dies", [False, True], ids=["alive", "killed after each step"])
def test_a_release_that_turns_unready_goes_back_without_a_gap(
    dies: bool, hurried: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = [
        walk(hurried, "drains", {}, drain_seconds=120),
        # Its pods take so long to stop that the next version falls while they do.
        walk(hurried, "stops", {"STOP_DELAY": "40"}, stop_seconds=60),
    ]
    serve(walks)
    walks[0].change({"UNREADY_AFTER": FALLS_AFTER})
    walks[1].change({"UNREADY_AFTER": FALLS_AFTER})

    with (
        counting(hurried, "drains") as behind_drains,
        counting(hurried, "stops") as behind_stops,
        asking(hurried, "drains", "stops") as heard,
    ):
        deploy(walks)
        until(walks, drains)
        dying = DyingCluster(hurried.on.api)
        if dies:
            monkeypatch.setattr(clients, "of_cluster", lambda _: dying)
        until(walks, lambda walk: walk.row.ended_at)
        back = time.monotonic()
        until(walks, lambda walk: not walk.pods(2))

    for found in walks:
        assert states_of(found.row) == TOOK_OVER
        assert (found.row.blocker, found.row.leaves) == ("readiness", "r-1 keeps serving.")
        assert ran_while_it_had_traffic(found)
    assert dies == bool(dying.died_after)
    assert not behind_drains.empty()
    assert not behind_stops.empty()
    assert heard.faults(), "the second version never fell"
    assert not heard.faults(since=back)


def test_a_verdict_stands_when_the_release_recovers_and_is_given_up_when_the_other_does_not(
    hurried: Product,
) -> None:
    slow = {"STOP_DELAY": "40", "START_DELAY": "14"}
    recovers = walk(hurried, "recovers", slow, stop_seconds=60)
    stuck = walk(hurried, "stuck", {"STOP_DELAY": "40"}, stop_seconds=60)
    walks = [recovers, stuck]
    serve(walks)
    for found in walks:
        found.change({"UNREADY_AFTER": FALLS_AFTER})
    deploy(walks)

    until(walks, lambda walk: drains(walk) and walk.replicas(1) == 0)
    _let_no_node_take(stuck)
    until(walks, lambda walk: walk.row.verdict_blocker)
    _replace_pods(recovers)
    until([recovers], lambda walk: any(map(_is_ready, walk.pods(2))))
    until(walks, lambda walk: walk.row.ended_at)

    assert (recovers.row.state, recovers.row.leaves) == ("failed", "r-1 keeps serving.")
    assert hurried.serves("recovers") == "r-1"
    assert stuck.row.state == "failed"
    assert stuck.row.way_back_given_up_at is not None
    assert stuck.row.leaves == (
        "r-1 did not become ready in time, so traffic stays on r-2, whose pods keep running."
    )
    assert hurried.serves("stuck") == "r-2"
    assert stuck.pods(2)
    stuck.change({})
    assert hurried.walk(stuck.slot, "sample:3").state == "healthy"
    assert hurried.serves("stuck") == "r-3"


def _let_no_node_take(walk: Walk) -> None:
    """Change what a resting version's pods ask for, as somebody with kubectl might."""
    nowhere = {"spec": {"template": {"spec": {"nodeSelector": {"example.com/none": "here"}}}}}
    name = names.workload_name(walk.service, "web", 1)
    path = object_path(walk.product.environment.namespace, ObjectKind.DEPLOYMENT, name)
    answer = walk.product.on.api.send(Request("PATCH", path, nowhere, MERGE_PATCH))
    assert answer.status == 200, answer


def _replace_pods(walk: Walk) -> None:
    """Delete the second version's pods: new ones begin, and are well for a while."""
    for pod in walk.pods(2):
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        path = ("api", "v1", "namespaces", namespace, "pods", name)
        assert walk.product.on.api.send(Request("DELETE", path)).status in {200, 202}


def _is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def test_a_cancel_moves_traffic_back_first_and_before_the_point_touches_nothing_that_serves(
    hurried: Product,
) -> None:
    past, before = walks = [
        walk(hurried, "past", {}, drain_seconds=600),
        walk(hurried, "before", {}),
    ]
    serve(walks)
    before.change({}, stabilization_seconds=240)
    untouched = _what_serves(before)

    with counting(hurried, "past") as behind, asking(hurried, "past", "before") as heard:
        deploy(walks)
        until([past], drains)
        until([before], lambda walk: state_of(walk.row) == "qualifying")
        for found in walks:
            found.cancel()
        until(walks, lambda walk: not walk.pods(2))

    assert states_of(past.row) == (*ROUTE[:6], "cancelled")
    assert past.row.leaves == "Traffic goes back to r-1."
    assert ("r-2", True) in past.seen
    assert ran_while_it_had_traffic(past)
    assert not behind.empty()
    assert not heard.faults()
    assert before.row.leaves == ""
    assert _what_serves(before) == untouched


def _what_serves(walk: Walk) -> list[object]:
    """Return what would differ if anything that serves had been touched."""
    name = names.workload_name(walk.service, "web", 1)
    product = walk.product
    objects = [
        product.get(ObjectKind.DEPLOYMENT, name),
        product.get(ObjectKind.SERVICE, walk.service),
        *walk.pods(1),
    ]
    return [(found["metadata"]["uid"], found["spec"]) for found in objects]


def test_a_first_deployment_that_is_cancelled_past_the_point_leaves_nobody_behind_the_service(
    hurried: Product,
) -> None:
    alone = walk(hurried, "alone", {}, stabilization_seconds=5)
    alone.second = hurried.deploy(alone.slot)
    hurried.until(lambda: drains(alone))

    alone.cancel()

    hurried.settle(alone.slot)
    assert alone.row.leaves == "Nothing will serve: there is no earlier release."
    assert hurried.serves("alone") == "none"
    assert not alone.pods(1)
