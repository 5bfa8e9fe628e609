"""Deployments, their append-only events, and the Jobs that were made for them."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from deployments.domain.blockers import Blocker
from deployments.domain.messages import Message
from deployments.domain.states import FINAL, MOVING, Cause, Kind, State
from deployments.models.inventory import Slot
from deployments.models.releases import Release
from deployments.models.tenancy import User

_FINAL = sorted(state.value for state in FINAL)
_MOVING = sorted(state.value for state in MOVING)
_REPORTED = sorted({b.value for b in Blocker} - {Blocker.SOURCE.value, Blocker.POLICY.value})


class Deployment(models.Model):
    """One attempt to make a release active in an environment.

    `state` is written by `actions/move.py` alone. `route` is the deployment's own, from pending
    to healthy. The message stands in three parts; so does the verdict, which is written once.
    """

    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="deployments")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="deployments")
    kind = models.CharField(max_length=10, default=Kind.DEPLOY.value)
    state = models.CharField(max_length=20)
    state_since = models.DateTimeField()
    route = ArrayField(models.CharField(max_length=20))
    blocker = models.CharField(max_length=30, blank=True)
    what = models.TextField(blank=True)
    leaves = models.TextField(blank=True)
    do = models.TextField(blank=True)
    cause = models.CharField(max_length=15, blank=True)
    version = models.PositiveIntegerField(default=1)

    reason = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    superseded_by = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="superseded"
    )

    past_point_of_no_return = models.BooleanField(default=False)
    previous_release = models.ForeignKey(
        Release, on_delete=models.PROTECT, null=True, related_name="+"
    )
    verdict_blocker = models.CharField(max_length=30, blank=True)
    verdict_what = models.TextField(blank=True)
    verdict_leaves = models.TextField(blank=True)
    verdict_do = models.TextField(blank=True)
    way_back_given_up_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["slot", "-id"], name="newest_of_a_slot"),
            models.Index(fields=["slot"], condition=~Q(state__in=_FINAL), name="open_deployments"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=sorted(state.value for state in State)),
                name="state_is_one_of_thirteen",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=sorted(kind.value for kind in Kind)),
                name="kind_is_known",
            ),
            models.CheckConstraint(
                condition=Q(blocker__in=["", *_REPORTED]), name="blocker_is_known"
            ),
            models.CheckConstraint(
                condition=Q(cause__in=["", *sorted(cause.value for cause in Cause)]),
                name="cause_is_known",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.FAILED.value) | ~Q(blocker=""),
                name="failed_names_a_blocker",
            ),
            models.CheckConstraint(
                condition=Q(state__in=_FINAL, ended_at__isnull=False)
                | (~Q(state__in=_FINAL) & Q(ended_at__isnull=True)),
                name="ended_at_is_set_exactly_when_ended",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.SUPERSEDED.value)
                | Q(past_point_of_no_return=False, superseded_by__isnull=False),
                name="superseded_before_the_point_by_a_newer_one",
            ),
            models.UniqueConstraint(
                fields=["slot"],
                condition=Q(state__in=_MOVING, past_point_of_no_return=False),
                name="one_before_the_point_of_no_return",
            ),
            models.UniqueConstraint(
                fields=["slot"],
                condition=Q(state__in=_MOVING, past_point_of_no_return=True),
                name="one_past_the_point_of_no_return",
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="a_final_state_is_never_left",
                operation=pgtrigger.Update,
                when=pgtrigger.Before,
                condition=pgtrigger.Q(old__state__in=_FINAL)
                & pgtrigger.Q(old__state__df=pgtrigger.F("new__state")),
                func="RAISE EXCEPTION 'a final state is never left';",
            ),
            pgtrigger.Trigger(
                name="a_verdict_is_written_once",
                operation=pgtrigger.Update,
                when=pgtrigger.Before,
                condition=~pgtrigger.Q(old__verdict_blocker="")
                & (
                    pgtrigger.Q(old__verdict_blocker__df=pgtrigger.F("new__verdict_blocker"))
                    | pgtrigger.Q(old__verdict_what__df=pgtrigger.F("new__verdict_what"))
                    | pgtrigger.Q(old__verdict_leaves__df=pgtrigger.F("new__verdict_leaves"))
                    | pgtrigger.Q(old__verdict_do__df=pgtrigger.F("new__verdict_do"))
                ),
                func="RAISE EXCEPTION 'a verdict is written once';",
            ),
            pgtrigger.Protect(name="a_deployment_is_never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"deployment {self.pk}"

    @property
    def previous_number(self) -> int | None:
        """Return the number of the release that traffic may go back to, or None."""
        return self.previous_release.number if self.previous_release is not None else None

    @property
    def message(self) -> Message:
        """Return what it says about itself."""
        return Message(self.what, self.leaves, self.do)

    @message.setter
    def message(self, message: Message) -> None:
        self.what, self.leaves, self.do = message.what, message.leaves, message.do


class EventKind(models.TextChoices):
    """What an event records."""

    MOVE = "move"
    BLOCKER = "blocker"
    NOTE = "note"


class DeploymentEvent(models.Model):
    """One row for each move and each change of the blocker. Never changed, never deleted."""

    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="events")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=EventKind.choices)
    from_state = models.CharField(max_length=20, blank=True)
    to_state = models.CharField(max_length=20, blank=True)
    actor_kind = models.CharField(max_length=10)
    actor_name = models.CharField(max_length=150)
    cause = models.CharField(max_length=15, blank=True)
    blocker = models.CharField(max_length=30, blank=True)
    message = models.TextField(blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "number"], name="events_are_numbered_in_order"
            )
        ]
        triggers = [
            pgtrigger.Protect(
                name="events_are_append_only", operation=pgtrigger.Update | pgtrigger.Delete
            )
        ]

    def __str__(self) -> str:
        return f"event {self.number} of deployment {self.deployment_id}"


class DeploymentJob(models.Model):
    """A Job made for a deployment. Its uid is stored before it runs: one that is gone afterwards
    has lost its result and is not made again."""

    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="jobs")
    name = models.CharField(max_length=63)
    uid = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["deployment", "name"], name="a_job_is_made_once")
        ]

    def __str__(self) -> str:
        return self.name
