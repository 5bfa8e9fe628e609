"""The locks, and their order: a slot first, then its deployments by id.

Two actions that locked in different orders would wait on each other.
"""

from __future__ import annotations

from deployments.models import Deployment, Slot


def lock_slot(slot_id: int) -> Slot:
    """Lock one slot until the transaction ends. Every change of a state begins with this."""
    return Slot.objects.select_for_update().get(pk=slot_id)


def lock_deployment(deployment_id: int) -> Deployment:
    """Lock a deployment's slot, then the deployment, and return it as it is now."""
    slot_id = Deployment.objects.values_list("slot_id", flat=True).get(pk=deployment_id)
    lock_slot(slot_id)
    return Deployment.objects.select_for_update().get(pk=deployment_id)
