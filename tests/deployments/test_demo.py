"""The demonstration: filled through the product's own actions, and the same after a second run."""

from __future__ import annotations

import pytest

from deployments.actions.environments import Binding
from deployments.management import demo_people, demo_shop
from deployments.management.demo_people import Account, SomebodyElse, seed_people
from deployments.models import Deployment, Environment, Organization, Slot, Token, User
from deployments.reads.clock import database_now
from tests.factories import make_cluster, make_organization, make_user

pytestmark = pytest.mark.django_db


def fill(slug: str = "staging") -> Environment:
    project = demo_shop.seed_project()
    cluster = make_cluster()
    return demo_shop.seed_environment(
        project, slug, Binding(cluster, f"shop-{slug}"), default_registry="127.0.0.1:5000"
    )


def people(known: dict[str, Account] | None = None) -> dict[str, Account]:
    organization, _ = Organization.objects.get_or_create(slug="harbor", name="Harbor")
    return seed_people(organization, known or {}, now=database_now())


def test_every_service_has_the_settings_of_its_kind() -> None:
    environment = fill()

    kinds = {
        slot.service.slug: {process["kind"] for process in slot.settings["processes"]}
        for slot in environment.slots.all()
    }
    assert kinds == {
        "api": {"http"},
        "billing": {"http", "worker", "cron"},
        "mailer": {"cron"},
        "search": {"worker", "job"},
        "web": {"http"},
        "worker": {"worker"},
    }


def test_what_somebody_has_changed_stays() -> None:
    environment = fill()
    Slot.objects.filter(service__slug="web").update(settings={"mine": 1}, settings_version=3)

    demo_shop.seed_environment(
        environment.project,
        "staging",
        Binding(environment.cluster, environment.namespace),  # type: ignore[arg-type]
        default_registry="127.0.0.1:6000",
    )

    assert Slot.objects.get(service__slug="web").settings == {"mine": 1}
    assert Environment.objects.get().default_registry == "127.0.0.1:6000"


def test_the_first_deployments_are_the_engineers_and_are_made_once() -> None:
    environment = fill()
    people()
    engineer = User.objects.get(username="engineer")

    first = demo_shop.seed_deployments(environment, by=engineer, now=database_now())
    second = demo_shop.seed_deployments(environment, by=engineer, now=database_now())

    assert first == ["api", "billing", "search", "web", "worker"]
    assert second == []
    assert {made.created_by for made in Deployment.objects.all()} == {engineer}
    assert {made.release.image for made in Deployment.objects.all()} == {"127.0.0.1:5000/sample:1"}


def test_everybody_can_sign_in_with_what_is_handed_out() -> None:
    accounts = people()

    assert set(accounts) == {"viewer", "engineer", "oncall", "owner", "administrator"}
    for account in accounts.values():
        assert User.objects.get(username=account["username"]).check_password(account["password"])
    assert [user.username for user in User.objects.filter(is_superuser=True)] == ["administrator"]


def test_a_second_run_hands_out_the_same_and_resets_nothing() -> None:
    accounts = people()
    hashes = set(User.objects.values_list("password", flat=True))

    again = people(accounts)

    assert again == accounts
    assert set(User.objects.values_list("password", flat=True)) == hashes
    assert Token.objects.count() == len(demo_people.PEOPLE)


def test_a_token_that_is_no_longer_valid_is_made_anew() -> None:
    accounts = people()
    Token.objects.filter(user__username="owner").delete()

    again = people(accounts)

    assert again["owner"]["token"] != accounts["owner"]["token"]
    assert again["owner"]["password"] == accounts["owner"]["password"]


def test_a_person_who_is_not_of_the_demonstration_is_never_taken_over() -> None:
    make_organization("other")
    make_user("administrator")

    with pytest.raises(SomebodyElse, match="somebody called administrator"):
        people()

    assert not User.objects.get(username="administrator").is_superuser
