"""A service's lifecycle: one word for what was last seen of it, derived afresh on every view.

Never stored (specification §9; seed: Service lifecycle states). Whether the last deployment
worked is another fact and is not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NO_OPERATOR = "no operator has reported on this service"


class Lifecycle(StrEnum):
    """The words of the manual."""

    UPDATE_IN_PROGRESS = "UpdateInProgress"
    READY = "Ready"
    PARTIALLY_READY = "PartiallyReady"
    UNAVAILABLE = "Unavailable"
    FAILED = "Failed"
    PAUSED = "Paused"
    SUSPENDED = "Suspended"
    NOT_DEPLOYED = "NotDeployed"


@dataclass(frozen=True)
class Desired:
    """What is wanted of a service in one environment.

    `active`: a release is active or serves. `moving`: a deployment of this generation moves or is
    held. `last_failed`: the last deployment ended failed. `attempt_detail`: what that deployment,
    moving or failed, says about itself. `refused`: why the platform does not run it, else empty.
    """

    generation: int
    active: bool = False
    moving: bool = False
    last_failed: bool = False
    attempt_detail: str = ""
    paused: bool = False
    suspended: bool = False
    deleted: bool = False
    refused: str = ""


@dataclass(frozen=True)
class Observed:
    """What the agent last saw, and the generation that it looked for.

    `ready` and `desired` count the serving release's primary process. `gave_up`: its rollout
    passed its deadline, or something that it needs could not be provided.
    """

    generation: int
    ready: int = 0
    desired: int = 0
    rolling: bool = False
    gave_up: bool = False
    detail: str = ""


@dataclass(frozen=True)
class Status:
    """The word, whether an observation of this generation confirms it, and the cause."""

    lifecycle: Lifecycle
    confirmed: bool
    detail: str = ""


def derive(wanted: Desired, observed: Observed | None, *, unreachable: str = "") -> Status:
    """Return the first row of the table that matches (specification §9).

    `unreachable` is why the cluster does not answer, empty while it does: then the last word
    stands, unconfirmed. An observation of an older generation counts as none.
    """
    seen = observed if observed and observed.generation == wanted.generation else None
    if _refused(wanted):
        return Status(Lifecycle.UNAVAILABLE, confirmed=True, detail=wanted.refused)
    word, detail = _word(wanted, seen)
    if unreachable:
        reason = f"could not reach the cluster: {unreachable}"
        return Status(word, confirmed=False, detail=reason)
    return Status(word, confirmed=seen is not None or _never_wanted(wanted), detail=detail)


def _never_wanted(wanted: Desired) -> bool:
    """Whether nothing has ever gone ahead: there is nothing that the agent could report on."""
    return wanted.generation == 0


def _refused(wanted: Desired) -> bool:
    """Whether row 4 is the first that matches: nothing was started, so no cluster need confirm."""
    return bool(wanted.refused) and _without_cluster(wanted) is None


def _without_cluster(wanted: Desired) -> Lifecycle | None:
    """Return the word of rows 1 to 3, which what is wanted decides alone."""
    nothing = not (wanted.active or wanted.moving or wanted.last_failed or wanted.refused)
    if wanted.deleted or nothing:
        return Lifecycle.NOT_DEPLOYED
    if wanted.paused:
        return Lifecycle.PAUSED
    if wanted.suspended:
        return Lifecycle.SUSPENDED
    return None


def _word(wanted: Desired, seen: Observed | None) -> tuple[Lifecycle, str]:
    decided = _without_cluster(wanted)
    if decided is not None:
        return decided, ""
    if seen is None:
        return Lifecycle.UPDATE_IN_PROGRESS, NO_OPERATOR
    if seen.gave_up or _nothing_came_of_it(wanted):
        return Lifecycle.FAILED, seen.detail or wanted.attempt_detail
    if wanted.moving or seen.rolling:
        return Lifecycle.UPDATE_IN_PROGRESS, seen.detail or wanted.attempt_detail
    return _by_count(seen), seen.detail


def _nothing_came_of_it(wanted: Desired) -> bool:
    return wanted.last_failed and not wanted.active and not wanted.moving


def _by_count(seen: Observed) -> Lifecycle:
    if seen.ready >= seen.desired:
        return Lifecycle.READY
    return Lifecycle.PARTIALLY_READY if seen.ready else Lifecycle.UNAVAILABLE
