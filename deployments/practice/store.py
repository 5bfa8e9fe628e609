"""The objects of the practice cluster: what etcd and the API server's registry do, without HTTP.

Both halves work on it: the API server for its clients, the world for its controllers and kubelets.
What a kind's fields default to and which values are refused is in `defaults` and `validation`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from deployments.practice import defaults, errors, identity, network, ownership, validation
from deployments.practice.deletion import Deletion, deletion_of, is_over
from deployments.practice.history import Change, History
from deployments.practice.journal import Journal
from deployments.practice.jsons import copy_json, meta, timestamp, without_nulls
from deployments.practice.kinds import KINDS, Kind

Object = dict[str, Any]
# `list` is the name of a method here.
Objects = list[Object]
Rows = list[tuple[str, Object]]
Operation = Literal["Apply", "Update"]
Admission = Callable[[str, str, Object, Object | None], None]
Admissions = list[Admission]

SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
EVENTS_KEPT_SECONDS = 3600


class Store:
    """Every object by kind, with one revision for all of them, as the real one has.

    `path` is the folder for its state, None keeps it in memory. What is given and returned is
    always a copy. `admission` hooks get (plural, "CREATE" | "UPDATE" | "DELETE", new, old), may
    change `new` and raise ApiError to refuse; they run after validation, under the lock.
    """

    def __init__(self, path: Path | None, *, clock: Callable[[], float] = time.time) -> None:
        self.lock = threading.RLock()
        self.clock = clock
        self.admission: Admissions = []
        self._changed = threading.Condition(self.lock)
        self._objects: dict[str, dict[tuple[str, str], Object]] = {name: {} for name in KINDS}
        self._journal = Journal(path) if path is not None else None
        self.revision = self._load()
        self.changes = History(self.revision)
        self._make_system_namespaces()

    # Reading

    def get(self, plural: str, namespace: str | None, name: str) -> Object:
        """Return one object. Raises ApiError 404."""
        found = self.find(plural, namespace, name)
        if found is None:
            raise errors.not_found(KINDS[plural], name)
        return found

    def find(self, plural: str, namespace: str | None, name: str) -> Object | None:
        with self.lock:
            found = self._objects[plural].get((namespace or "", name))
            return copy_json(found) if found is not None else None

    def list(
        self,
        plural: str,
        namespace: str | None = None,
        *,
        where: Callable[[Object], bool] | None = None,
    ) -> Objects:
        """Return objects sorted by namespace and name; `namespace` None means all of them.

        `where` sees the stored object and must not change it.
        """
        found = self.stored(plural, namespace)
        return [copy_json(obj) for obj in found if where is None or where(obj)]

    def stored(self, plural: str, namespace: str | None = None) -> Objects:
        """Return the stored objects themselves, sorted like `list`: to read, never to change.

        They are replaced as a whole by writes, so what was read stays as it was.
        """
        with self.lock:
            objects = self._objects[plural]
            keys = sorted(key for key in objects if namespace in (None, "", key[0]))
            return [objects[key] for key in keys]

    def wait(self, since: int, timeout: float) -> int:
        """Block until something is written after `since` or `timeout` seconds are over.

        Returns the present revision.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.revision > since, timeout)
            return self.revision

    # Writing

    def create(
        self,
        plural: str,
        obj: Object,
        *,
        manager: str = "",
        operation: Operation = "Update",
        dry_run: bool = False,
    ) -> Object:
        """Store a new object and return it. `manager` names who owns its fields.

        With `operation` "Apply" the object brings its managed fields with it.

        Raises ApiError: 404 for an unknown namespace, 403 for one that is being deleted, 409
        AlreadyExists, 422 for what is invalid, and whatever admission refuses.
        """
        kind = KINDS[plural]
        with self.lock:
            new = self._prepared(kind, obj)
            validation.check_new(kind, new)
            self._admit(plural, "CREATE", new, None)
            self._refuse_taken(kind, new)
            network.allocate(plural, new, self._objects["services"])
            identity.begin(kind, new, now=self.clock())
            ownership.record(new, None, manager=manager, operation=operation, now=self.clock())
            if not dry_run:
                self._write(plural, "ADDED", new, None)
            return copy_json(new)

    def update(
        self,
        plural: str,
        obj: Object,
        *,
        subresource: str = "",
        manager: str = "",
        operation: Operation = "Update",
        dry_run: bool = False,
    ) -> Object:
        """Replace an object and return it as it is then; nothing is written if nothing changed.

        Without `subresource` the status stays as it was; with "status" only the status changes.
        Raises ApiError: 409 when `metadata.resourceVersion` is given and not the present one, 404,
        422. An object marked as deleted goes with its last finalizer.
        """
        kind = KINDS[plural]
        metadata = obj.get("metadata", {})
        with self.lock:
            old = self._present(kind, metadata.get("namespace"), metadata.get("name", ""))
            identity.check_preconditions(kind, metadata, old)
            new = identity.merged(kind, without_nulls(obj), old, subresource)
            defaults.fill(kind, new)
            network.keep(plural, new, old)
            validation.check_change(kind, new, old, subresource)
            self._admit(plural, "UPDATE", new, old)
            identity.raise_generation(new, old)
            ownership.record(
                new, old, manager=manager, operation=operation, subresource=subresource,
                now=self.clock(),
            )  # fmt: skip
            if not dry_run and identity.differs(new, old):
                self._write_or_end(plural, new, old)
            return copy_json(new)

    def delete(
        self,
        plural: str,
        namespace: str | None,
        name: str,
        *,
        propagation: str = "Background",
        uid: str | None = None,
        resource_version: str | None = None,
        grace_seconds: int | None = None,
        dry_run: bool = False,
    ) -> Object:
        """Delete an object, or mark it and return it as it is then.

        Marked only (`deletionTimestamp`) are: pods on a node, for their grace period; namespaces;
        what has finalizers; "Foreground" and "Orphan", which add the finalizers
        `foregroundDeletion` and `orphan`. Raises ApiError 404, and 409 for a precondition.
        """
        kind = KINDS[plural]
        with self.lock:
            old = self._present(kind, namespace, name)
            identity.check_delete_preconditions(kind, old, uid, resource_version)
            self._admit(plural, "DELETE", old, old)
            new = deletion_of(old, Deletion(plural, propagation, grace_seconds), now=self.clock())
            if not dry_run and is_over(plural, new):
                self._write(plural, "DELETED", new, old)
            elif not dry_run and identity.differs(new, old):
                self._write(plural, "MODIFIED", new, old)
            return copy_json(new)

    def remove(self, plural: str, namespace: str | None, name: str, *, uid: str) -> None:
        """End an object, as kubelet does after the grace period and the garbage collector at once.

        Does nothing when it is gone or another one has its name. With finalizers it is only marked.
        """
        with self.lock:
            old = self._objects[plural].get((namespace or "", name))
            if old is None or old["metadata"]["uid"] != uid:
                return
            new = deletion_of(old, Deletion(plural, "Background", 0), now=self.clock())
            if plural == "namespaces":
                new["spec"] = {}
            self._write(plural, "DELETED" if is_over(plural, new) else "MODIFIED", new, old)

    def close(self) -> None:
        """Write everything to disk. The store is of no use afterwards."""
        with self.lock:
            if self._journal is not None:
                self._journal.snapshot(self.revision, self._rows())
                self._journal.close()

    # Below: one lock, held by the callers above

    def _prepared(self, kind: Kind, obj: Object) -> Object:
        new = without_nulls(obj)
        identity.name(kind, new)
        self._refuse_namespace(kind, new)
        defaults.fill_new(kind, new)
        defaults.fill(kind, new)
        return new

    def _present(self, kind: Kind, namespace: str | None, name: str) -> Object:
        found = self._objects[kind.plural].get((namespace or "", name))
        if found is None:
            raise errors.not_found(kind, name)
        return found

    def _refuse_namespace(self, kind: Kind, new: Object) -> None:
        if not kind.namespaced:
            return
        name = meta(new).get("namespace", "")
        namespace = self._objects["namespaces"].get(("", name))
        if namespace is None:
            raise errors.not_found(KINDS["namespaces"], name)
        if "deletionTimestamp" in namespace["metadata"]:
            raise identity.namespace_terminating(kind, new["metadata"].get("name", ""), name)

    def _refuse_taken(self, kind: Kind, new: Object) -> None:
        metadata = new["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        present = self._objects[kind.plural].get(key)
        if present is not None:
            marked = "deletionTimestamp" in present["metadata"]
            raise errors.already_exists(kind, metadata["name"], being_deleted=marked)

    def _admit(self, plural: str, operation: str, new: Object, old: Object | None) -> None:
        for hook in self.admission:
            hook(plural, operation, new, old)

    def _write_or_end(self, plural: str, new: Object, old: Object) -> None:
        deleted = "deletionTimestamp" in new["metadata"] and is_over(plural, new)
        self._write(plural, "DELETED" if deleted else "MODIFIED", new, old)

    def _write(
        self,
        plural: str,
        change: Literal["ADDED", "MODIFIED", "DELETED"],
        new: Object,
        old: Object | None,
    ) -> None:
        self.revision += 1
        metadata = new["metadata"]
        metadata["resourceVersion"] = str(self.revision)
        key = (metadata.get("namespace", ""), metadata["name"])
        if change == "DELETED":
            self._objects[plural].pop(key)
        else:
            # Histories and readers hold the stored object, the caller goes on with its own.
            new = copy_json(new)
            self._objects[plural][key] = new
        self.changes.append(Change(self.revision, plural, change, new, old))
        self._keep(plural, new, deleted=change == "DELETED")
        if change == "ADDED" and plural == "events":
            self._drop_old_events()
        self._changed.notify_all()

    def _keep(self, plural: str, new: Object, *, deleted: bool) -> None:
        if self._journal is None:
            return
        if self._journal.append(self.revision, plural, new, deleted=deleted):
            self._journal.snapshot(self.revision, self._rows())

    def _rows(self) -> Rows:
        return [(plural, obj) for plural, all_ in self._objects.items() for obj in all_.values()]

    def _load(self) -> int:
        if self._journal is None:
            return 1
        revision, rows = self._journal.load()
        for plural, obj in rows:
            metadata = obj["metadata"]
            self._objects[plural][metadata.get("namespace", ""), metadata["name"]] = obj
        # At once, because a half-written last line must not stand before new ones.
        self._journal.snapshot(max(revision, 1), self._rows())
        return max(revision, 1)

    def _make_system_namespaces(self) -> None:
        for name in SYSTEM_NAMESPACES:
            if self.find("namespaces", None, name) is None:
                self.create("namespaces", {"metadata": {"name": name}})

    def _drop_old_events(self) -> None:
        """Forget events after an hour, as the real one does; else they fill the disk."""
        oldest = timestamp(self.clock() - EVENTS_KEPT_SECONDS)
        for event in [*self._objects["events"].values()]:
            # Insertion order is the order of creation.
            if event["metadata"]["creationTimestamp"] >= oldest:
                return
            self._write("events", "DELETED", copy_json(event), event)
