"""Each way in which a new version cannot run, on both clusters: its blocker, its message, what is
kept of it, and that the version before it answers all the while.

Up to four services fail side by side. The durations are `hurry`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from deployments.domain.causes import Cause
from deployments.domain.deadlines import Limits
from deployments.domain.errors import Invalid
from deployments.domain.releases import Process, ReleaseCommand
from deployments.domain.settings import Settings
from deployments.models import Deployment, Slot
from tests.cluster.hurry import HURRIED
from tests.cluster.product import ROUTE, SILENT_REGISTRY, WEB, Product, Walked
from tests.cluster.refusals import refused_switches
from tests.cluster.witness import asking

NOBODYS = "@sha256:" + "0" * 64
BEFORE_STARTING = ROUTE[:2]
STARTING, QUALIFYING = ROUTE[:3], ROUTE[:4]
RELEASING = (*BEFORE_STARTING, "releasing")
CHECK_IMAGE = (
    "r-1 keeps serving. Check the image's name and tag and the registry credentials, then deploy"
    " again."
)
OPEN_OUTPUT = (
    "r-1 keeps serving. Open the runtime output, fix the cause or raise the memory limit, then"
    " deploy again."
)
FIX_COMMAND = "r-1 keeps serving. Fix the command and deploy again."


@dataclass(frozen=True)
class Case:
    """What the second version of a service is like, and how its deployment has to end.

    `not_before` is read from the limits that hold; `says` is in the output that is kept.
    """

    ends: Walked
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
        for key, value in self.variables.items():
            slot.variables.create(key=key, value=value)


def failed(states: tuple[str, ...], blocker: str, message: str) -> Walked:
    return Walked((*states, "failed"), blocker, message)


def lasting(limits: Limits, cause: Cause) -> timedelta:
    return limits.causes[cause].not_before


IMAGES = {
    "no-digest": Case(
        image=f"sample{NOBODYS}",
        not_before=lasting(HURRIED, Cause.IMAGE_REFUSED),
        ends=failed(
            STARTING,
            "image-pull",
            f"1 replica could not pull registry.example/sample{NOBODYS}: not found. {CHECK_IMAGE}",
        ),
    ),
    "no-registry": Case(
        image=f"{SILENT_REGISTRY}/sample{NOBODYS}",
        not_before=lasting(HURRIED, Cause.IMAGE_UNREACHABLE),
        ends=failed(
            STARTING,
            "image-pull",
            f"1 replica could not pull {SILENT_REGISTRY}/sample{NOBODYS}: dial tcp"
            f" {SILENT_REGISTRY}: connect: connection refused. {CHECK_IMAGE}",
        ),
    ),
    "no-tag": Case(
        image="sample:nope",
        not_before=HURRIED.registry_refused,
        ends=failed(
            ("pending",),
            "image-pull",
            f"The registry answered for registry.example/sample:nope: manifest unknown."
            f" {CHECK_IMAGE}",
        ),
    ),
    "no-room": Case(
        process=replace(WEB, cpu_request="64"),
        ends=failed(
            BEFORE_STARTING,
            "capacity",
            "The cluster has no room: web needs N CPU. r-1 keeps serving. Lower the process's"
            " resource request, or add a node with more capacity.",
        ),
    ),
}
STARTS = {
    "crashes": Case(
        variables={"EXIT_AFTER": "0", "EXIT_CODE": "3", "LAST_WORDS": "no such table: orders"},
        says="no such table: orders",
        ends=failed(
            STARTING,
            "startup",
            "The container web of 1 replica exits with code 3. Last words: no such table: orders."
            f" {OPEN_OUTPUT}",
        ),
    ),
    "no-command": Case(
        process=replace(WEB, command=("/no/such/program",)),
        ends=failed(STARTING, "startup", ""),
    ),
    "too-large": Case(
        process=replace(WEB, memory_request="16Mi", memory_limit="32Mi"),
        variables={"ALLOCATE_MB": "200"},
        ends=failed(
            STARTING,
            "startup",
            f"The container web of 1 replica ran out of memory. {OPEN_OUTPUT}",
        ),
    ),
    "never-ready": Case(
        process=replace(WEB, readiness_path="/"),
        variables={"READY_DELAY": "3600"},
        not_before=HURRIED.qualifying,
        says="sample serve",
        ends=failed(
            QUALIFYING,
            "readiness",
            "0 of 1 replicas stayed ready within 5 minutes.",
        ),
    ),
}
COMMANDS = {
    "exits": Case(
        command=ReleaseCommand(("run",)),
        variables={"EXIT_CODE": "3", "LAST_WORDS": "no such table: orders"},
        says="no such table: orders",
        ends=failed(
            RELEASING,
            "release-command",
            "The release command exited with code 3. Its last words: no such table: orders."
            f" {FIX_COMMAND}",
        ),
    ),
    "too-long": Case(
        command=ReleaseCommand(("run",), timeout_seconds=5),
        variables={"RUN_LINES": "1000", "LINE_DELAY_MS": "60000"},
        not_before=timedelta(seconds=5),
        says="line 1",
        ends=failed(
            RELEASING,
            "release-command",
            f"The release command ran longer than its 5 s. Its last words: line 1. {FIX_COMMAND}",
        ),
    ),
    "no-program": Case(
        command=ReleaseCommand(("/no/such/program",)),
        ends=failed(RELEASING, "release-command", ""),
    ),
    "no-image": Case(
        image=f"sample{NOBODYS}",
        command=ReleaseCommand(("run",)),
        not_before=lasting(HURRIED, Cause.IMAGE_REFUSED),
        ends=failed(
            RELEASING,
            "image-pull",
            f"1 replica could not pull registry.example/sample{NOBODYS}: not found. {CHECK_IMAGE}",
        ),
    ),
}
GROUPS = {"images": IMAGES, "starts": STARTS, "release commands": COMMANDS}


@pytest.fixture
def hurried(product: Product) -> Product:
    """The product with durations that a test can wait for."""
    return replace(product, limits=HURRIED)


def serving(product: Product, services: Mapping[str, Case]) -> dict[str, Slot]:
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
    slots = serving(product, cases)
    for name, case in cases.items():
        case.prepare(slots[name])

    with asking(product, *slots) as heard:
        tried = {name: product.deploy(slots[name], case.image) for name, case in cases.items()}
        ended = {name: product.ended(deployment) for name, deployment in tried.items()}
        for slot in slots.values():
            product.settle(slot)

    assert ended == {name: case.ends for name, case in cases.items()}
    assert heard.answers
    assert not heard.faults()
    assert not product.pods(2)
    assert not {name for name in product.names() if name.endswith("-r2")}
    for name, case in cases.items():
        deployment = Deployment.objects.get(pk=tried[name].pk)
        assert case.not_before <= took(deployment), name
        assert case.says in " ".join(deployment.outputs.values_list("text", flat=True)), name


def test_a_release_command_is_deleted_at_once_and_the_next_deployment_waits_for_its_end(
    hurried: Product,
) -> None:
    product = hurried
    case = replace(COMMANDS["too-long"], command=ReleaseCommand(("run",), timeout_seconds=600))
    slot = serving(product, {"web": case})["web"]
    slot.variables.create(key="STOP_DELAY", value="3")
    case.prepare(slot)
    first = product.reach(slot, "releasing", "sample:2")
    product.until(lambda: [p for p in product.pods(2) if p["status"]["phase"] == "Running"])

    with asking(product, "web") as heard:
        case_without = replace(case, command=None, variables={})
        case_without.prepare(slot)
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
    assert not product.pods(2)


def test_a_switch_that_is_refused_goes_back_to_where_traffic_never_left(
    hurried: Product,
) -> None:
    product = hurried
    slot = serving(product, {"web": STARTS["crashes"]})["web"]

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
    assert not product.pods(2)


def test_a_name_that_no_image_can_have_is_refused_at_the_click_and_ends_nobody(
    hurried: Product,
) -> None:
    product = hurried
    slot = product.slot()
    first = product.deploy(slot)

    with pytest.raises(Invalid, match="is no image reference"):
        product.deploy(slot, "Sample:2")

    assert product.ended(first).state == "healthy"
