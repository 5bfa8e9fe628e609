"""Releases: an image digest plus the configuration frozen with it, each written once."""

from __future__ import annotations

import pgtrigger
from django.db import models

from deployments.models.inventory import Slot


class Release(models.Model):
    """Numbered per slot. `image` is what was asked for, `digest` what its tag stood for.

    `retired_at`: when another release became active in its place. `removed_at`: when it fell out
    of the retired ones that are kept.
    """

    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    image = models.CharField(max_length=400)
    digest = models.CharField(max_length=71, blank=True)
    config = models.JSONField(null=True)
    created_at = models.DateTimeField()
    healthy_at = models.DateTimeField(null=True)
    retired_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["slot", "number"], name="release_number_unique_in_slot")
        ]
        triggers = [
            pgtrigger.Trigger(
                name="digest_is_written_once",
                operation=pgtrigger.Update,
                when=pgtrigger.Before,
                condition=pgtrigger.Q(old__digest__df=pgtrigger.F("new__digest"))
                & ~pgtrigger.Q(old__digest=""),
                func="RAISE EXCEPTION 'a release''s digest is written once';",
            ),
            pgtrigger.Trigger(
                name="config_is_written_once",
                operation=pgtrigger.Update,
                when=pgtrigger.Before,
                condition=pgtrigger.Q(old__config__df=pgtrigger.F("new__config"))
                & pgtrigger.Q(old__config__isnull=False),
                func="RAISE EXCEPTION 'a release''s configuration is written once';",
            ),
        ]

    def __str__(self) -> str:
        return f"r-{self.number}"


class ReleaseSecret(models.Model):
    """The encrypted value of a secret as it was when the release was frozen."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="secrets")
    key = models.CharField(max_length=128)
    ciphertext = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "key"], name="secret_key_unique_in_release")
        ]

    def __str__(self) -> str:
        return self.key
