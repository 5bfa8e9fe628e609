"""What was last seen of a slot: counts and words for its card, never a state of its own."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from deployments.models.inventory import Slot


class Observation(models.Model):
    """The last look at a slot. `generation` is the one that the look was made for.

    `ready` and `desired` count the serving release's primary process; `scaled_by_hand` names
    processes whose replicas somebody changed in the cluster.
    """

    slot = models.OneToOneField(
        Slot, on_delete=models.CASCADE, primary_key=True, related_name="observation"
    )
    generation = models.PositiveIntegerField()
    observed_at = models.DateTimeField()
    ready = models.PositiveIntegerField(default=0)
    desired = models.PositiveIntegerField(default=0)
    rolling = models.BooleanField(default=False)
    detail = models.CharField(max_length=500, blank=True)
    scaled_by_hand = ArrayField(models.CharField(max_length=60), default=list)

    def __str__(self) -> str:
        return f"observation of slot {self.slot_id}"
