"""A slot's variables. Secret values are encrypted and stand in a table of their own."""

from __future__ import annotations

from django.db import models

from deployments.models.inventory import Slot


class Variable(models.Model):
    """One variable. A secret one has no `value` here but a `SecretValue`."""

    slot = models.ForeignKey(Slot, on_delete=models.CASCADE, related_name="variables")
    key = models.CharField(max_length=128)
    value = models.TextField(blank=True)
    secret = models.BooleanField(default=False)

    class Meta:
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(fields=["slot", "key"], name="variable_key_unique_in_slot"),
            models.CheckConstraint(
                condition=models.Q(secret=False) | models.Q(value=""),
                name="a_secret_has_no_plain_value",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class SecretValue(models.Model):
    """The encrypted value of a secret variable."""

    variable = models.OneToOneField(
        Variable, on_delete=models.CASCADE, primary_key=True, related_name="secret_value"
    )
    ciphertext = models.BinaryField()

    def __str__(self) -> str:
        return f"secret of variable {self.variable_id}"
