"""Make a release: an image and the slot's settings and variables of this moment, frozen."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from deployments import encryption
from deployments.domain import settings
from deployments.domain.images import ImageReference
from deployments.domain.releases import Config
from deployments.models import Release, ReleaseSecret, Slot, Variable


def freeze_release(slot: Slot, image: ImageReference, *, now: datetime) -> Release:
    """Create the slot's next release. The caller holds the slot's lock.

    A digest that was given is known at once; a tag is resolved later, by the agent.
    """
    variables = list(slot.variables.select_related("secret_value"))
    slot.releases_made += 1
    slot.save(update_fields=["releases_made"])
    release = Release.objects.create(
        slot=slot,
        number=slot.releases_made,
        image=str(image),
        digest=image.digest,
        config=_config(slot, variables).to_json(),
        created_at=now,
    )
    ReleaseSecret.objects.bulk_create(_secrets(release, variables))
    return release


def _config(slot: Slot, variables: Iterable[Variable]) -> Config:
    return settings.to_config(
        settings.parse(slot.settings),
        {variable.key: variable.value for variable in variables if not variable.secret},
        {
            variable.key: encryption.keyed_hash(
                encryption.decrypt(variable.secret_value.ciphertext)
            )
            for variable in variables
            if variable.secret
        },
    )


def _secrets(release: Release, variables: Iterable[Variable]) -> list[ReleaseSecret]:
    return [
        ReleaseSecret(
            release=release, key=variable.key, ciphertext=variable.secret_value.ciphertext
        )
        for variable in variables
        if variable.secret
    ]
