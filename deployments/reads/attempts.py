"""A deployment's row, worded as the values that cards, lists and pages show. Asks the database
nothing: whoever hands in a row has fetched what belongs to it (`access.WITH_A_DEPLOYMENT`)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace

from deployments.domain import names, states
from deployments.domain.blockers import Blocker
from deployments.domain.releases import Config
from deployments.domain.states import FINAL, STAGE_NAMES, State
from deployments.models import Deployment, DeploymentEvent, DeploymentOutput, Release
from deployments.models.deployments import EventKind
from deployments.reads import stages
from deployments.reads.cards import Attempt, Image, Sign, StageRow, Tone, state_tone
from deployments.reads.page_values import EventRow, OutputRow


def attempt_of(deployment: Deployment, rows: tuple[StageRow, ...] | None = None) -> Attempt:
    """Return one deployment as it is shown, with these stages or those of its present state."""
    state = State(deployment.state)
    return Attempt(
        id=deployment.pk,
        release=names.release_tag(deployment.release.number),
        replaces=_replaces(deployment),
        state=state,
        sign=sign_of(state, deployment.blocker),
        since=deployment.state_since,
        created_at=deployment.created_at,
        by=deployment.created_by.get_username(),
        reason=deployment.reason,
        image=image_of(deployment.release),
        message=deployment.message,
        stages=_present_stages(deployment) if rows is None else rows,
    )


def sign_of(state: State, blocker: str) -> Sign:
    """Return a state's console label and colour."""
    return Sign(states.label(state, blocker), state_tone(state, blocker))


def image_of(release: Release) -> Image:
    """Return a release's image as it is shown."""
    return Image(release.image, release.digest)


def route_of(deployment: Deployment) -> states.Route:
    """Return a deployment's own route."""
    return tuple(State(state) for state in deployment.route)


def _present_stages(deployment: Deployment) -> tuple[StageRow, ...]:
    return stages.rows_of(
        route_of(deployment),
        state=State(deployment.state),
        since=deployment.state_since,
        blocker=deployment.blocker,
    )


def _replaces(deployment: Deployment) -> str:
    """Return the release that this one takes over from, empty where there is none.

    Until the point of no return that is the active one, if it was active already when this
    deployment was made.
    """
    previous = deployment.previous_release or _yet_to_go(deployment) or _active_before(deployment)
    return "" if previous is None else names.release_tag(previous.number)


def _yet_to_go(deployment: Deployment) -> Release | None:
    """Return what serves while this deployment is on its way: one that takes over traffic just
    now is not active yet, but is what a newer one that waits for it will take over from."""
    serving = deployment.slot.serving_release
    its_own = serving is None or serving.pk == deployment.release_id
    return None if its_own or deployment.ended_at is not None else serving


def _active_before(deployment: Deployment) -> Release | None:
    active = deployment.slot.active_release
    if active is None or active.pk == deployment.release_id or active.healthy_at is None:
        return None
    return active if active.healthy_at <= deployment.created_at else None


def stage_rows(deployment: Deployment, events: Iterable[DeploymentEvent]) -> tuple[StageRow, ...]:
    """Return every stage of a deployment with its time, from its events, oldest first."""
    moves = [(State(event.to_state), event.at) for event in events if event.kind == EventKind.MOVE]
    rows = stages.rows_from_moves(route_of(deployment), moves, blocker=deployment.blocker)
    command = _release_command(deployment.release)
    return tuple(
        replace(row, command=command) if row.name == STAGE_NAMES[State.RELEASING] else row
        for row in rows
    )


def _release_command(release: Release) -> str:
    """Return the release command as a shell writes it, empty where there is none."""
    config = Config.from_json(release.config) if release.config else None
    if config is None or config.release_command is None:
        return ""
    return shlex.join(config.release_command.command)


def event_row(event: DeploymentEvent) -> EventRow:
    """Return one event in words."""
    return EventRow(event.at, _event_sign(event), _actor(event), event.message)


def output_row(output: DeploymentOutput) -> OutputRow:
    """Return the kept output of one container."""
    return OutputRow(
        id=output.pk,
        pod=output.pod,
        container=output.container,
        previous=output.previous,
        text=output.text,
        at=output.at,
    )


def _event_sign(event: DeploymentEvent) -> Sign:
    if event.kind == EventKind.MOVE:
        return _move_sign(State(event.to_state), event.blocker)
    if event.kind == EventKind.NOTE:
        return Sign("Note", Tone.IDLE)
    if not event.blocker:
        return Sign("Goes on", Tone.IDLE)
    word = "Waiting" if event.blocker == Blocker.WAITING else f"Late: {event.blocker}"
    return Sign(word, Tone.WAITING)


def _move_sign(state: State, blocker: str) -> Sign:
    """Return a move's label. A stage that was entered is history: only an end has its colour."""
    sign = sign_of(state, blocker if state in FINAL else "")
    return sign if state in FINAL else Sign(sign.word, Tone.IDLE)


def _actor(event: DeploymentEvent) -> str:
    if event.actor_kind == "person":
        return event.actor_name
    return " ".join(dict.fromkeys((event.actor_kind, event.actor_name))).strip()
