"""The shop of the demonstration: its services with their settings, and what is deployed first.

Everything is made and deployed through the same actions as a person's.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from deployments.actions import configure, environments, services, start
from deployments.actions.environments import Binding
from deployments.domain.documents import JsonObject
from deployments.models import Environment, Organization, Project, Slot, User

ORGANIZATION = "harbor"
PROJECT = "shop"
IMAGE = "sample:1"
REASON = "The first deployment of the demonstration"

# Small enough that two versions of everything fit beside each other on two small nodes.
_SMALL: JsonObject = {"cpu_request": "10m", "memory_request": "32Mi", "memory_limit": "128Mi"}


def _http(replicas: int) -> JsonObject:
    return {"name": "http", "kind": "http", "command": ["serve"], "replicas": replicas, **_SMALL}


def _without_http(*processes: JsonObject) -> JsonObject:
    return {"processes": [{"name": "http", "remove": True}, *processes]}


_MIGRATION: JsonObject = {"command": ["run"], "timeout_seconds": 120}
_QUEUE: JsonObject = {"name": "queue", "kind": "worker", "command": ["work"], **_SMALL}
_INDEX: JsonObject = {
    "name": "index", "kind": "worker", "command": ["tcp"], "port": 8080, **_SMALL,
}  # fmt: skip
_NIGHTLY: JsonObject = {
    "name": "nightly", "kind": "cron", "command": ["run"], "schedule": "30 4 * * *", **_SMALL,
}  # fmt: skip
_DIGEST: JsonObject = {
    "name": "digest", "kind": "cron", "command": ["run"], "schedule": "*/10 * * * *", **_SMALL,
}  # fmt: skip
_WARM_UP: JsonObject = {"name": "warmup", "kind": "job", "command": ["run"], **_SMALL}

# Each service, as a change of the settings of a new one: all kinds of process are among them.
SERVICES: Mapping[str, JsonObject] = {
    "api": {"processes": [_http(2)], "release_command": _MIGRATION},
    "billing": {"processes": [_http(1), _QUEUE, _NIGHTLY]},
    "mailer": _without_http(_DIGEST),
    "search": _without_http(_INDEX, _WARM_UP),
    "web": {"processes": [_http(2)]},
    "worker": _without_http(_QUEUE),
}

# What is running when somebody first looks; `mailer` is left for them to deploy.
DEPLOYED: Mapping[str, tuple[str, ...]] = {
    "staging": ("api", "billing", "search", "web", "worker"),
    "production": ("api", "web", "worker"),
    "real": ("api", "web"),
}


def seed_project() -> Project:
    """Return the project of the demonstration, made where it is missing."""
    organization, _ = Organization.objects.get_or_create(
        slug=ORGANIZATION, defaults={"name": "Harbor"}
    )
    project, _ = Project.objects.get_or_create(
        slug=PROJECT, defaults={"organization": organization}
    )
    for slug in SERVICES:
        if not project.services.filter(slug=slug).exists():
            services.create_service(project.pk, slug=slug)
    return project


def seed_environment(
    project: Project, slug: str, binding: Binding, *, default_registry: str
) -> Environment:
    """Return an environment that is bound so, made or changed where it is not; its services have
    the settings of the demonstration."""
    found = project.environments.filter(slug=slug).first()
    if found is None:
        found = environments.create_environment(
            project.pk, slug=slug, binding=binding, default_registry=default_registry
        )
    found = environments.bind(found.pk, binding)
    if found.default_registry != default_registry:
        found = environments.set_default_registry(found.pk, default_registry)
    for slot in found.slots.select_related("service"):
        _configure(slot)
    return found


def seed_deployments(environment: Environment, *, by: User, now: datetime) -> list[str]:
    """Deploy what was never deployed, and return the names of those services."""
    chosen = environment.slots.filter(
        service__slug__in=DEPLOYED.get(environment.slug, ()), generation=0
    ).select_related("service")
    slots = list(chosen.order_by("service__slug"))
    for slot in slots:
        start.deploy(slot.pk, image=IMAGE, reason=REASON, by=by, now=now)
    return [slot.service.slug for slot in slots]


def _configure(slot: Slot) -> None:
    """Give a service its settings, unless somebody has changed them already."""
    change = SERVICES.get(slot.service.slug)
    if change is not None and slot.settings_version == 1:
        configure.change_settings(slot.pk, change)
