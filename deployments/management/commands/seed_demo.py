"""Fill the demonstration: people, a shop with environments on real or practice clusters, and the
first deployments, made the way a person makes them. A second run changes nothing."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.actions.environments import Binding
from deployments.agent.kubeconfig import NotUsable
from deployments.domain.errors import Invalid, Refused
from deployments.management import demo_clusters, demo_people, demo_shop
from deployments.management.demo_people import Account
from deployments.models import Environment, Project, User
from deployments.reads.clock import database_now
from deployments.reads.snapshots import installation

PRACTICE = "practice"
REAL = "real"
OWNER_ONLY = 0o600

PRACTICE_NAMESPACES = {"staging": "shop-staging", "production": "shop-production"}
REAL_NAMESPACE = "pilothouse-shop-real"
MARK_LENGTH = 6


class Command(BaseCommand):
    """`python manage.py seed_demo --output FILE --practice KUBECONFIG --registry HOST:PORT`."""

    help = "Fill the demonstration: people, a shop, and its first deployments."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--output", type=Path, help="where accounts are written and kept")
        parser.add_argument("--practice", type=Path, help="the practice cluster's kubeconfig")
        parser.add_argument("--registry", default="", help="the practice cluster's registry")
        parser.add_argument("--cluster", type=Path, help="a kubeconfig: adds the environment real")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        given = Namespace(**options)
        try:
            filled = self._fill(given, _accounts(given.output))
        except Invalid as invalid:
            raise CommandError(str(invalid)) from invalid
        except (Refused, NotUsable, demo_people.SomebodyElse) as refused:
            raise CommandError(str(refused)) from refused
        self._hand_out(filled, given.output)

    def _fill(self, given: Namespace, known: Mapping[str, Account]) -> dict[str, Any]:
        now = database_now()
        project = demo_shop.seed_project()
        users = demo_people.seed_people(project.organization, known, now=now)
        made = [*self._on_practice(project, given), *self._on_a_real_one(project, given)]
        engineer = User.objects.get(username=users["engineer"]["username"])
        for environment in made:
            self._deploy(environment, engineer)
        clusters = {environment.cluster.slug for environment in made if environment.cluster}
        return {"users": users, "clusters": sorted(clusters)}

    def _on_practice(self, project: Project, given: Namespace) -> list[Environment]:
        if given.practice is None:
            return []
        cluster = demo_clusters.register(PRACTICE, given.practice)
        return [
            self._environment(project, slug, Binding(cluster, namespace), given.registry)
            for slug, namespace in PRACTICE_NAMESPACES.items()
        ]

    def _on_a_real_one(self, project: Project, given: Namespace) -> list[Environment]:
        if given.cluster is None:
            return []
        binding = Binding(demo_clusters.register(REAL, given.cluster), _real_namespace())
        return [self._environment(project, REAL, binding, _real_registry(given.registry))]

    def _environment(
        self, project: Project, slug: str, binding: Binding, registry: str
    ) -> Environment:
        demo_clusters.make_namespace(binding)
        self.stdout.write(f"{slug}: {binding.namespace} of {binding.cluster}")
        return demo_shop.seed_environment(project, slug, binding, default_registry=registry)

    def _deploy(self, environment: Environment, engineer: User) -> None:
        if not environment.default_registry:
            return  # `sample:1` of docker.io is somebody else's image
        deployed = demo_shop.seed_deployments(environment, by=engineer, now=database_now())
        for service in deployed:
            self.stdout.write(f"{environment.slug}: deploying {demo_shop.IMAGE} of {service}")

    def _hand_out(self, filled: dict[str, Any], output: Path | None) -> None:
        text = json.dumps(filled, indent=2) + "\n"
        if output is None:
            self.stdout.write(text)
        else:
            _write_private(output, text)


def _accounts(output: Path | None) -> Mapping[str, Account]:
    """Return the accounts that an earlier run wrote, none where it did not."""
    if output is None or not output.exists():
        return {}
    users: Mapping[str, Account] = json.loads(output.read_text()).get("users", {})
    return users


def _real_namespace() -> str:
    """Return a namespace of this installation's own: another one's objects would be in the way."""
    return f"{REAL_NAMESPACE}-{installation()[:MARK_LENGTH]}"


def _real_registry(practice: str) -> str:
    """Return the one other registry that speaks plain http, empty where none or several do."""
    named = [host for host in settings.PILOTHOUSE_INSECURE_REGISTRIES if host != practice]
    return named[0] if len(named) == 1 else ""


def _write_private(file: Path, text: str) -> None:
    """Replace a file at once, readable by its owner alone from the first byte."""
    beside = file.with_suffix(f"{file.suffix}.new")
    beside.unlink(missing_ok=True)
    beside.touch(mode=OWNER_ONLY)
    beside.write_text(text)
    beside.replace(file)
