"""The queries of the console's pages. Each page asks a fixed number of questions, whatever the
number of services; what is shown of a row is worded in `attempts` and `serving`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from deployments.access import WITH_A_DEPLOYMENT, clusters_of, projects_of
from deployments.domain import names
from deployments.domain.deadlines import AGENT_OFFLINE_AFTER
from deployments.domain.roles import Deed, Role, may, why_not
from deployments.domain.states import State
from deployments.models import Cluster, Deployment, Environment, Project, Release, Slot, User
from deployments.reads.attempts import (
    attempt_of,
    event_row,
    image_of,
    output_row,
    stage_rows,
)
from deployments.reads.cards import Card, Control, Place, Sign, Tone
from deployments.reads.page_values import (
    ClusterRow,
    ClustersPage,
    DeploymentPage,
    EnvironmentSection,
    OutputRow,
    ProjectPage,
    ProjectRow,
    ReleaseRow,
    ServicePage,
)
from deployments.reads.serving import serving_of

LISTED = 20
NOBODY_LOOKS = (
    "Nobody looks at it: a worker or the beat of Pilothouse does not run."
    " What serves there goes on serving; nothing moves until they run again."
)


def deploy_control(role: Role) -> Control:
    """Return whether somebody with this role is offered a deploy, or why not."""
    allowed = may(role, Deed.DEPLOY)
    return Control(allowed, "" if allowed else why_not(role, Deed.DEPLOY))


# ---- Projects ------------------------------------------------------------------------------


def projects(person: User) -> tuple[ProjectRow, ...]:
    """Return the list of projects on the home page."""
    mine = projects_of(person).select_related("organization").order_by("slug")
    counted = mine.annotate(
        service_count=Count("services", distinct=True),
        environment_count=Count("environments", distinct=True),
    )
    return tuple(
        ProjectRow(
            project.slug,
            project.organization.slug,
            project.service_count,
            project.environment_count,
        )
        for project in counted
    )


def project_page(project: Project, *, role: Role, now: datetime) -> ProjectPage:
    """Return every environment of a project with a card for each service that it has."""
    shown = _shown_by_slot(project)
    control = deploy_control(role)
    sections: dict[tuple[str, str], list[Card]] = {}
    for environment, cluster, service, slot in _slots_by_environment(project):
        cards = sections.setdefault((environment, cluster or ""), [])
        if slot is not None:
            place = Place(project.slug, environment, service)
            cards.append(_card(place, shown.get(slot), control=control, now=now))
    return ProjectPage(
        project.slug,
        project.organization.slug,
        tuple(
            EnvironmentSection(environment, cluster, tuple(cards))
            for (environment, cluster), cards in sections.items()
        ),
        control,
    )


def _slots_by_environment(project: Project) -> QuerySet[Environment, tuple[Any, ...]]:
    """Return (environment, cluster, service, slot id) in the order of the page.

    An environment without a service comes once, with None for the last two.
    """
    return project.environments.order_by("position", "slug", "slots__service__slug").values_list(
        "slug", "cluster__slug", "slots__service__slug", "slots__pk"
    )


def _shown_by_slot(project: Project) -> dict[int, Deployment]:
    slots = Slot.objects.filter(environment__project=project)
    return {deployment.slot_id: deployment for deployment in shown_on_cards(slots)}


def shown_on_cards(slots: QuerySet[Slot]) -> QuerySet[Deployment]:
    """Return the deployment that each slot's card shows, with all that the card says of it.

    That is the newest open one, else the newest: one that still takes over traffic matters more
    than a newer one that was cancelled while it waited.
    """
    newest = Deployment.objects.filter(slot=OuterRef("pk")).order_by("-pk")
    newest_open = newest.filter(ended_at__isnull=True)
    ids = slots.annotate(
        shown=Coalesce(Subquery(newest_open.values("pk")[:1]), Subquery(newest.values("pk")[:1]))
    ).values("shown")
    return Deployment.objects.filter(pk__in=ids).select_related(*WITH_A_DEPLOYMENT)


def _card(place: Place, shown: Deployment | None, *, control: Control, now: datetime) -> Card:
    attempt = None if shown is None else attempt_of(shown)
    return Card(place, attempt, serving_of(shown, now=now), control)


def card(slot: Slot, *, role: Role, now: datetime) -> Card:
    """Return one card."""
    shown = shown_on_cards(Slot.objects.filter(pk=slot.pk)).first()
    return _card(place_of(slot), shown, control=deploy_control(role), now=now)


def place_of(slot: Slot) -> Place:
    """Return where a slot belongs, as the addresses name it."""
    service = slot.service
    return Place(service.project.slug, slot.environment.slug, service.slug)


# ---- A service, a deployment ------------------------------------------------------------------


def service_page(slot: Slot, *, role: Role, now: datetime) -> ServicePage:
    """Return a service's card with its latest deployments and releases."""
    history = list(slot.deployments.select_related(*WITH_A_DEPLOYMENT)[:LISTED])
    still_open = [deployment for deployment in history if deployment.ended_at is None]
    shown = next(iter(still_open or history), None)
    return ServicePage(
        _card(place_of(slot), shown, control=deploy_control(role), now=now),
        tuple(attempt_of(deployment, rows=()) for deployment in history),
        tuple(_release_row(release, slot) for release in slot.releases.all()[:LISTED]),
    )


def _release_row(release: Release, slot: Slot) -> ReleaseRow:
    return ReleaseRow(
        names.release_tag(release.number),
        image_of(release),
        release.created_at,
        _release_sign(release, slot),
    )


def _release_sign(release: Release, slot: Slot) -> Sign:
    if release.pk == slot.active_release_id:
        return Sign("Active", Tone.GOOD)
    if release.removed_at is not None:
        return Sign("Removed", Tone.IDLE)
    if release.retired_at is not None:
        return Sign("Retired", Tone.IDLE)
    return Sign("Never active", Tone.IDLE)


def deployment_page(shown: Deployment, *, role: Role, now: datetime) -> DeploymentPage:
    """Return one deployment with its stages, its events and what it ended."""
    events = list(shown.events.all())
    return DeploymentPage(
        place=place_of(shown.slot),
        attempt=attempt_of(shown, rows=stage_rows(shown, events)),
        serving=serving_of(shown, now=now),
        events=tuple(event_row(event) for event in events),
        ended=tuple(
            names.release_tag(number)
            for number in shown.superseded.order_by("pk").values_list("release__number", flat=True)
        ),
        deploy=deploy_control(role),
        outputs=_outputs(shown),
    )


def _outputs(shown: Deployment) -> tuple[OutputRow, ...]:
    # Nothing is kept of one that did well, so nothing is asked for.
    if shown.ended_at is None or shown.state == State.HEALTHY:
        return ()
    return tuple(output_row(output) for output in shown.outputs.all())


# ---- Clusters ---------------------------------------------------------------------------------


def clusters_page(person: User, *, now: datetime) -> ClustersPage:
    """Return the clusters that the person's environments run on; an administrator sees all."""
    theirs = (
        Environment.objects.filter(project__in=projects_of(person))
        .select_related("project")
        .order_by("project__slug", "position")
    )
    clusters = clusters_of(person).order_by("slug")
    clusters = clusters.prefetch_related(Prefetch("environments", queryset=theirs))
    return ClustersPage(tuple(_cluster_row(cluster, now) for cluster in clusters))


def _cluster_row(cluster: Cluster, now: datetime) -> ClusterRow:
    return ClusterRow(
        name=cluster.slug,
        version=cluster.version,
        answered_at=cluster.heartbeat_at,
        sign=_agent_sign(cluster, now),
        detail=_why_silent(cluster, now),
        environments=_by_project(cluster.environments.all()),
    )


def _agent_sign(cluster: Cluster, now: datetime) -> Sign:
    if cluster.unreachable_since is not None:
        tone = Tone.BAD if _is_silent(cluster, now) else Tone.WAITING
        return Sign("Does not answer", tone)
    if cluster.heartbeat_at is None:
        return Sign("Has not answered yet", Tone.IDLE)
    return Sign("Offline", Tone.BAD) if _is_silent(cluster, now) else Sign("Answers", Tone.GOOD)


def _why_silent(cluster: Cluster, now: datetime) -> str:
    """Return why the cluster is not watched just now, empty while it is."""
    if cluster.unreachable_since is not None:
        return cluster.unreachable_reason
    return NOBODY_LOOKS if cluster.heartbeat_at and _is_silent(cluster, now) else ""


def _is_silent(cluster: Cluster, now: datetime) -> bool:
    return cluster.heartbeat_at is None or now - cluster.heartbeat_at > AGENT_OFFLINE_AFTER


def _by_project(environments: Iterable[Environment]) -> tuple[str, ...]:
    """Return `shop: production, staging` for each project."""
    slugs: dict[str, list[str]] = defaultdict(list)
    for environment in environments:
        slugs[environment.project.slug].append(environment.slug)
    return tuple(f"{project}: {', '.join(them)}" for project, them in slugs.items())
