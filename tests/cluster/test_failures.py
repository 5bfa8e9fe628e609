"""Each way in which a new version cannot run, on both clusters: its blocker, its message, what is
kept of it, and that the version before it answers all the while.

Up to four services fail side by side. The durations are `hurry`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from deployments.domain.causes import Cause
from deployments.domain.deadlines import LIMITS
from deployments.domain.errors import Invalid
from deployments.domain.releases import Process, ReleaseCommand
from deployments.domain.settings import Settings
from deployments.models import Deployment, Slot
from tests.cluster.hurry import HURRIED
from tests.cluster.product import ROUTE, SILENT_REGISTRY, WEB, Product, Walked
from tests.cluster.refusals import refused_switches
from tests.cluster.witness import asking

NOBODYS = "@sha256:" + "0" * 64
QUALIFYING = ROUTE[:4]
CHECK_IMAGE = (
    "r-1 keeps serving. Check the image's name and tag and the registry credentials, then deploy"
    " again."
)
OPEN_OUTPUT = (
    "r-1 keeps serving. Open the runtime output, fix the cause or raise the memory limit, then"
    " deploy again."
)
CHECK_PATH = (
    "r-1 keeps serving. Check the process's readiness path and port, and its logs, then deploy"
    " again."
)


@dataclass(frozen=True)
class Case:
    """What the second version of a service is like, and how its deployment has to end.

    `stages`: what it may fail in; which one is a matter of when the agent looks. `says` is in the
    output that is kept.
    """

    blocker: str
    message: str
    stages: tuple[str, ...]
    image: str = "sample:2"
    process: Process = WEB
    command: ReleaseCommand | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    not_before: timedelta = timedelta(0)
    says: str = ""

    def prepare(self, slot: Slot) -> None:
        """Change the settings of a service that runs."""
        slot.settings = Settings((self.process,), self.command).to_json()
        slot.save(update_fields=["settings"])
        slot.variables.all().delete()
        for key, value in self.variables.items():
            slot.variables.create(key=key, value=value)

    def check(self, walked: Walked) -> None:
        """Fail unless the deployment ended as it has to."""
        assert (walked.state, walked.blocker, walked.message) == (
            "failed",
            self.blocker,
            self.message,
        )
        assert walked.states[-2] in self.stages


BEFORE_READY = ("starting", "qualifying")
TOO_LONG = ReleaseCommand(("run",), timeout_seconds=5)
HOLDS = {"RUN_LINES": "1000", "LINE_DELAY_MS": "60000"}
NEVER_WELL = {
    "no-digest": Case(
        "image-pull",
        f"1 replica could not pull registry.example/sample{NOBODYS}: not found. {CHECK_IMAGE}",
        ("starting",),
        image=f"sample{NOBODYS}",
        not_before=HURRIED.causes[Cause.IMAGE_REFUSED].not_before,
    ),
    "no-registry": Case(
        "image-pull",
        f"1 replica could not pull {SILENT_REGISTRY}/sample{NOBODYS}: dial tcp {SILENT_REGISTRY}:"
        f" connect: connection refused. {CHECK_IMAGE}",
        ("starting",),
        image=f"{SILENT_REGISTRY}/sample{NOBODYS}",
        not_before=HURRIED.causes[Cause.IMAGE_UNREACHABLE].not_before,
    ),
    "never-ready": Case(
        "readiness",
        "0 of 1 replicas stayed ready within 5 minutes: no replica is ready behind its Service. "
        + CHECK_PATH,
        ("qualifying",),
        process=replace(WEB, readiness_path="/"),
        variables={"STATUS": "503"},
        not_before=HURRIED.qualifying,
        says="sample serve",
    ),
    "release-image": Case(
        "image-pull",
        f"1 replica could not pull registry.example/sample{NOBODYS}: not found. {CHECK_IMAGE}",
        ("releasing",),
        image=f"sample{NOBODYS}",
        command=TOO_LONG,
        not_before=HURRIED.causes[Cause.IMAGE_REFUSED].not_before,
    ),
}
WELL_AT_FIRST = {
    "release-long": Case(
        "release-command",
        "The release command ran longer than its 5 s. Its last words: line 1. r-1 keeps serving."
        " Fix the command and deploy again.",
        ("releasing",),
        command=TOO_LONG,
        variables=HOLDS,
        not_before=timedelta(seconds=5),
        says="line 1",
    ),
    "crashes": Case(
        "startup",
        "The container web of 1 replica exits with code 3. Last words: no such table: orders."
        f" {OPEN_OUTPUT}",
        BEFORE_READY,
        variables={"EXIT_AFTER": "1", "EXIT_CODE": "3", "LAST_WORDS": "no such table: orders"},
        process=replace(WEB, stabilization_seconds=30),
        says="no such table: orders",
    ),
    "ends": Case(
        "startup",
        f"The container web of 1 replica exits with code 0. {OPEN_OUTPUT}",
        BEFORE_READY,
        process=replace(WEB, command=("run",)),
        says="line 3",
    ),
    "too-large": Case(
        "startup",
        "The container web of 1 replica ran out of memory. Last words: sample serve 2 begins."
        f" {OPEN_OUTPUT}",
        BEFORE_READY,
        process=replace(WEB, memory_request="16Mi", memory_limit="32Mi"),
        variables={"ALLOCATE_MB": "200"},
    ),
}
GROUPS = {"never well": NEVER_WELL, "well at first": WELL_AT_FIRST}


@pytest.fixture
def hurried(product: Product) -> Product:
    """The product with durations that a test can wait for."""
    return replace(product, limits=HURRIED)


def serving(product: Product, services: Iterable[str]) -> dict[str, Slot]:
    """Make services whose first versions serve."""
    slots = {name: product.slot(service=name) for name in services}
    first = [product.deploy(slot) for slot in slots.values()]
    for deployment in first:
        assert product.ended(deployment).state == "healthy"
    for slot in slots.values():
        product.settle(slot)
    return slots


def took(deployment: Deployment) -> timedelta:
    """Return how long a deployment was in the stage that it failed in."""
    end, last = deployment.events.filter(kind="move").order_by("-number")[:2]
    return end.at - last.at


@pytest.mark.parametrize("group", GROUPS)
def test_what_cannot_run_fails_in_its_words_and_the_version_before_answers_all_the_while(
    group: str, hurried: Product
) -> None:
    cases, product = GROUPS[group], hurried
    if group == "well at first":
        # What crashes again and again needs its time, by then it must not count as not ready.
        product = replace(product, limits=replace(HURRIED, qualifying=LIMITS.qualifying))
    slots = serving(product, cases)
    for name, case in cases.items():
        case.prepare(slots[name])

    with asking(product, *slots) as heard:
        tried = {name: product.deploy(slots[name], case.image) for name, case in cases.items()}
        ended = {name: product.ended(deployment) for name, deployment in tried.items()}
        for slot in slots.values():
            product.settle(slot)

    for name, case in cases.items():
        case.check(ended[name])
    assert heard.answers
    assert not heard.faults()
    product.until(lambda: not product.pods(2))
    assert not {name for name in product.names() if name.endswith("-r2")}
    for name, case in cases.items():
        deployment = Deployment.objects.get(pk=tried[name].pk)
        assert case.not_before <= took(deployment), name
        assert case.says in " ".join(deployment.outputs.values_list("text", flat=True)), name


def test_a_release_command_is_deleted_at_once_and_the_next_deployment_waits_for_its_end(
    hurried: Product,
) -> None:
    product = hurried
    slot = serving(product, ["web"])["web"]
    slow = replace(WELL_AT_FIRST["release-long"], variables={**HOLDS, "STOP_DELAY": "3"})
    replace(slow, command=ReleaseCommand(("run",), timeout_seconds=600)).prepare(slot)
    first = product.reach(slot, "releasing", "sample:2")
    product.until(lambda: [p for p in product.pods(2) if p["status"]["phase"] == "Running"])

    with asking(product, "web") as heard:
        replace(slow, command=None, variables={}).prepare(slot)
        second = product.deploy(slot, "sample:3")
        product.until(lambda: Deployment.objects.get(pk=second.pk).what)
        held = Deployment.objects.get(pk=second.pk)
        walked = product.ended(second)

    assert Deployment.objects.get(pk=first.pk).state == "superseded"
    assert (held.state, held.blocker) == ("pending", "waiting")
    assert held.what == "Waiting for the release command of r-2 to stop"
    assert walked.state == "healthy"
    product.settle(slot)
    assert not heard.faults()
    product.until(lambda: not product.pods(2))


def test_a_switch_that_is_refused_goes_back_to_where_traffic_never_left(
    hurried: Product,
) -> None:
    product = hurried
    slot = serving(product, ["web"])["web"]

    with asking(product, "web") as heard, refused_switches(product):
        deployment = product.reach(slot, "activating", "sample:2")
        product.until(lambda: Deployment.objects.get(pk=deployment.pk).verdict_blocker)
    walked = product.ended(deployment)
    product.settle(slot)

    assert walked.states == (*QUALIFYING, "activating", "failed")
    assert walked.blocker == "route-activation"
    assert walked.message.startswith("Kubernetes refused to switch the traffic for 2 minutes: ")
    assert walked.message.endswith(
        " r-1 keeps serving. Check that the cluster's API server is healthy, then deploy again."
    )
    assert not heard.faults()
    assert product.serves() == "r-1"
    product.until(lambda: not product.pods(2))


def test_a_name_that_no_image_can_have_is_refused_at_the_click_and_ends_nobody(
    hurried: Product,
) -> None:
    product = hurried
    slot = product.slot()
    first = product.deploy(slot)

    with pytest.raises(Invalid, match="is no image reference"):
        product.deploy(slot, "Sample:2")

    assert product.ended(first).state == "healthy"
