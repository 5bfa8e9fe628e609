"""What there may be one of: the second is refused by the database, whoever writes it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import DatabaseError, transaction

from deployments.models import (
    CauseClock,
    DeploymentJob,
    DeploymentOutput,
    Membership,
    ReleaseSecret,
    Variable,
)
from tests.factories import (
    NOON,
    make_deployment,
    make_environment,
    make_organization,
    make_project,
    make_release,
    make_service,
    make_slot,
    make_user,
)

pytestmark = pytest.mark.django_db


def refused(by: str, write: Callable[[], object]) -> None:
    """Write once, and check that the same write again is refused in these words."""
    write()
    with pytest.raises(DatabaseError, match=by), transaction.atomic():
        write()


def test_a_person_has_one_role_in_an_organization() -> None:
    organization, person = make_organization(), make_user()

    refused(
        "one_membership_per_person",
        lambda: Membership.objects.create(organization=organization, user=person, role=1),
    )


def test_a_member_is_no_administrator_of_the_installation() -> None:
    organization, person = make_organization(), make_user()

    with pytest.raises(DatabaseError, match="role_is_a_members_role"), transaction.atomic():
        Membership.objects.create(organization=organization, user=person, role=5)


def test_environments_and_services_have_names_of_their_own_in_a_project() -> None:
    project = make_project()

    refused("environment_slug_unique", lambda: make_environment(project, "staging"))
    refused("service_slug_unique", lambda: make_service(project, "web"))


def test_a_variable_and_a_frozen_secret_stand_once_for_a_key() -> None:
    slot = make_slot()
    release = make_release(slot)

    refused("variable_key_unique", lambda: Variable.objects.create(slot=slot, key="MODE"))
    refused(
        "secret_key_unique",
        lambda: ReleaseSecret.objects.create(release=release, key="KEY", ciphertext=b"x"),
    )


def test_a_job_is_made_once_for_a_deployment() -> None:
    deployment = make_deployment()

    refused(
        "a_job_is_made_once",
        lambda: DeploymentJob.objects.create(deployment=deployment, name="web--seed-d1", uid="u"),
    )


def test_a_cause_has_one_clock() -> None:
    deployment = make_deployment()

    refused(
        "one_clock_per_cause",
        lambda: CauseClock.objects.create(
            deployment=deployment, cause="unready", since=NOON, last_seen=NOON
        ),
    )


def test_a_containers_output_is_kept_once_for_a_run() -> None:
    deployment = make_deployment()

    refused(
        "an_output_is_kept_once",
        lambda: DeploymentOutput.objects.create(
            deployment=deployment, pod="web-1", container="web", previous=False, text="", at=NOON
        ),
    )
