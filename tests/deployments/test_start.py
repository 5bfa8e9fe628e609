"""Starting a deployment: its release, what it ends, what it waits behind, and what is refused."""

from __future__ import annotations

from unittest import mock

import pytest

from deployments import encryption, queue
from deployments.actions import explain
from deployments.actions.start import Started, deploy
from deployments.domain.actors import agent
from deployments.domain.blockers import Blocker
from deployments.domain.errors import Invalid
from deployments.domain.messages import Message
from deployments.domain.settings import default_settings
from deployments.domain.states import MOVING, State
from deployments.models import (
    Deployment,
    DeploymentEvent,
    Release,
    ReleaseSecret,
    SecretValue,
    Slot,
    User,
    Variable,
)
from tests.factories import DIGEST, NOON, make_active, make_deployment, make_slot, make_user

pytestmark = pytest.mark.django_db

BEFORE = sorted(MOVING - {State.ACTIVATING, State.DRAINING})
AGENT = agent("practice")


@pytest.fixture
def ana() -> User:
    return make_user("ana")


@pytest.fixture
def slot() -> Slot:
    return make_slot()


def start(slot: Slot, ana: User, image: str = "shop/web:4.2") -> Started:
    return deploy(slot.pk, image=image, reason="", by=ana, now=NOON)


def test_a_deployment_begins_in_pending_with_a_release_of_its_own(slot: Slot, ana: User) -> None:
    started = start(slot, ana)

    deployment = Deployment.objects.get()
    assert started == Started(deployment, ())
    assert (deployment.state, deployment.state_since) == ("pending", NOON)
    assert deployment.route == [
        "pending",
        "admitted",
        "starting",
        "qualifying",
        "activating",
        "draining",
        "healthy",
    ]
    release = Release.objects.get()
    assert (release.number, release.image, release.digest) == (
        1,
        "registry.example/shop/web:4.2",
        "",
    )
    slot.refresh_from_db()
    assert (slot.generation, slot.fence, slot.unsettled, slot.card_version) == (1, 1, True, 1)
    event = DeploymentEvent.objects.get()
    assert (event.from_state, event.to_state, event.actor_name) == ("", "pending", "ana")


def test_release_numbers_count_on_in_each_slot(slot: Slot, ana: User) -> None:
    for number in (1, 2, 3):
        assert start(slot, ana).deployment.release.number == number

    assert start(make_slot(), ana).deployment.release.number == 1


def test_a_digest_that_was_given_is_known_at_once(slot: Slot, ana: User) -> None:
    assert start(slot, ana, f"shop/web@{DIGEST}").deployment.release.digest == DIGEST


def test_settings_and_variables_are_frozen_and_a_secret_only_as_a_hash(
    slot: Slot, ana: User
) -> None:
    Variable.objects.create(slot=slot, key="MODE", value="fast")
    secret = Variable.objects.create(slot=slot, key="API_KEY", secret=True)
    SecretValue.objects.create(variable=secret, ciphertext=encryption.encrypt("s3cret"))

    release = start(slot, ana).deployment.release

    assert release.config is not None
    assert release.config["variables"] == {"MODE": "fast"}
    assert list(release.config["secret_hashes"]) == ["API_KEY"]
    assert "s3cret" not in str(release.config)
    kept = ReleaseSecret.objects.get()
    assert encryption.decrypt(bytes(kept.ciphertext)) == "s3cret"


# --- what it ends ---


@pytest.mark.parametrize("state", [*BEFORE, State.AWAITING_APPROVAL])
def test_an_older_one_before_the_point_is_superseded_and_named_in_the_answer(
    state: State, slot: Slot, ana: User
) -> None:
    older = make_deployment(slot, state=state)

    started = start(slot, ana)

    assert started.ended == (older.pk,)
    older.refresh_from_db()
    assert (older.state, older.what, older.cause) == ("superseded", "Superseded by r-2", "newer")
    assert older.superseded_by == started.deployment
    assert older.ended_at == NOON
    assert started.deployment.blocker == ""


@pytest.mark.parametrize("state", [State.ACTIVATING, State.DRAINING])
def test_behind_one_past_the_point_it_waits(state: State, slot: Slot, ana: User) -> None:
    older = make_deployment(slot, state=state)

    started = start(slot, ana)

    assert started.ended == ()
    assert (started.deployment.state, started.deployment.blocker) == ("pending", "waiting")
    assert started.deployment.what == "Waiting for r-1 to finish taking over traffic"
    older.refresh_from_db()
    assert older.state == state
    assert DeploymentEvent.objects.get(deployment=started.deployment).blocker == "waiting"


def test_behind_one_with_a_verdict_it_waits_for_traffic_to_return(slot: Slot, ana: User) -> None:
    active = make_active(slot)
    older = make_deployment(slot, state=State.DRAINING, previous=active)
    explain.go_back(
        older.pk,
        expected=State.DRAINING,
        blocker=Blocker.READINESS,
        message=Message("It fell."),
        now=NOON,
        actor=AGENT,
    )

    assert start(slot, ana).deployment.what == "Waiting for traffic to return to r-1"


def test_a_third_one_replaces_the_one_that_waits(slot: Slot, ana: User) -> None:
    make_deployment(slot, state=State.DRAINING)
    second = start(slot, ana)

    third = start(slot, ana)

    assert third.ended == (second.deployment.pk,)
    assert third.deployment.blocker == "waiting"
    second.deployment.refresh_from_db()
    assert second.deployment.what == "Superseded by r-3"


def test_another_slot_and_what_has_ended_are_left_alone(slot: Slot, ana: User) -> None:
    other = make_deployment(state=State.PENDING)
    healthy = make_deployment(slot, state=State.HEALTHY)

    assert start(slot, ana).ended == ()
    for untouched in (other, healthy):
        before = untouched.state
        untouched.refresh_from_db()
        assert untouched.state == before


# --- what is refused ---


@pytest.mark.parametrize(
    "image",
    ["", "https://ghcr.io/a:1", "a b", "a" * 300, ":4.2", "UPPER:1", "web:", f"web@{DIGEST[:-1]}"],
)
def test_what_is_no_image_leaves_no_row_and_ends_nobody(image: str, slot: Slot, ana: User) -> None:
    older = make_deployment(slot, state=State.STARTING)

    with pytest.raises(Invalid):
        start(slot, ana, image)

    older.refresh_from_db()
    slot.refresh_from_db()
    assert older.state == "starting"
    assert Deployment.objects.count() == Release.objects.count() == 1
    assert slot.releases_made == 1
    assert not DeploymentEvent.objects.exists()


def test_a_tag_alone_is_completed_by_the_slots_repository(ana: User) -> None:
    settings = {**default_settings(), "image_repository": "ghcr.io/shop/web"}

    release = start(make_slot(settings=settings), ana, ":4.2").deployment.release

    assert release.image == "ghcr.io/shop/web:4.2"


@pytest.mark.parametrize(
    ("reason", "says"),
    [("x" * 501, "at most 500 characters; this has 501"), ("a\x00b", "control characters")],
)
def test_a_reason_that_nobody_could_read_is_refused(
    reason: str, says: str, slot: Slot, ana: User
) -> None:
    with pytest.raises(Invalid, match=says):
        deploy(slot.pk, image="web:1", reason=reason, by=ana, now=NOON)

    assert not Deployment.objects.exists()


def test_a_reason_of_500_characters_is_kept(slot: Slot, ana: User) -> None:
    started = deploy(slot.pk, image="web:1", reason="x" * 500, by=ana, now=NOON)

    assert Deployment.objects.get(pk=started.deployment.pk).reason == "x" * 500


# --- the hint ---


def test_the_agent_is_woken_once_the_transaction_commits(
    slot: Slot, ana: User, django_capture_on_commit_callbacks: object
) -> None:
    with (
        mock.patch.object(queue, "look_now") as look_now,
        django_capture_on_commit_callbacks(execute=True),  # type: ignore[operator]
    ):
        start(slot, ana)
        look_now.assert_not_called()

    look_now.assert_called_with(slot.environment.cluster_id)


def test_a_broker_that_is_down_does_not_undo_the_commit(
    slot: Slot, ana: User, django_capture_on_commit_callbacks: object
) -> None:
    with (
        mock.patch.object(queue, "look_now", side_effect=OSError("no broker")),
        django_capture_on_commit_callbacks(execute=True),  # type: ignore[operator]
    ):
        start(slot, ana)

    assert Deployment.objects.count() == 1
