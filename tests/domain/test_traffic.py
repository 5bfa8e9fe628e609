"""Where traffic is, where it is to be, and the writes that take it there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deployments.domain import names, traffic
from deployments.domain.blockers import Blocker
from deployments.domain.commands import (
    Command,
    Create,
    PointTraffic,
    Scale,
    WriteFence,
)
from deployments.domain.messages import Message
from deployments.domain.observations import (
    Endpoint,
    Meta,
    ObjectKind,
    Pod,
    Ref,
    Seen,
    ServiceSeen,
    Workload,
)
from deployments.domain.releases import Config, Process
from deployments.domain.states import State
from deployments.domain.wanted import Attempt, Release, Verdict, Wanted
from tests.domain.play import PLACE
from tests.domain.world import NOON, http, worker

FENCE = 9
MAIN = ("main", 80, "main")
VERDICT = Verdict(Blocker.READINESS, Message("It fell."))


def release(number: int, *processes: Process) -> Release:
    return Release(number, number, Config(processes or (http(),)), "r/web@x", once_healthy=True)


OLD, NEW = release(1), release(2)


def activating(*, new: Release = NEW, previous: Release | None = OLD) -> Wanted:
    attempt = Attempt(5, State.ACTIVATING, NOON, new, past=True, previous=previous)
    releases = (previous, new) if previous is not None else (new,)
    return Wanted(PLACE, FENCE, releases, active=previous, last_past=attempt)


def going_back(*, new: Release = NEW, previous: Release | None = OLD) -> Wanted:
    wanted = activating(new=new, previous=previous)
    assert wanted.last_past is not None
    return replace(wanted, last_past=replace(wanted.last_past, verdict=VERDICT))


def ref(kind: ObjectKind, name: str) -> Ref:
    return Ref(kind, name, "uid", "1")


def service(selects: int | None, *, fence: int = FENCE, ports: object = (MAIN,)) -> ServiceSeen:
    meta = Meta(ref(ObjectKind.SERVICE, "web"), {}, {names.FENCE: str(fence)})
    selector = names.stable_selector(PLACE, number=selects, process="http")
    return ServiceSeen(meta, selector, ports=ports)  # type: ignore[arg-type]


def workload(number: int, *, fence: int | None = FENCE, replicas: int = 1) -> Workload:
    labels = names.labels(PLACE, number=number, process="http")
    annotations = {names.FENCE: str(fence)} if fence is not None else {}
    made = Meta(ref(ObjectKind.DEPLOYMENT, f"web--http-r{number}"), labels, annotations)
    return Workload(made, replicas)


def pods(number: int, count: int = 1, *, process: str = "http", ready: bool = True) -> list[Pod]:
    return [
        Pod(f"r{number}-{index}", f"r{number}-{index}", number, process, ready=ready)
        for index in range(count)
    ]


def seen(*found: ServiceSeen | Workload | Pod, behind: tuple[str, ...] = ()) -> Seen:
    return Seen(
        NOON,
        services=tuple(f for f in found if isinstance(f, ServiceSeen)),
        workloads=tuple(f for f in found if isinstance(f, Workload)),
        pods=tuple(f for f in found if isinstance(f, Pod)),
        endpoints=tuple(Endpoint(uid, ready=True) for uid in behind),
    )


# --- going there ---


def test_the_first_release_with_a_port_gets_the_stable_service() -> None:
    commands = traffic.commands(activating(previous=None), seen(workload(2), *pods(2)))

    assert commands == (Create(ObjectKind.SERVICE, "web", release=None),)


def test_a_release_without_a_port_needs_none() -> None:
    wanted = activating(new=release(2, worker(primary=True)), previous=None)

    assert traffic.commands(wanted, seen(*pods(2, process="worker"))) == ()


def test_the_fence_is_written_and_read_back_before_traffic_moves() -> None:
    stale = service(1, fence=FENCE - 1)
    found = seen(stale, workload(1, fence=None), workload(2), *pods(2))

    assert traffic.commands(activating(), found) == (
        WriteFence(stale.meta.ref),
        WriteFence(workload(1).meta.ref),
    )
    fresh = seen(service(1), workload(1), workload(2), *pods(2))
    assert traffic.commands(activating(), fresh) == (PointTraffic(service(1).meta.ref, 2, "http"),)


def test_an_object_that_is_being_deleted_needs_no_fence() -> None:
    leaving = workload(1, fence=None)
    leaving = replace(leaving, meta=replace(leaving.meta, deleting=True))

    assert traffic.fences(activating(), seen(service(1), leaving)) == ()


def test_traffic_never_goes_to_a_release_with_nobody_ready() -> None:
    found = seen(service(1), workload(1), workload(2), *pods(2, ready=False))

    assert traffic.commands(activating(), found) == ()


def test_nothing_is_asked_for_once_it_points_right() -> None:
    assert traffic.commands(activating(), seen(service(2), workload(2), *pods(2))) == ()


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(service(2, ports=(("main", 8080, "main"),)), id="another port"),
        pytest.param(service(2, ports=(MAIN, ("more", 81, "main"))), id="a port more"),
        pytest.param(service(2, ports=(("main", 80, "8080"),)), id="another target"),
        pytest.param(
            replace(service(2), selector={**service(2).selector, "extra": "1"}), id="a key more"
        ),
        pytest.param(service(None), id="nothing"),
    ],
)
def test_what_somebody_changed_by_hand_is_set_right(changed: ServiceSeen) -> None:
    found = seen(changed, workload(2), *pods(2))

    assert traffic.commands(activating(), found) == (PointTraffic(changed.meta.ref, 2, "http"),)


def test_a_worker_listens_on_its_own_port() -> None:
    wanted = activating(new=release(2, worker("http", primary=True, port=9000)))

    assert not traffic.points_right(wanted, seen(service(2)))
    assert traffic.points_right(wanted, seen(service(2, ports=(("main", 9000, "main"),))))


def test_after_a_release_with_a_port_one_without_selects_nothing() -> None:
    wanted = activating(new=release(2, worker(primary=True)))
    found = seen(service(1), workload(1), *pods(2, process="worker"))

    assert traffic.commands(wanted, found) == (PointTraffic(service(1).meta.ref, None, "worker"),)


# --- having arrived ---


@pytest.mark.parametrize(
    ("behind", "arrived"),
    [
        pytest.param((), False, id="nobody yet"),
        pytest.param(("r1-0",), False, id="still the old one's"),
        pytest.param(("r1-0", "r2-0"), False, id="both"),
        pytest.param(("r2-0",), True, id="one of two is enough"),
        pytest.param(("r2-0", "r2-1"), True, id="all"),
        pytest.param(("r2-0", "gone"), False, id="one that nobody knows"),
    ],
)
def test_traffic_has_arrived_when_all_endpoints_are_the_releases(
    behind: tuple[str, ...], *, arrived: bool
) -> None:
    found = seen(service(2), *pods(1), *pods(2, 2), behind=behind)

    assert traffic.has_arrived(activating(), found) is arrived


def test_it_has_not_arrived_before_the_service_points_there() -> None:
    assert not traffic.has_arrived(activating(), seen(service(1), *pods(2), behind=("r2-0",)))


@pytest.mark.parametrize(("ready", "arrived"), [(True, True), (False, False)])
def test_without_a_port_somebody_has_to_work(ready: bool, arrived: bool) -> None:
    wanted = activating(new=release(2, worker(primary=True)), previous=None)

    found = seen(*pods(2, process="worker", ready=ready))
    assert traffic.has_arrived(wanted, found) is arrived


# --- going back ---


@pytest.mark.parametrize(
    ("new_ready", "old_ready", "old_replicas", "enough"),
    [(3, 3, 3, True), (3, 2, 3, False), (3, 2, 2, True), (0, 1, 3, True), (0, 0, 3, False)],
)
def test_as_many_of_the_previous_release_as_the_new_one_has_ready_at_most_its_own_number(
    new_ready: int, old_ready: int, old_replicas: int, *, enough: bool
) -> None:
    found = seen(
        service(2),
        workload(1, replicas=old_replicas),
        workload(2),
        *pods(1, old_ready),
        *pods(2, new_ready),
    )

    assert traffic.enough_ready_to_go_back(going_back(), found) is enough
    assert bool(traffic.commands(going_back(), found)) is enough


def test_traffic_goes_back_to_the_previous_release_even_when_the_new_one_has_recovered() -> None:
    found = seen(service(2), workload(1), workload(2), *pods(1), *pods(2))

    assert traffic.commands(going_back(), found) == (PointTraffic(service(2).meta.ref, 1, "http"),)


def test_with_no_earlier_release_the_service_then_selects_nothing() -> None:
    wanted = going_back(previous=None)
    found = seen(service(2), workload(2), *pods(2), behind=("r2-0",))

    assert traffic.commands(wanted, found) == (PointTraffic(service(2).meta.ref, None, "http"),)
    assert not traffic.has_arrived(wanted, seen(service(None), behind=("r2-0",)))
    assert traffic.has_arrived(wanted, seen(service(None)))


def test_a_way_back_is_under_way_while_its_release_has_traffic_or_runs() -> None:
    wanted = going_back()
    assert wanted.last_past is not None
    ended = replace(wanted, last_past=replace(wanted.last_past, state=State.CANCELLED))

    assert traffic.is_leaving(wanted, seen())
    assert traffic.is_leaving(ended, seen(service(2)))
    assert traffic.is_leaving(ended, seen(service(1), workload(2, replicas=1)))
    assert not traffic.is_leaving(ended, seen(service(1), workload(2, replicas=0)))
    assert not traffic.is_leaving(activating(), seen(service(2)))


def test_the_next_deployment_may_begin_once_the_service_selects_the_previous_release() -> None:
    wanted = going_back()
    assert wanted.last_past is not None
    ended = replace(wanted, last_past=replace(wanted.last_past, state=State.CANCELLED))

    assert not traffic.is_back(ended, seen(service(2), workload(2)))
    assert traffic.is_back(ended, seen(service(1), workload(2)))


def test_a_way_back_that_was_given_up_leaves_traffic_where_it_is() -> None:
    wanted = going_back()
    assert wanted.last_past is not None
    given_up = replace(wanted.last_past, given_up=True, state=State.FAILED)
    wanted = replace(wanted, last_past=given_up)

    assert wanted.target == NEW
    assert traffic.commands(wanted, seen(service(2), workload(2), *pods(2))) == ()


@pytest.mark.parametrize(
    ("command", "is_part"),
    [
        (PointTraffic(ref(ObjectKind.SERVICE, "web"), 2, "http"), True),
        (WriteFence(ref(ObjectKind.DEPLOYMENT, "x")), True),
        (Create(ObjectKind.SERVICE, "web", release=None), True),
        (Create(ObjectKind.SERVICE, "web-r2", release=2), False),
        (Create(ObjectKind.DEPLOYMENT, "x", release=2), False),
        (Scale(ref(ObjectKind.DEPLOYMENT, "x"), 1), False),
    ],
)
def test_which_refusals_hold_a_switch_up(command: Command, *, is_part: bool) -> None:
    assert traffic.switches(command) is is_part
