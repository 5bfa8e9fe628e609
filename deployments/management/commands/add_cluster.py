"""`manage.py add_cluster NAME --kubeconfig FILE [--context C]`: register a cluster by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.actions import clusters
from deployments.agent.connect import connect
from deployments.agent.kubeconfig import NotUsable
from deployments.domain.errors import Invalid
from deployments.reads.clock import database_now


class Command(BaseCommand):
    help = "Register a Kubernetes cluster, after trying that it answers and what the agent may do."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--kubeconfig", type=Path, required=True)
        parser.add_argument("--context")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - Django's signature
        try:
            found = connect(options["kubeconfig"], options["context"])
            cluster = clusters.add(
                slug=options["name"],
                kubeconfig=found.kubeconfig,
                uid=found.uid,
                version=found.version,
                now=database_now(),
            )
        except (NotUsable, Invalid) as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{cluster.slug} answers with Kubernetes {cluster.version}.")
