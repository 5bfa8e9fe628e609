"""Two people who change the same things in the same moment."""

from __future__ import annotations

import pytest

from deployments.actions import configure, environments, services
from deployments.actions.environments import Binding
from deployments.domain.errors import Refused
from deployments.models import Environment, Service, Slot
from tests.factories import make_cluster, make_project, make_slot
from tests.races.together import at_once

pytestmark = [pytest.mark.race, pytest.mark.django_db(transaction=True)]


def refused(outcomes: list[object]) -> list[object]:
    return [outcome for outcome in outcomes if isinstance(outcome, Refused)]


def test_of_two_editors_of_one_version_one_is_refused() -> None:
    slot = make_slot()

    outcomes = at_once(
        *(
            lambda host=host: configure.change_settings(
                slot.pk, {"image_repository": f"{host}.example/web"}, seen=[1]
            )
            for host in ("a", "b")
        )
    )

    assert len(refused(outcomes)) == 1
    assert Slot.objects.get().settings_version == 2


def test_of_two_services_of_one_name_one_is_refused() -> None:
    project = make_project()

    outcomes = at_once(*[lambda: services.create_service(project.pk, slug="web")] * 2)

    assert len(refused(outcomes)) == 1
    assert Service.objects.count() == 1


def test_of_two_environments_in_one_namespace_one_is_refused() -> None:
    binding = Binding(make_cluster(), "shop")
    projects = [make_project(), make_project()]

    outcomes = at_once(
        *(
            lambda pk=project.pk: environments.create_environment(
                pk, slug="staging", binding=binding
            )
            for project in projects
        )
    )

    assert len(refused(outcomes)) == 1
    assert Environment.objects.count() == 1


def test_a_service_and_an_environment_of_the_same_moment_have_their_slot() -> None:
    project, binding = make_project(), Binding(make_cluster(), "shop")

    at_once(
        lambda: services.create_service(project.pk, slug="web"),
        lambda: environments.create_environment(project.pk, slug="staging", binding=binding),
    )

    assert Slot.objects.count() == 1
