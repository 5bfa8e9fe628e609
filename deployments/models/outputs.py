"""The end of what the containers of a deployment wrote, kept before their pods were removed."""

from __future__ import annotations

from django.db import models

from deployments.models.deployments import Deployment


class DeploymentOutput(models.Model):
    """One container's output as it was kept last, cleaned, at most 64 KiB.

    `previous`: of the run before the one that the container was in.
    """

    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="outputs")
    pod = models.CharField(max_length=253)
    container = models.CharField(max_length=253)
    previous = models.BooleanField()
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["pod", "container", "-previous"]
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "pod", "container", "previous"],
                name="an_output_is_kept_once",
            )
        ]

    def __str__(self) -> str:
        return f"output of {self.container} in {self.pod}"
