"""Record one look at one slot: the last of the agent's four verbs, in one short transaction."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from functools import singledispatch

from django.db import transaction

from deployments.actions import explain, move, observe
from deployments.actions.locks import lock_slot
from deployments.domain.actors import Actor
from deployments.domain.errors import StaleState
from deployments.domain.states import Cause, State
from deployments.domain.step import Change, Explain, GiveUp, GoBack, Move, Step

logger = logging.getLogger(__name__)


@transaction.atomic
def record(slot_id: int, step: Step, *, generation: int, now: datetime, actor: Actor) -> bool:
    """Write what a look decided and saw. Return False, and write nothing, when the slot has gone
    ahead meanwhile: what such a look saw is about something older."""
    lock_slot(slot_id)
    if not observe.observe(
        slot_id, generation=generation, report=step.report, settled=step.settled, now=now
    ):
        return False
    for ticking in step.ticking:
        observe.tick(ticking.deployment, ticking.clocks)
    for change in step.changes:
        _try(change, now, actor)
    if step.corrected is not None:
        noted = step.corrected
        explain.note(noted.deployment, message=noted.message, now=now, actor=actor)
    return True


def _try(change: Change, now: datetime, actor: Actor) -> None:
    try:
        with transaction.atomic():
            _write(change, now, actor)
    except StaleState as stale:
        logger.info("deployment %s moved meanwhile: %s", change.deployment, stale)


@singledispatch
def _write(change: Change, now: datetime, actor: Actor) -> None:
    raise TypeError(f"Nobody records a {type(change).__name__}.")


@_write.register
def _(change: Move, now: datetime, actor: Actor) -> None:
    move.move(
        change.deployment,
        expected=change.expected,
        to=change.to,
        now=now,
        actor=actor,
        blocker=change.blocker,
        message=change.message,
        cause=Cause.BLOCKER if change.to is State.FAILED else None,
    )


@_write.register
def _(change: Explain, now: datetime, actor: Actor) -> None:
    explain.explain(
        change.deployment,
        state=change.state,
        blocker=change.blocker,
        message=change.message,
        now=now,
        actor=actor,
    )


@_write.register
def _(change: GoBack, now: datetime, actor: Actor) -> None:
    explain.go_back(
        change.deployment,
        expected=change.expected,
        blocker=change.blocker,
        message=change.message,
        now=now,
        actor=actor,
    )


@_write.register
def _(change: GiveUp, now: datetime, actor: Actor) -> None:
    explain.give_up_way_back(change.deployment, leaves=change.leaves, now=now, actor=actor)
    if change.move is not None:
        _write(change.move, now, actor)


def remember_jobs(uids: Mapping[tuple[int, str], str]) -> None:
    """Store the uids of Jobs that were created in this look, before anything makes them run."""
    for (deployment_id, name), uid in uids.items():
        observe.remember_job(deployment_id, name=name, uid=uid)
