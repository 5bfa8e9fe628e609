"""A cluster behind an API server: what the loop asks of it (see `cluster.py`), call by call."""

from __future__ import annotations

from collections.abc import Sequence

from deployments.agent import answers, logs, probes, rooms, translate
from deployments.agent.cluster import CommandRefused, Forbidden, Reading, Secrets, Stale
from deployments.agent.kube import KubeApi
from deployments.agent.manifests import Request, object_path, request_for
from deployments.agent.reading import KINDS, KubeReading, NamespaceRead, by_slot
from deployments.agent.translate import Json
from deployments.domain import names
from deployments.domain.commands import Command, Create, Delete, Try
from deployments.domain.names import Place
from deployments.domain.observations import CheckResult, Meta, ObjectKind, Room
from deployments.domain.outputs import Output, Source
from deployments.domain.readiness import Check
from deployments.domain.wanted import Wanted

NODES = ("api", "v1", "nodes")
PODS = ("api", "v1", "pods")


class KubeCluster:
    """The real one, or the practice cluster: whatever speaks the API."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api

    def read(self, installation: str, namespaces: Sequence[str]) -> Reading:
        """Return these namespaces' objects of this installation, and the nodes."""
        read = {name: self._namespace(installation, name) for name in namespaces}
        return KubeReading(read, self._api.objects(NODES))

    def _namespace(self, installation: str, namespace: str) -> NamespaceRead:
        selector = f"{names.INSTALLATION}={installation}"
        try:
            lists = {
                plural: self._api.objects(_list_path(group, version, namespace, plural), selector)
                for group, version, plural in KINDS
            }
        except Forbidden as reason:
            # A right that is missing in one namespace must not hide the others; silence hides all.
            return NamespaceRead(refused=str(reason))
        return NamespaceRead({plural: by_slot(found) for plural, found in lists.items()})

    def room(self, reading: Reading, place: Place) -> Room:
        """Return what the nodes and the namespace's quotas have left, read anew."""
        quotas = self._api.objects(_list_path("", "v1", place.namespace, "resourcequotas"))
        nodes = self._api.objects(NODES)
        return rooms.room(nodes, self._api.objects(PODS), quotas)

    def taken(
        self, place: Place, wanted_names: Sequence[tuple[ObjectKind, str]]
    ) -> tuple[str, ...]:
        """Return which names somebody else's objects have."""
        found = ((kind, name, self._meta(place, kind, name)) for kind, name in wanted_names)
        return tuple(
            f"{kind} {name}"
            for kind, name, meta in found
            if meta is not None and not names.is_ours(place, meta.labels)
        )

    def _meta(self, place: Place, kind: ObjectKind, name: str) -> Meta | None:
        found = self._api.read_metadata(object_path(place.namespace, kind, name))
        return translate.meta(kind, found) if found is not None else None

    def check(self, place: Place, check: Check) -> CheckResult:
        """Ask a release's own Service through the proxy."""
        return probes.check(self._api, place.namespace, check)

    def output(self, place: Place, sources: Sequence[Source]) -> tuple[Output, ...]:
        """Return the end of what these containers wrote."""
        return logs.read(self._api, place.namespace, sources)

    def run(self, command: Command, wanted: Wanted, *, secrets: Secrets) -> Meta | None:
        """Carry out one command."""
        if isinstance(command, Delete) and not command.ref.uid:
            self._delete_by_name(command, wanted, secrets)
            return None
        request = request_for(command, wanted, _values(command, wanted, secrets))
        if isinstance(command, Create):
            return self._create(command, request, wanted.place)
        if isinstance(command, Try):
            self._create(command.create, request, wanted.place)
            return None
        changed = answers.check_change(self._api.send(request))
        return None if isinstance(command, Delete) else translate.meta(command.ref.kind, changed)

    def _delete_by_name(self, command: Delete, wanted: Wanted, secrets: Secrets) -> None:
        """Remove what a look does not list, a Secret, if it is there and ours."""
        found = self._meta(wanted.place, command.ref.kind, command.ref.name)
        if found is not None and found.ref.uid and names.is_ours(wanted.place, found.labels):
            self.run(Delete(found.ref), wanted, secrets=secrets)

    def _create(self, create: Create, request: Request, place: Place) -> Meta:
        made = answers.check_creation(self._api.send(request))
        if made is not None:
            return translate.meta(create.kind, made)
        return self._adopted(create, place)

    def _adopted(self, create: Create, place: Place) -> Meta:
        """Return an object that is there already, if it is ours: an earlier look made it."""
        found = self._meta(place, create.kind, create.name)
        if found is None or found.deleting:
            raise Stale(f"{create.kind} {create.name} is on its way out")
        if not names.is_ours(place, found.labels):
            said = f"{create.kind} {create.name} exists and is not Pilothouse's"
            raise CommandRefused(409, "AlreadyExists", said)
        return found


def _values(command: Command, wanted: Wanted, secrets: Secrets) -> dict[str, str]:
    """Return the secret values that a command needs: only a release's Secret does."""
    if not isinstance(command, Create) or command.kind is not ObjectKind.SECRET:
        return {}
    release = wanted.release(command.release)
    return dict(secrets(release)) if release is not None else {}


def _list_path(group: str, version: str, namespace: str, plural: str) -> tuple[str, ...]:
    root = ("apis", group, version) if group else ("api", version)
    return (*root, "namespaces", namespace, plural)


def namespace_exists(api: KubeApi, name: str) -> bool:
    """Whether a namespace is there. Raises Unreachable."""
    return api.read(("api", "v1", "namespaces", name)) is not None


def create_namespace(api: KubeApi, name: str) -> None:
    """Make a namespace unless it is there. Raises Unreachable or CommandRefused."""
    body: Json = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {names.MANAGED_BY: names.MANAGER}},
    }
    answers.check_creation(api.send(Request("POST", ("api", "v1", "namespaces"), dict(body))))
