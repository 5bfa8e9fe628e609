"""Slugs, and what our objects are called and labelled in somebody's cluster (specification §1, §7).

Names are built from validated slugs, so nothing is ever shortened: the longest, a CronJob's
`<service 30>--<process 10>-r<number>`, still fits its 52 characters with an eight-digit number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

MANAGER = "pilothouse"
SUSPENDED_BY_AGENT = "agent"

INSTALLATION = "pilothouse.dev/installation"
SLOT = "pilothouse.dev/slot"
RELEASE = "pilothouse.dev/release"
PROCESS = "pilothouse.dev/process"
DEPLOYMENT = "pilothouse.dev/deployment"
FENCE = "pilothouse.dev/fence"
SUSPENDED = "pilothouse.dev/suspended"
MANAGED_BY = "app.kubernetes.io/managed-by"

MAIN_PORT = "main"
NO_RELEASE = "none"
RELEASE_COMMAND = "release"

SERVICE_SLUG_LENGTH = 30
PROCESS_NAME_LENGTH = 10

# Bounded repeats of one class: linear in the input, whatever it is.
_LABEL = re.compile(r"[a-z](?:[a-z0-9-]*[a-z0-9])?")
_LOOKS_GENERATED = re.compile(r"-r[0-9]*\Z|-rw\Z|-ro\Z")


def slug_problem(slug: str, *, what: str, longest: int = SERVICE_SLUG_LENGTH) -> str | None:
    """Return what is wrong with a slug, as a sentence that begins with `what`, or None."""
    if not 1 <= len(slug) <= longest:
        return f"{what} has 1 to {longest} characters; this has {len(slug)}."
    if not _LABEL.fullmatch(slug):
        return (
            f"{what} consists of a-z, 0-9 and -, begins with a letter and ends with a letter or"
            " digit."
        )
    if "--" in slug:
        return f"{what} has no two hyphens in a row."
    if _LOOKS_GENERATED.search(slug):
        return (
            f"{what} does not end in -r, -rw, -ro or -r<number>: those name Pilothouse's objects."
        )
    return None


def process_name_problem(name: str) -> str | None:
    """Return what is wrong with a process's name, or None."""
    if name == RELEASE_COMMAND:
        return "A process is not called release: that is the release command's name."
    return slug_problem(name, what="A process's name", longest=PROCESS_NAME_LENGTH)


@dataclass(frozen=True)
class Place:
    """Where a slot's objects live and whose they are: what every name and label is made of."""

    installation: str
    slot: int
    project: str
    environment: str
    service: str
    namespace: str


def release_tag(number: int) -> str:
    """Return `r-7` as messages and labels write it."""
    return f"r-{number}"


def workload_name(service: str, process: str, number: int) -> str:
    """Return the name of the Deployment or CronJob of one release's process."""
    return f"{service}--{process}-r{number}"


def job_name(service: str, process: str, deployment: int) -> str:
    """Return the name of a Job: of a `job` process, or of the release command."""
    return f"{service}--{process}-d{deployment}"


def release_service_name(service: str, number: int) -> str:
    """Return the name of the release's own Service, and of the Secret of its variables."""
    return f"{service}-r{number}"


def stable_service_name(service: str) -> str:
    """Return the name of the Service that clients use."""
    return service


def slot_selector(place: Place) -> dict[str, str]:
    """Return the labels that make an object ours: installation and slot."""
    return {INSTALLATION: place.installation, SLOT: str(place.slot)}


def process_selector(place: Place, *, number: int, process: str) -> dict[str, str]:
    """Return what a workload, and the release's own Service, selects its pods by."""
    return {**slot_selector(place), RELEASE: release_tag(number), PROCESS: process}


def stable_selector(place: Place, *, number: int | None, process: str) -> dict[str, str]:
    """Return the stable Service's selector; without a release it selects nothing.

    Never an empty selector: Kubernetes would leave the old endpoints as they are.
    """
    tag = NO_RELEASE if number is None else release_tag(number)
    return {**slot_selector(place), RELEASE: tag, PROCESS: process}


def labels(place: Place, *, number: int | None, process: str) -> dict[str, str]:
    """Return every label of an object; without a release (the stable Service) no version."""
    named = {
        "app.kubernetes.io/name": place.service,
        "app.kubernetes.io/instance": f"{place.service}-{place.environment}",
        "app.kubernetes.io/component": process,
        "app.kubernetes.io/part-of": place.project,
        MANAGED_BY: MANAGER,
        **slot_selector(place),
        PROCESS: process,
    }
    if number is None:
        return named
    tag = release_tag(number)
    return {**named, "app.kubernetes.io/version": tag, RELEASE: tag}


def is_ours(place: Place, found: Mapping[str, str]) -> bool:
    """Whether an object with these labels belongs to this installation and slot."""
    return slot_selector(place).items() <= dict(found).items()


def release_number(tag: str) -> int | None:
    """Return 7 for `r-7`, None for anything else (`none`, a foreign label)."""
    digits = tag.removeprefix("r-")
    if tag == digits or not digits.isascii() or not digits.isdigit():
        return None
    return int(digits)
