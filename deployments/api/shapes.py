"""Rows, worded as the API's answers. Asks the database nothing about a deployment: whoever hands
in rows has fetched what belongs to them (see `access.WITH_A_DEPLOYMENT`)."""

from __future__ import annotations

from datetime import UTC, datetime

from django.http import HttpRequest
from django.urls import reverse

from deployments.api import schemas
from deployments.domain import images, names
from deployments.domain.blockers import Blocker
from deployments.domain.deadlines import AGENT_OFFLINE_AFTER, USUAL_TIME
from deployments.domain.messages import Message
from deployments.domain.roles import Role
from deployments.domain.services import APP
from deployments.domain.states import Cause, Kind, State, is_held
from deployments.models import (
    Cluster,
    Deployment,
    DeploymentEvent,
    DeploymentOutput,
    Environment,
    Organization,
    Project,
    Release,
    Service,
    Slot,
    Variable,
)
from deployments.reads.attempts import attempt_of
from deployments.reads.statuses import SlotStatus

ROLLBACK_LATER = "Rolling back comes with a later version."


def moment(at: datetime) -> str:
    """Return a time as the API writes it: RFC 3339 in UTC with `Z`."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def organization(row: Organization, role: Role) -> schemas.OrganizationItem:
    """Return an organization with the caller's role."""
    return schemas.OrganizationItem(slug=row.slug, name=row.name, role=role.label, suspended=False)


def project(row: Project) -> schemas.ProjectItem:
    """Return a project."""
    return schemas.ProjectItem(
        slug=row.slug, organization=row.organization.slug, deploy_concurrency=None
    )


def environment(row: Environment) -> schemas.EnvironmentItem:
    """Return an environment. None is protected or frozen yet."""
    return schemas.EnvironmentItem(
        slug=row.slug,
        cluster=row.cluster.slug if row.cluster else None,
        namespace=row.namespace,
        protected=False,
        approvals_needed=1,
        default_registry=row.default_registry or None,
        frozen_until=None,
    )


def service(row: Service) -> schemas.ServiceItem:
    """Return a service with the environments that it is in."""
    slots = sorted(row.slots.all(), key=lambda s: (s.environment.position, s.environment.slug))
    return schemas.ServiceItem(
        service=row.slug, kind=APP, environments=[slot.environment.slug for slot in slots]
    )


def cluster(row: Cluster, *, now: datetime) -> schemas.ClusterItem:
    """Return a cluster and how long ago it answered."""
    age = None if row.heartbeat_at is None else max(now - row.heartbeat_at, now - now)
    return schemas.ClusterItem(
        slug=row.slug,
        version=row.version,
        heartbeat_age_seconds=None if age is None else int(age.total_seconds()),
        reachable=age is not None and age <= AGENT_OFFLINE_AFTER and row.unreachable_since is None,
        missing_permissions=[],
    )


def deployment(
    row: Deployment, *, request: HttpRequest, waits_for: tuple[int, ...] = ()
) -> schemas.DeploymentItem:
    """Return a deployment. `waits_for`: the ids of those that it is held behind."""
    shown = attempt_of(row, rows=())
    slot = row.slot
    return schemas.DeploymentItem(
        id=str(row.pk),
        kind=Kind(row.kind),
        project=slot.service.project.slug,
        environment=slot.environment.slug,
        service=slot.service.slug,
        release=shown.release,
        image=image(row.release),
        state=shown.state,
        label=shown.sign.word,
        blocker=Blocker(row.blocker) if row.blocker else None,
        message=str(shown.message),
        parts=_parts(shown.message),
        cause=Cause(row.cause) if row.cause else None,
        held=is_held(shown.state, row.blocker),
        waits_for=[str(other) for other in waits_for],
        stage_started_at=moment(row.state_since),
        usual_seconds=_usual_seconds(shown.state),
        traffic=slot.serving_release_id == row.release_id,
        returning_to=_returning_to(row),
        superseded_by=_text(row.superseded_by_id),
        reason=row.reason,
        emergency=False,
        created_at=moment(row.created_at),
        created_by=schemas.Person(id=str(row.created_by_id), name=shown.by),
        ended_at=moment(row.ended_at) if row.ended_at else None,
        previous_release=shown.replaces or None,
        approval=None,
        version=row.version,
        url=request.build_absolute_uri(reverse("deployments:deployment", args=[row.pk])),
    )


def image(release: Release) -> str:
    """Return what runs, once its digest is known; until then what was asked for."""
    if not release.digest:
        return release.image
    return images.parse(release.image, default_registry="").at(release.digest)


def event(row: DeploymentEvent) -> schemas.EventItem:
    """Return one event."""
    return schemas.EventItem(
        at=moment(row.at),
        kind=row.kind,
        from_=State(row.from_state) if row.from_state else None,
        to=State(row.to_state) if row.to_state else None,
        actor=schemas.ActorItem(kind=row.actor_kind, name=row.actor_name),
        cause=Cause(row.cause) if row.cause else None,
        blocker=Blocker(row.blocker) if row.blocker else None,
        message=row.message,
    )


def output(row: DeploymentOutput) -> schemas.OutputItem:
    """Return the kept output of one container."""
    return schemas.OutputItem(
        pod=row.pod,
        container=row.container,
        previous=row.previous,
        text=row.text,
        at=moment(row.at),
    )


def release(row: Release, slot: Slot, *, deploying: bool) -> schemas.ReleaseItem:
    """Return a release. `deploying`: an open deployment is of it."""
    state = _release_state(row, slot, deploying=deploying)
    tag = names.release_tag(row.number)
    why_not = f"{tag} is active." if state == "active" else ROLLBACK_LATER
    return schemas.ReleaseItem(
        release=tag,
        image=row.image,
        digest=row.digest or None,
        created_at=moment(row.created_at),
        state=state,
        rollback=schemas.RollbackOffer(offered=False, why_not=why_not),
    )


def status(found: SlotStatus) -> schemas.StatusItem:
    """Return how a service in an environment is now."""
    slot, seen, active = found.slot, found.observation, found.slot.active_release
    return schemas.StatusItem(
        project=slot.service.project.slug,
        environment=slot.environment.slug,
        service=slot.service.slug,
        lifecycle=found.status.lifecycle,
        confirmed=found.status.confirmed,
        generation=slot.generation,
        ready=seen.ready if seen else 0,
        desired=seen.desired if seen else 0,
        detail=found.status.detail,
        active_release=_tag(active),
        serving_release=_tag(slot.serving_release),
        scaled_by_hand=list(seen.scaled_by_hand) if seen else [],
        image=image(active) if active else None,
        paused=False,
        suspended=False,
        observed_at=moment(seen.observed_at) if seen else None,
        deployment=_word(found.shown),
        settings_differ=found.settings_differ,
    )


def variable(row: Variable) -> schemas.VariableItem:
    """Return a variable; a secret one without its value."""
    return schemas.VariableItem(value=None if row.secret else row.value, secret=row.secret)


def _word(row: Deployment | None) -> schemas.DeploymentWord | None:
    if row is None:
        return None
    shown = attempt_of(row, rows=())
    return schemas.DeploymentWord(id=str(row.pk), state=shown.state, label=shown.sign.word)


def _parts(message: Message) -> schemas.MessageParts:
    return schemas.MessageParts(what=message.what, leaves=message.leaves, do=message.do)


def _usual_seconds(state: State) -> int | None:
    usual = USUAL_TIME.get(state)
    return None if usual is None else int(usual.total_seconds())


def _returning_to(row: Deployment) -> str | None:
    """Return where traffic goes back to, from the verdict on; None once that was given up."""
    if not row.verdict_blocker or row.way_back_given_up_at is not None:
        return None
    return _tag(row.previous_release)


def _release_state(row: Release, slot: Slot, *, deploying: bool) -> str:
    if row.pk == slot.active_release_id:
        return "active"
    if row.removed_at is not None:
        return "removed"
    if row.retired_at is not None:
        return "retired"
    return "deploying" if deploying else "never-active"


def _tag(row: Release | None) -> str | None:
    return None if row is None else names.release_tag(row.number)


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)
