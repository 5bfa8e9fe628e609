"""The queries of the console's pages. Each page asks a fixed number of questions, whatever the
number of services; what is shown of a row is worded in `attempts` and `serving`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from deployments.domain import names
from deployments.domain.deadlines import AGENT_OFFLINE_AFTER
from deployments.domain.roles import Deed, Role, may, why_not
from deployments.models import Cluster, Deployment, Environment, Project, Release, Slot, User
from deployments.reads.attempts import (
    SHOWN_WITH,
    attempt_of,
    event_row,
    image_of,
    stage_rows,
)
from deployments.reads.cards import (
    Card,
    ClusterRow,
    ClustersPage,
    Control,
    DeploymentPage,
    EnvironmentSection,
    Place,
    ProjectPage,
    ProjectRow,
    ReleaseRow,
    ServicePage,
    Sign,
    Tone,
)
from deployments.reads.serving import serving_of

LISTED = 20


def deploy_control(role: Role) -> Control:
    """Return whether somebody with this role is offered a deploy, or why not."""
    allowed = may(role, Deed.DEPLOY)
    return Control(allowed, "" if allowed else why_not(role, Deed.DEPLOY))


# ---- Projects ------------------------------------------------------------------------------


def visible_projects(person: User) -> QuerySet[Project]:
    """Return the projects of the person's organizations; an administrator sees all."""
    projects = Project.objects.select_related("organization").order_by("slug")
    if person.is_superuser:
        return projects
    return projects.filter(organization__members=person)


def projects(person: User) -> tuple[ProjectRow, ...]:
    """Return the list of projects on the home page."""
    counted = visible_projects(person).annotate(
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
    """Return every environment of a project with a card for each of its services."""
    services = list(project.services.values_list("slug", flat=True))
    shown = _shown_by_place(project)
    control = deploy_control(role)
    return ProjectPage(
        project.slug,
        project.organization.slug,
        tuple(
            EnvironmentSection(
                environment.slug,
                environment.cluster.slug if environment.cluster else "",
                tuple(
                    _card(
                        Place(project.slug, environment.slug, service),
                        shown.get((environment.slug, service)),
                        control=control,
                        now=now,
                    )
                    for service in services
                ),
            )
            for environment in project.environments.select_related("cluster")
        ),
    )


def _shown_by_place(project: Project) -> dict[tuple[str, str], Deployment]:
    slots = Slot.objects.filter(environment__project=project)
    return {
        (deployment.slot.environment.slug, deployment.slot.service.slug): deployment
        for deployment in _shown(slots)
    }


def _shown(slots: QuerySet[Slot]) -> QuerySet[Deployment]:
    """Return the deployment that each slot's card shows, with all that the card says of it.

    That is the newest open one, else the newest: one that still takes over traffic matters more
    than a newer one that was cancelled while it waited.
    """
    newest = Deployment.objects.filter(slot=OuterRef("pk")).order_by("-pk")
    newest_open = newest.filter(ended_at__isnull=True)
    ids = slots.annotate(
        shown=Coalesce(Subquery(newest_open.values("pk")[:1]), Subquery(newest.values("pk")[:1]))
    ).values("shown")
    return Deployment.objects.filter(pk__in=ids).select_related(
        *SHOWN_WITH,
        "slot__service",
        "slot__environment__cluster",
        "slot__serving_release",
        "slot__observation",
    )


def _card(place: Place, shown: Deployment | None, *, control: Control, now: datetime) -> Card:
    attempt = None if shown is None else attempt_of(shown)
    return Card(place, attempt, serving_of(shown, now=now), control)


def card(slot: Slot | None, place: Place, *, role: Role, now: datetime) -> Card:
    """Return one card; `slot` is None where the service was never configured there."""
    shown = None if slot is None else _shown(Slot.objects.filter(pk=slot.pk)).first()
    return _card(place, shown, control=deploy_control(role), now=now)


# ---- A service, a deployment ------------------------------------------------------------------


def service_page(slot: Slot | None, place: Place, *, role: Role, now: datetime) -> ServicePage:
    """Return a service's card with its latest deployments and releases."""
    shown = card(slot, place, role=role, now=now)
    if slot is None:
        return ServicePage(shown, (), ())
    history = slot.deployments.select_related(*SHOWN_WITH)[:LISTED]
    return ServicePage(
        shown,
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


def deployment_page(deployment: Deployment, *, role: Role, now: datetime) -> DeploymentPage:
    """Return one deployment with its stages, events and what it ended."""
    shown = _with_everything(deployment.pk)
    slot = shown.slot
    events = list(shown.events.all())
    return DeploymentPage(
        place=Place(slot.environment.project.slug, slot.environment.slug, slot.service.slug),
        attempt=attempt_of(shown, rows=stage_rows(shown, events)),
        serving=serving_of(shown, now=now),
        events=tuple(event_row(event) for event in events),
        ended=tuple(
            names.release_tag(number)
            for number in shown.superseded.order_by("pk").values_list("release__number", flat=True)
        ),
        deploy=deploy_control(role),
    )


def _with_everything(deployment_id: int) -> Deployment:
    return Deployment.objects.select_related(
        *SHOWN_WITH,
        "slot__service",
        "slot__environment__project",
        "slot__environment__cluster",
        "slot__serving_release",
        "slot__observation",
    ).get(pk=deployment_id)


# ---- Clusters ---------------------------------------------------------------------------------


def clusters_page(person: User, *, now: datetime) -> ClustersPage:
    """Return the clusters that the person's environments run on; an administrator sees all."""
    theirs = (
        Environment.objects.filter(project__in=visible_projects(person).order_by())
        .select_related("project")
        .order_by("project__slug", "position")
    )
    clusters = Cluster.objects.order_by("slug").prefetch_related(
        Prefetch("environments", queryset=theirs)
    )
    if not person.is_superuser:
        clusters = clusters.filter(pk__in=theirs.order_by().values("cluster"))
    return ClustersPage(tuple(_cluster_row(cluster, now) for cluster in clusters))


def _cluster_row(cluster: Cluster, now: datetime) -> ClusterRow:
    return ClusterRow(
        name=cluster.slug,
        version=cluster.version,
        answered_at=cluster.heartbeat_at,
        sign=_agent_sign(cluster.heartbeat_at, now),
        detail=cluster.unreachable_reason if cluster.unreachable_since else "",
        environments=_by_project(cluster.environments.all()),
    )


def _agent_sign(heartbeat: datetime | None, now: datetime) -> Sign:
    if heartbeat is None:
        return Sign("Has not answered yet", Tone.IDLE)
    if now - heartbeat > AGENT_OFFLINE_AFTER:
        return Sign("Offline", Tone.BAD)
    return Sign("Answers", Tone.GOOD)


def _by_project(environments: Iterable[Environment]) -> tuple[str, ...]:
    """Return `shop: production, staging` for each project."""
    slugs: dict[str, list[str]] = defaultdict(list)
    for environment in environments:
        slugs[environment.project.slug].append(environment.slug)
    return tuple(f"{project}: {', '.join(them)}" for project, them in slugs.items())
