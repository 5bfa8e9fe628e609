"""The clocks of causes that are not mature yet (see `domain/clocks.py`), so that they outlive a
worker."""

from __future__ import annotations

from django.db import models

from deployments.models.deployments import Deployment


class CauseClock(models.Model):
    """How long one cause has been seen on one deployment."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="clocks")
    cause = models.CharField(max_length=40)
    subject = models.CharField(max_length=100, blank=True)
    mark = models.CharField(max_length=300, blank=True)
    detail = models.CharField(max_length=300, blank=True)
    since = models.DateTimeField()
    last_seen = models.DateTimeField()
    unseen_seconds = models.FloatField(default=0.0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "cause", "subject"], name="one_clock_per_cause"
            )
        ]

    def __str__(self) -> str:
        return f"{self.cause} of deployment {self.deployment_id}"
