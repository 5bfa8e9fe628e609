"""What stands above a deploy form: what deploying now would end, wait for, and leave serving."""

from __future__ import annotations

from deployments.domain import names
from deployments.domain.states import STAGE_NAMES, State
from deployments.models import Deployment, Slot
from deployments.reads.cards import Effect, Serving, Tone


def effects_of_a_deploy(slot: Slot, serving: Serving) -> tuple[Effect, ...]:
    """Return the lines that stand beside the form of a slot."""
    still_open = slot.deployments.filter(ended_at__isnull=True).select_related("release")
    return (*(_effect(deployment) for deployment in still_open), _serves(serving))


def _effect(deployment: Deployment) -> Effect:
    tag = names.release_tag(deployment.release.number)
    if deployment.past_point_of_no_return:
        return Effect(Tone.WAITING, "Waits", f" for {tag} to finish taking over traffic.")
    return Effect(Tone.MOVING, f"Ends {tag}", f", which is at {_stage(deployment)}.")


def _stage(deployment: Deployment) -> str:
    return STAGE_NAMES.get(State(deployment.state), "its approval")


def _serves(serving: Serving) -> Effect:
    if not serving.release:
        return Effect(Tone.IDLE, "Nothing serves yet", ", so nothing is replaced.")
    ready = "" if not serving.desired else f", {serving.ready} of {serving.desired} ready"
    return Effect(
        Tone.GOOD, f"{serving.release} serves{ready}", ", until the new release takes over."
    )
