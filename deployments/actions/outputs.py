"""Keep the end of what a deployment's containers wrote."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from deployments.domain.outputs import Output
from deployments.models import DeploymentOutput


def keep(deployment_id: int, found: Iterable[Output], *, now: datetime) -> None:
    """Store outputs with a deployment, each once: what was read last replaces what was there.

    One statement, and safe to repeat. An output that was kept and is not among these stays.
    """
    DeploymentOutput.objects.bulk_create(
        [
            DeploymentOutput(
                deployment_id=deployment_id,
                pod=output.source.pod,
                container=output.source.container,
                previous=output.source.previous,
                text=output.text,
                at=now,
            )
            for output in found
        ],
        update_conflicts=True,
        unique_fields=["deployment", "pod", "container", "previous"],
        update_fields=["text", "at"],
    )
