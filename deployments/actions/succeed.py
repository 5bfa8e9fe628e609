"""A release becomes the active one, and the one before it retires."""

from __future__ import annotations

from datetime import datetime

from deployments.domain.releases import RETIRED_RELEASES_KEPT
from deployments.domain.states import OPEN, State
from deployments.models import Deployment, Release, Slot


def previous_release(slot: Slot) -> Release | None:
    """Return the release that serves by right: what a deployment past the point goes back to.

    The active one, unless a way back was given up since: then traffic stayed on that release, and
    goes back to it again from what came after it.
    """
    last = (
        Deployment.objects.filter(slot=slot, past_point_of_no_return=True).order_by("-pk").first()
    )
    if last is None or last.state == State.HEALTHY:
        return slot.active_release
    return last.release if last.way_back_given_up_at else last.previous_release


def make_active(release: Release, slot: Slot, *, now: datetime) -> None:
    """Write that a release became healthy; the caller saves the slot.

    The 3 most recently retired ones stay; an older one is given up unless an open deployment
    still names it.
    """
    if slot.active_release_id not in {None, release.pk}:
        Release.objects.filter(pk=slot.active_release_id).update(retired_at=now)
    Release.objects.filter(pk=release.pk).update(
        healthy_at=release.healthy_at or now, retired_at=None
    )
    slot.active_release = release
    _give_up_the_oldest(slot, now=now)


def _give_up_the_oldest(slot: Slot, *, now: datetime) -> None:
    retired = Release.objects.filter(slot=slot, retired_at__isnull=False, removed_at__isnull=True)
    kept = list(
        retired.order_by("-retired_at", "-number").values_list("pk", flat=True)[
            :RETIRED_RELEASES_KEPT
        ]
    )
    still_open = Deployment.objects.filter(slot=slot, state__in=OPEN)
    kept += still_open.values_list("release_id", flat=True)
    retired.exclude(pk__in=kept).update(removed_at=now)
