"""How services are now, for the API: each slot with its lifecycle word and what that is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from deployments import encryption
from deployments.domain import settings
from deployments.domain.errors import Invalid
from deployments.domain.lifecycle import Status
from deployments.domain.releases import Config
from deployments.models import Deployment, Observation, Slot, Variable
from deployments.reads.pages import shown_on_cards
from deployments.reads.serving import observation_of, status_of


@dataclass(frozen=True)
class SlotStatus:
    """A slot and how it is. `shown`: the deployment on its card, None before the first.

    `settings_differ`: what is saved differs from what the active release runs with.
    """

    slot: Slot
    shown: Deployment | None
    observation: Observation | None
    status: Status
    settings_differ: bool


def statuses_of(slots: QuerySet[Slot], *, now: datetime) -> tuple[SlotStatus, ...]:
    """Return the status of each slot, the oldest first; the same few queries for any number."""
    shown = {deployment.slot_id: deployment for deployment in shown_on_cards(slots)}
    rows = (
        slots.select_related(
            "service__project",
            "environment__cluster",
            "active_release",
            "serving_release",
            "observation",
        )
        .prefetch_related("variables__secret_value")
        .order_by("pk")
    )
    return tuple(_status(slot, shown.get(slot.pk), now) for slot in rows)


def _status(slot: Slot, shown: Deployment | None, now: datetime) -> SlotStatus:
    return SlotStatus(
        slot=slot,
        shown=shown,
        observation=observation_of(slot),
        status=status_of(slot, shown, now=now),
        settings_differ=_settings_differ(slot),
    )


def _settings_differ(slot: Slot) -> bool:
    if slot.active_release is None:
        return False
    try:
        saved = settings.parse(slot.settings)
    except Invalid:
        return True  # what once was valid and no longer is cannot be what runs
    now = settings.to_config(saved, *_variables(slot.variables.all()))
    return now != Config.from_json(slot.active_release.config or {})


def _variables(rows: Iterable[Variable]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the plain values, and the keyed hashes of the secret ones."""
    rows = list(rows)
    hashes = {
        row.key: encryption.keyed_hash(encryption.decrypt(bytes(row.secret_value.ciphertext)))
        for row in rows
        if row.secret
    }
    return {row.key: row.value for row in rows if not row.secret}, hashes
