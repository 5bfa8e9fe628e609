"""What a service is like now, from its slot's row: the lifecycle word, and which release serves.

The word is derived afresh by `domain/lifecycle.py`; here rows become what that function asks for.
"""

from __future__ import annotations

from datetime import datetime

from deployments.domain import names
from deployments.domain.deadlines import AGENT_OFFLINE_AFTER
from deployments.domain.lifecycle import Desired, Observed, Status, derive
from deployments.domain.states import MOVING, State
from deployments.models import Cluster, Deployment, Observation, Slot
from deployments.reads.cards import Serving

NEVER_DEPLOYED = Serving("NotDeployed", confirmed=True)
SILENT = "its agent is offline"


def serving_of(shown: Deployment | None, *, now: datetime) -> Serving:
    """Return how a slot is now; `shown` is the deployment on its card, None where there is none."""
    if shown is None:
        return NEVER_DEPLOYED
    slot = shown.slot
    observation = observation_of(slot)
    release = slot.serving_release
    status = status_of(slot, shown, now=now)
    return Serving(
        lifecycle=status.lifecycle.value,
        confirmed=status.confirmed,
        ready=None if observation is None else observation.ready,
        desired=None if observation is None else observation.desired,
        release="" if release is None else names.release_tag(release.number),
        detail="; ".join(part for part in (status.detail, _by_hand(observation)) if part),
    )


def _by_hand(observation: Observation | None) -> str:
    """Return which processes somebody scaled in the cluster itself, empty where nobody did."""
    if observation is None or not observation.scaled_by_hand:
        return ""
    return f"{', '.join(observation.scaled_by_hand)} scaled by hand"


def observation_of(slot: Slot) -> Observation | None:
    """Return what was last seen of a slot, None before the first look."""
    return getattr(slot, "observation", None)


def status_of(slot: Slot, shown: Deployment | None, *, now: datetime) -> Status:
    """Return the lifecycle word of a slot; `shown` as `serving_of` takes it."""
    unreachable = _unreachable(slot.environment.cluster, now)
    return derive(_desired(slot, shown), _observed(observation_of(slot)), unreachable=unreachable)


def _desired(slot: Slot, shown: Deployment | None) -> Desired:
    state = None if shown is None else State(shown.state)
    return Desired(
        generation=slot.generation,
        active=slot.active_release_id is not None or slot.serving_release_id is not None,
        moving=state in MOVING,
        last_failed=state is State.FAILED,
        # What a moving deployment says of itself stands above the line of its card already.
        attempt_detail=shown.blocker if shown is not None and state is State.FAILED else "",
    )


def _observed(observation: Observation | None) -> Observed | None:
    if observation is None:
        return None
    return Observed(
        generation=observation.generation,
        ready=observation.ready,
        desired=observation.desired,
        rolling=observation.rolling,
        detail=observation.detail,
    )


def _unreachable(cluster: Cluster | None, now: datetime) -> str:
    """Return why nothing can be confirmed, empty while the cluster answers.

    A worker that died writes no reason, so a heartbeat that is too old is one.
    """
    if cluster is None or cluster.heartbeat_at is None:
        return ""
    if cluster.unreachable_since is not None:
        return cluster.unreachable_reason
    return SILENT if now - cluster.heartbeat_at > AGENT_OFFLINE_AFTER else ""
