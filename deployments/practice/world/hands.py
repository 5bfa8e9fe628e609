"""What controllers and kubelets may do: write to the store, tell an event, ask to be woken.

No rule is here.
"""

from __future__ import annotations

from typing import Any

from deployments.practice.store import Store
from deployments.practice.world.events import Recorder, Teller

Obj = dict[str, Any]

NEVER = float("inf")


class Hands:
    """The writes of one part of the cluster, under its own name.

    Every write carries the resourceVersion that was read: a stale one is refused by the store (409)
    and the next look decides again.
    """

    def __init__(self, store: Store, recorder: Recorder, teller: Teller) -> None:
        self.store = store
        self._recorder = recorder
        self._teller = teller
        self.due = NEVER

    def create(self, plural: str, obj: Obj) -> Obj:
        """Create an object. Raises ApiError when it is refused."""
        return self.store.create(plural, obj, manager=self._teller.manager)

    def change(self, plural: str, obj: Obj, **fields: Obj | list[Obj] | None) -> Obj:
        """Replace top-level fields of an object (`spec=`, `metadata=`)."""
        return self.store.update(plural, {**obj, **fields}, manager=self._teller.manager)

    def status(self, plural: str, obj: Obj, status: Obj) -> bool:
        """Write the status if it differs. Return whether it did."""
        if status == obj.get("status", {}):
            return False
        manager = self._teller.manager
        changed = {**obj, "status": status}
        self.store.update(plural, changed, subresource="status", manager=manager)
        return True

    def delete(self, plural: str, obj: Obj, *, propagation: str = "Background") -> None:
        metadata = obj["metadata"]
        self.store.delete(
            plural,
            metadata.get("namespace"),
            metadata["name"],
            propagation=propagation,
            uid=metadata["uid"],
        )

    def remove(self, plural: str, obj: Obj) -> None:
        """End an object for good, without a grace period."""
        metadata = obj["metadata"]
        namespace = metadata.get("namespace")
        self.store.remove(plural, namespace, metadata["name"], uid=metadata["uid"])

    def tell(self, about: Obj, kind: str, reason: str, message: str, *, field: str = "") -> None:
        """Record an event of type `kind` (Normal or Warning) about an object."""
        self._recorder.record(self._teller, about, kind, reason, message, field=field)

    def again_at(self, when: float) -> None:
        """Ask for another look at this moment, even if nothing changes until then."""
        self.due = min(self.due, when)
