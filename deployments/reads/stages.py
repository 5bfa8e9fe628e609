"""The stages of one deployment as rows: what each took, beside what it usually takes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from deployments.domain.deadlines import USUAL_TIME
from deployments.domain.states import FINAL, MOVING, STAGE_NAMES, Route, State
from deployments.reads.cards import Progress, StageRow, Tone, state_tone

Moves = Sequence[tuple[State, datetime]]


def stages_of(route: Route) -> Route:
    """Return the stages of a route: what a deployment passes through before it is healthy."""
    return tuple(state for state in route if state in MOVING)


def rows_of(route: Route, *, state: State, since: datetime, blocker: str) -> tuple[StageRow, ...]:
    """Return the stages of a deployment that is under way, without the time of those behind it."""
    if state not in MOVING:
        return ()
    stages = stages_of(route)
    here = stages.index(state)
    tone = state_tone(state, blocker)
    return (
        *(_row(stage, Progress.DONE, Tone.GOOD) for stage in stages[:here]),
        _row(state, Progress.NOW, tone, since=since),
        *(_row(stage, Progress.AHEAD, Tone.IDLE) for stage in stages[here + 1 :]),
    )


def rows_from_moves(route: Route, moves: Moves, *, blocker: str) -> tuple[StageRow, ...]:
    """Return every stage with its time, from a deployment's moves, oldest first.

    A stage that was left for another lasted until that move; the last one of an ended deployment
    lasted until its end and carries the end's colour.
    """
    return tuple(_row_from(stage, moves, blocker) for stage in stages_of(route))


def _row_from(stage: State, moves: Moves, blocker: str) -> StageRow:
    entered = next((index for index, (state, _) in enumerate(moves) if state is stage), None)
    if entered is None:
        return _row(stage, Progress.AHEAD, Tone.IDLE)
    began = moves[entered][1]
    if entered + 1 == len(moves):
        return _row(stage, Progress.NOW, state_tone(stage, blocker), since=began)
    then, left = moves[entered + 1]
    if then in FINAL and then is not State.HEALTHY:
        return _row(stage, Progress.ENDED, state_tone(then, blocker), spent=left - began)
    return _row(stage, Progress.DONE, Tone.GOOD, spent=left - began)


def _row(
    stage: State,
    progress: Progress,
    tone: Tone,
    *,
    since: datetime | None = None,
    spent: timedelta | None = None,
) -> StageRow:
    return StageRow(STAGE_NAMES[stage], progress, tone, USUAL_TIME[stage], since, spent)
