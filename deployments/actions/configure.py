"""Change a slot's settings and variables: validated whole, written whole, under the slot's lock.

What runs does not change: the next deployment freezes them.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from deployments import encryption
from deployments.actions.locks import lock_slot
from deployments.domain.errors import Refused
from deployments.domain.settings_changes import apply_change
from deployments.domain.variables import Variable as Given
from deployments.domain.variables import parse_variables
from deployments.models import SecretValue, Slot, Variable


class ChangedMeanwhile(Refused):
    """Somebody else has changed the settings since the caller read them."""

    code = "changed-meanwhile"


@transaction.atomic
def change_settings(slot_id: int, change: object, *, seen: Collection[int] = ()) -> Slot:
    """Lay a change over the settings and return the slot.

    `seen`: the versions that the caller accepts, empty for any. Raises ChangedMeanwhile, or
    Invalid with every problem; either leaves everything as it was.
    """
    slot = lock_slot(slot_id)
    _check_seen(slot, seen)
    settings = apply_change(slot.settings, change).to_json()
    if settings != slot.settings:
        slot.settings = settings
        _mark_changed(slot)
    return slot


@transaction.atomic
def replace_variables(slot_id: int, document: object, *, seen: Collection[int] = ()) -> Slot:
    """Put these variables in the place of all that there are, and return the slot.

    A secret that is sent without a value keeps its own. Raises as `change_settings` does.
    """
    slot = lock_slot(slot_id)
    _check_seen(slot, seen)
    given = parse_variables(document, stored=_stored_sizes(slot))
    kept = [variable.key for variable in given if variable.keeps_stored]
    slot.variables.exclude(key__in=kept).delete()
    _insert(slot, [variable for variable in given if not variable.keeps_stored])
    _mark_changed(slot)
    return slot


def _check_seen(slot: Slot, seen: Collection[int]) -> None:
    if seen and slot.settings_version not in seen:
        raise ChangedMeanwhile(
            "Somebody has changed these settings since you read them. Read them again, then send"
            " your change."
        )


def _mark_changed(slot: Slot) -> None:
    slot.settings_version += 1
    slot.card_version += 1
    slot.save(update_fields=["settings", "settings_version", "card_version"])


def _stored_sizes(slot: Slot) -> dict[str, int]:
    rows = SecretValue.objects.filter(variable__slot=slot)
    return {
        key: len(encryption.decrypt(bytes(ciphertext)).encode())
        for key, ciphertext in rows.values_list("variable__key", "ciphertext")
    }


def _insert(slot: Slot, given: list[Given]) -> None:
    rows = Variable.objects.bulk_create(
        Variable(
            slot=slot,
            key=variable.key,
            value="" if variable.secret else variable.value or "",
            secret=variable.secret,
        )
        for variable in given
    )
    SecretValue.objects.bulk_create(
        SecretValue(variable=row, ciphertext=encryption.encrypt(variable.value or ""))
        for row, variable in zip(rows, given, strict=True)
        if variable.secret
    )
