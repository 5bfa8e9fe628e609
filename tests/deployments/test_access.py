"""(person, name) → row, or the 404 that an outsider gets for everything."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from deployments import access
from deployments.access import Person
from deployments.domain.errors import TooLow
from deployments.domain.roles import Deed, Role
from deployments.models import Deployment, Project, Slot, User
from tests.factories import make_deployment, make_member, make_slot, make_user

pytestmark = pytest.mark.django_db

LookUp = Callable[[Person, Slot, Deed], object]

LOOK_UPS: dict[str, LookUp] = {
    "project": lambda person, slot, deed: access.project_for(
        person, slot.service.project.slug, to=deed
    ),
    "environment": lambda person, slot, deed: access.environment_for(
        person, slot.service.project.slug, slot.environment.slug, to=deed
    ),
    "slot": lambda person, slot, deed: access.slot_for(
        person, slot.service.project.slug, slot.environment.slug, slot.service.slug, to=deed
    ),
    "deployment": lambda person, slot, deed: access.deployment_for(
        person, Deployment.objects.get(slot=slot).pk, to=deed
    ),
}
each_look_up = pytest.mark.parametrize("what", LOOK_UPS)


@pytest.fixture
def slot() -> Slot:
    slot = make_slot()
    make_deployment(slot)
    return slot


def member(slot: Slot, role: Role) -> User:
    return make_member(slot.service.project.organization, role)


def project_of(slot: Slot) -> Project:
    return slot.service.project


@each_look_up
@pytest.mark.parametrize("role", [Role.VIEWER, Role.ENGINEER, Role.ON_CALL, Role.OWNER])
def test_every_member_may_read(what: str, role: Role, slot: Slot) -> None:
    assert LOOK_UPS[what](member(slot, role), slot, Deed.READ)


@each_look_up
def test_an_outsider_gets_404_for_what_exists_and_for_what_does_not(what: str, slot: Slot) -> None:
    other = make_slot()
    outsiders: list[Person] = [make_user(), member(other, Role.OWNER), AnonymousUser()]

    for outsider in outsiders:
        for deed in (Deed.READ, Deed.DEPLOY):
            with pytest.raises(Http404, match="There is nothing here, or you may not see it"):
                LOOK_UPS[what](outsider, slot, deed)


@each_look_up
def test_an_administrator_sees_and_does_everything(what: str, slot: Slot) -> None:
    assert LOOK_UPS[what](make_user(superuser=True), slot, Deed.MANAGE_CLUSTERS)


@each_look_up
def test_a_role_that_is_too_low_is_told_which_one_does(what: str, slot: Slot) -> None:
    with pytest.raises(TooLow, match="Deploying needs the role engineer or above; you are viewer"):
        LOOK_UPS[what](member(slot, Role.VIEWER), slot, Deed.DEPLOY)
    assert LOOK_UPS[what](member(slot, Role.ENGINEER), slot, Deed.DEPLOY)


def test_what_does_not_exist_is_not_found(slot: Slot) -> None:
    owner, project = member(slot, Role.OWNER), project_of(slot).slug

    for look_up in (
        lambda: access.project_for(owner, "nowhere"),
        lambda: access.environment_for(owner, project, "nowhere"),
        lambda: access.slot_for(owner, project, "staging", "nothing"),
        lambda: access.deployment_for(owner, 0),
    ):
        with pytest.raises(Http404):
            look_up()


def test_lists_hold_only_what_a_person_may_read(slot: Slot) -> None:
    make_deployment()
    reader = member(slot, Role.VIEWER)

    assert list(access.projects_of(reader)) == [project_of(slot)]
    assert list(access.organizations_of(reader)) == [project_of(slot).organization]
    assert [row.slot for row in access.deployments_of(reader)] == [slot]
    assert list(access.clusters_of(reader)) == [slot.environment.cluster]


def test_administrators_see_all_and_strangers_nothing(slot: Slot) -> None:
    make_deployment()
    administrator, stranger = make_user(superuser=True), AnonymousUser()

    assert access.projects_of(administrator).count() == 2
    assert access.organizations_of(administrator).count() == 2
    assert access.clusters_of(administrator).count() == 2
    assert not access.projects_of(stranger).exists()
    assert not access.organizations_of(stranger).exists()
    assert not access.deployments_of(stranger).exists()
    assert not access.clusters_of(stranger).exists()


def test_a_role_is_read_afresh_each_time(slot: Slot) -> None:
    engineer = member(slot, Role.ENGINEER)
    organization = project_of(slot).organization
    assert access.role_in(engineer, organization.pk) is Role.ENGINEER

    organization.memberships.all().delete()

    assert access.role_in(engineer, organization.pk) is None
    with pytest.raises(Http404):
        access.slot_for(engineer, project_of(slot).slug, "staging", "web", to=Deed.DEPLOY)


def test_a_member_of_two_organizations_has_a_role_in_each(slot: Slot) -> None:
    other = make_slot()
    person = member(slot, Role.OWNER)
    project_of(other).organization.memberships.create(user=person, role=Role.VIEWER.value)

    assert LOOK_UPS["slot"](person, slot, Deed.MANAGE_ENVIRONMENTS)
    with pytest.raises(TooLow):
        LOOK_UPS["slot"](person, other, Deed.DEPLOY)
