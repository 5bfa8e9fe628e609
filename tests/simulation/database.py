"""A driver over the product itself: its actions, its loop and its database, on the same cluster."""

from __future__ import annotations

import pytest
from django.db.models import Max

from deployments.actions import leases, record
from deployments.actions.locks import lock_slot
from deployments.actions.start import deploy, let_run
from deployments.actions.stop import cancel
from deployments.agent import clients, loop, registry
from deployments.domain.images import ImageReference
from deployments.domain.releases import Config
from deployments.domain.settings import Settings
from deployments.domain.states import FINAL, Kind, State
from deployments.models import Cluster, Deployment, DeploymentEvent, Release, Slot
from deployments.models.deployments import EventKind
from deployments.reads.clock import database_now
from tests.factories import DIGEST, make_installation, make_slot, make_user
from tests.simulation.events import Image, Point, Shape
from tests.simulation.kube import Kube, chosen
from tests.simulation.play import SHORT, config_of
from tests.simulation.view import Fact, View
from tests.walks.fake_cluster import FakeCluster, as_cluster

_MOVING = [state.value for state in State if state not in FINAL]


class WithNames(FakeCluster):
    """A cluster that is away, and whose names are taken, when its world says so."""

    def _answer(self) -> None:
        for world in self.worlds.values():
            assert isinstance(world, Kube)
            world.answer_or_raise()
            self.foreign = world.taken


class Database:
    """One slot of the product."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        make_installation()
        self.slot, self.user = make_slot(), make_user()
        # Leases are judged by the database's clock: the test's runs ahead of it.
        self.kube = Kube(database_now())
        self.cluster = WithNames(self.kube.now, {self.slot.pk: self.kube})
        self._viewed: tuple[object, View] | None = None
        self.guarded = True
        self._put_into_the_product(patch)

    def _put_into_the_product(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(clients, "of_cluster", lambda _: as_cluster(self.cluster))
        patch.setattr(registry, "resolve", self._resolve)
        stands, note, write = loop.Guard.stands, record.remember_jobs, record.record
        give_back = leases.give_lease_back

        def may_go_on(guard: loop.Guard) -> bool:
            return not self.guarded or stands(guard)

        def noted(uids: object) -> None:
            # Here nothing asks any more: what is written now has to protect itself.
            self.kube.pass_point(Point.RECORD)
            if self.guarded:
                note(uids)  # type: ignore[arg-type]
                self.kube.pass_point(Point.NOTED)

        def written(*given: object, **named: object) -> None:
            if self.guarded:
                write(*given, **named)  # type: ignore[arg-type]

        def given_back(cluster: int, lease: str) -> None:
            if self.kube.alive:
                give_back(cluster, lease)

        patch.setattr(loop.Guard, "stands", may_go_on)
        patch.setattr(record, "remember_jobs", noted)
        patch.setattr(record, "record", written)
        patch.setattr(leases, "give_lease_back", given_back)

    def _resolve(self, reference: ImageReference) -> str:
        number = int(str(reference).rsplit(":", 1)[-1])
        if self.kube.images[number] is Image.UNKNOWN_TAG:
            raise registry.RegistryRefused("manifest unknown")
        return DIGEST

    # --- what a person does ---

    def deploy(self, shape: Shape) -> tuple[int, int]:
        """Let a new release go ahead, through the product's own door."""
        config = config_of(shape)
        self.slot.refresh_from_db()
        self.slot.settings = Settings(config.processes, config.release_command).to_json()
        self.slot.save(update_fields=["settings"])
        image = f"shop/web:{self.slot.releases_made + 1}"
        made = deploy(self.slot.pk, image=image, reason="", by=self.user, now=self.kube.now)
        return made.deployment.release.number, made.deployment.pk

    def again(self, pick: float) -> None:
        """Let a retired release run again."""
        retired = Release.objects.filter(retired_at__isnull=False, removed_at__isnull=True)
        there = list(retired.filter(slot=self.slot).order_by("number"))
        if there:
            let_run(
                lock_slot(self.slot.pk),
                chosen(there, pick),
                kind=Kind.ROLLBACK,
                reason="",
                by=self.user,
                now=self.kube.now,
            )

    def cancel(self, *, older: bool) -> None:
        """Cancel what moves."""
        moving = Deployment.objects.filter(slot=self.slot, state__in=_MOVING)
        found = moving.order_by("pk" if older else "-pk").first()
        if found is not None:
            cancel(found.pk, reason="enough", by=self.user, now=self.kube.now)

    # --- what the agent does ---

    def look(self) -> None:
        """Take one look."""
        cluster = self.slot.environment.cluster_id
        assert cluster is not None
        self.cluster.now = self.kube.now
        loop.look(cluster, now=self.kube.now, limits=SHORT)

    def lose_lease(self) -> None:
        """Let the lease be over."""
        Cluster.objects.update(lease_token="", lease_until=None)

    def unguard(self, *, guarded: bool) -> None:
        """Let the look ask no more."""
        self.guarded = guarded

    # --- how it is read ---

    def view(self) -> View:
        """Return the rows, with what the events say beside them."""
        slot = Slot.objects.select_related("active_release").get(pk=self.slot.pk)
        newest = DeploymentEvent.objects.filter(deployment__slot=slot).aggregate(at=Max("pk"))
        key = (slot.unsettled, slot.active_release_id, slot.generation, newest["at"])
        if self._viewed is None or self._viewed[0] != key:
            self._viewed = key, self._view(slot)
        return self._viewed[1]

    def _view(self, slot: Slot) -> View:
        rows = Deployment.objects.filter(slot=slot).select_related("release", "previous_release")
        releases = Release.objects.filter(slot=slot).order_by("number")
        numbers = [release.number for release in releases]
        assert numbers == list(range(1, len(numbers) + 1)), f"I16: {numbers}"
        return View(
            facts=tuple(_fact(row) for row in rows.prefetch_related("events").order_by("pk")),
            configs={r.number: Config.from_json(r.config or {}) for r in releases},
            active=slot.active_release.number if slot.active_release is not None else None,
            settled=not slot.unsettled,
        )


def _fact(row: Deployment) -> Fact:
    events = list(row.events.all())
    assert [event.number for event in events] == list(range(1, len(events) + 1)), "I4"
    assert [event.at for event in events] == sorted(event.at for event in events), "I4"
    shown = [event for event in events if event.kind != EventKind.NOTE]
    assert row.version >= len(shown), "I4"
    return Fact(
        id=row.pk,
        release=row.release.number,
        path=tuple(State(event.to_state) for event in events if event.kind == "move"),
        state=State(row.state),
        past=row.past_point_of_no_return,
        previous=row.previous_release.number if row.previous_release is not None else None,
        verdict=bool(row.verdict_blocker),
        given_up=row.way_back_given_up_at is not None,
        superseded_by=row.superseded_by_id,
        blocker=row.blocker,
        what=row.what,
    )
