"""What stands above a deploy form: what deploying now would end, wait for, and leave serving."""

from __future__ import annotations

from collections.abc import Iterable

from deployments.domain import names
from deployments.domain.states import STAGE_NAMES, State
from deployments.models import Deployment, Slot
from deployments.reads.attempts import image_of
from deployments.reads.cards import DeployOffer, Effect, Place, Serving, Tone


def deploy_offer(slot: Slot | None, place: Place, serving: Serving) -> DeployOffer:
    """Return the lines above the form; `slot` is None where nothing was ever configured."""
    if slot is None:
        return DeployOffer(place, "", None, (_serves(serving),))
    active = slot.active_release
    return DeployOffer(
        place=place,
        repository=slot.settings.get("image_repository") or "",
        running=None if active is None else image_of(active),
        effects=(*_open_effects(slot.deployments.all()), _serves(serving)),
    )


def _open_effects(deployments: Iterable[Deployment]) -> Iterable[Effect]:
    return (_effect(deployment) for deployment in deployments)


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
    ready = "" if serving.desired is None else f", {serving.ready} of {serving.desired} ready"
    return Effect(
        Tone.GOOD, f"{serving.release} serves{ready}", ", until the new release takes over."
    )
