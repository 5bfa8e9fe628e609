"""The net under the rules: what the database refuses, whoever writes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import ProtectedError

from deployments.domain.states import FINAL, MOVING, State
from deployments.models import (
    Deployment,
    DeploymentEvent,
    Installation,
    Release,
    SecretValue,
    Slot,
    Variable,
)
from deployments.models.deployments import EventKind
from tests.factories import (
    DIGEST,
    NOON,
    make_deployment,
    make_environment,
    make_installation,
    make_release,
    make_slot,
)

pytestmark = pytest.mark.django_db

BEFORE = sorted(MOVING - {State.ACTIVATING, State.DRAINING})


def refused(by: str, write: Callable[[], object]) -> None:
    """Run a raw write and check that the database refuses it in these words."""
    with pytest.raises(DatabaseError, match=by), transaction.atomic():
        write()


def set_raw(deployment: Deployment, **values: object) -> Callable[[], object]:
    return lambda: Deployment.objects.filter(pk=deployment.pk).update(**values)


def run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def make_event(deployment: Deployment) -> DeploymentEvent:
    return DeploymentEvent.objects.create(
        deployment=deployment,
        number=1,
        at=NOON,
        kind=EventKind.MOVE.value,
        to_state="pending",
        actor_kind="person",
        actor_name="ana",
    )


# --- states ---


def test_a_fourteenth_state() -> None:
    refused("state_is_one_of_thirteen", set_raw(make_deployment(), state="rolling"))


@pytest.mark.parametrize("first", BEFORE)
def test_two_of_a_slot_before_the_point_of_no_return(first: State) -> None:
    slot = make_slot()
    make_deployment(slot, state=first)

    refused("one_before_the_point", lambda: make_deployment(slot, state=State.PENDING))


def test_two_of_a_slot_past_the_point_of_no_return() -> None:
    slot = make_slot()
    make_deployment(slot, state=State.DRAINING)

    refused("one_past_the_point", lambda: make_deployment(slot, state=State.ACTIVATING))


def test_one_before_and_one_past_the_point_stand_side_by_side_and_so_do_two_slots() -> None:
    slot = make_slot()
    make_deployment(slot, state=State.DRAINING)
    make_deployment(slot, state=State.PENDING)
    make_deployment(slot, state=State.AWAITING_APPROVAL)
    make_deployment(slot, state=State.AWAITING_APPROVAL)
    make_deployment(state=State.PENDING)

    assert Deployment.objects.count() == 5


@pytest.mark.parametrize("final", sorted(FINAL - {State.SUPERSEDED}))
def test_leaving_a_final_state(final: State) -> None:
    ended = make_deployment(state=final)

    refused("never left", set_raw(ended, state="pending", ended_at=None))
    others = {State.HEALTHY, State.CANCELLED} - {final}
    for other in others:
        refused("never left", set_raw(ended, state=other.value))


def test_what_ended_may_still_be_explained() -> None:
    ended = make_deployment(state=State.FAILED)

    set_raw(ended, leaves="Traffic stays on r-5.", way_back_given_up_at=NOON)()

    ended.refresh_from_db()
    assert ended.way_back_given_up_at == NOON


def test_a_failed_one_without_a_blocker() -> None:
    moving = make_deployment()

    refused("failed_names_a_blocker", set_raw(moving, state="failed", ended_at=NOON))
    failed = make_deployment(state=State.FAILED)
    refused("failed_names_a_blocker", set_raw(failed, blocker=""))


def test_an_end_without_its_time_and_a_time_without_an_end() -> None:
    refused("ended_at_is_set", set_raw(make_deployment(), state="cancelled"))
    refused("ended_at_is_set", set_raw(make_deployment(), ended_at=NOON))


def test_superseded_past_the_point_or_by_nobody() -> None:
    newer = make_deployment()
    older = make_deployment(state=State.DRAINING)

    superseded = {"state": "superseded", "ended_at": NOON}
    refused("superseded_before", set_raw(older, **superseded, superseded_by=newer))
    refused("superseded_before", set_raw(make_deployment(), **superseded))


@pytest.mark.parametrize(
    ("field", "value", "constraint"),
    [
        ("blocker", "bad-luck", "blocker_is_known"),
        ("blocker", "source", "blocker_is_known"),
        ("cause", "weather", "cause_is_known"),
        ("kind", "revert", "kind_is_known"),
    ],
)
def test_words_that_nobody_knows(field: str, value: str, constraint: str) -> None:
    refused(constraint, set_raw(make_deployment(), **{field: value}))


def test_a_deployment_is_never_deleted() -> None:
    make_deployment()

    refused("[Cc]annot delete", lambda: run("DELETE FROM deployments_deployment"))


# --- events ---


def test_an_event_is_never_changed_or_deleted() -> None:
    event = make_event(make_deployment())
    found = DeploymentEvent.objects.filter(pk=event.pk)

    refused("[Cc]annot update or delete", lambda: found.update(message="other"))
    refused("[Cc]annot update or delete", lambda: run("DELETE FROM deployments_deploymentevent"))


def test_events_are_numbered_once() -> None:
    deployment = make_deployment()
    make_event(deployment)

    refused("events_are_numbered", lambda: make_event(deployment))


# --- what is written once ---


def test_a_digest_is_written_once() -> None:
    release = make_release(make_slot(), digest="")
    found = Release.objects.filter(pk=release.pk)

    assert found.update(digest=DIGEST) == 1
    refused("digest is written once", lambda: found.update(digest="sha256:" + "b" * 64))
    refused("digest is written once", lambda: found.update(digest=""))
    assert found.update(digest=DIGEST) == 1


def test_a_frozen_configuration_is_written_once() -> None:
    release = make_release(make_slot())
    found = Release.objects.filter(pk=release.pk)

    refused("configuration is written once", lambda: found.update(config={}))
    refused("configuration is written once", lambda: found.update(config=None))


def test_a_configuration_that_is_not_known_yet_may_be_written() -> None:
    slot = make_slot()
    later = Release.objects.create(slot=slot, number=1, image="r/web:1", created_at=NOON)

    assert Release.objects.filter(pk=later.pk).update(config={"processes": []}) == 1


@pytest.mark.parametrize(
    "part", ["verdict_blocker", "verdict_what", "verdict_leaves", "verdict_do"]
)
def test_a_verdict_is_written_once(part: str) -> None:
    deployment = make_deployment(state=State.DRAINING)
    set_raw(deployment, verdict_blocker="readiness", verdict_what="It fell.")()

    refused("verdict is written once", set_raw(deployment, **{part: "other"}))
    refused("verdict is written once", set_raw(deployment, verdict_blocker=""))


# --- unique, and one of a kind ---


def test_a_release_number_is_given_once_in_a_slot() -> None:
    slot = make_slot()
    make_release(slot)

    refused(
        "release_number_unique",
        lambda: Release.objects.create(slot=slot, number=1, image="r/web:2", created_at=NOON),
    )
    assert make_release(make_slot()).number == 1


def test_a_service_has_one_slot_in_an_environment_and_a_namespace_one_environment() -> None:
    slot = make_slot()
    environment = slot.environment

    refused(
        "one_slot_per",
        lambda: Slot.objects.create(service=slot.service, environment=environment, settings={}),
    )
    refused(
        "namespace_belongs",
        lambda: make_environment(cluster=environment.cluster, namespace=environment.namespace),
    )


def test_a_secret_variable_has_no_plain_value() -> None:
    refused(
        "a_secret_has_no_plain_value",
        lambda: Variable.objects.create(slot=make_slot(), key="A", value="x", secret=True),
    )
    variable = Variable.objects.create(slot=make_slot(), key="A", secret=True)
    SecretValue.objects.create(variable=variable, ciphertext=b"x")


def test_there_is_one_installation() -> None:
    make_installation()

    refused("only_one_installation", lambda: Installation.objects.create(pk=2))


def test_what_a_deployment_names_is_not_deleted() -> None:
    deployment = make_deployment()

    with pytest.raises(ProtectedError):
        deployment.release.delete()
