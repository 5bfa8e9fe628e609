"""The installation itself: one row with the random id that marks our objects in every cluster."""

from __future__ import annotations

import secrets

from django.db import models


def new_installation_id() -> str:
    """Return a random id that is a valid label value."""
    return secrets.token_hex(8)


class Installation(models.Model):
    """Made once. Two installations on one cluster never touch each other's objects."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    token = models.CharField(max_length=63, default=new_installation_id, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="only_one_installation")
        ]

    def __str__(self) -> str:
        return self.token
