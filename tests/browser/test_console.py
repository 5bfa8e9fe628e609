"""What a person does in the console: sign in, deploy, watch. The moves of the agent are written by
the tests, through the product's own actions."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from deployments.actions.move import move
from deployments.domain import actors
from deployments.domain.blockers import Blocker
from deployments.domain.messages import NOTHING, Message
from deployments.domain.states import USUAL_ROUTE, State
from deployments.models import Deployment, Slot, User
from deployments.reads.clock import database_now
from tests.browser.conftest import Open
from tests.deployments import console_rows as rows

SLOT = "/projects/shop/staging/web/"
LIVE = 8_000  # milliseconds within which a change has to be seen: two polls and their answers


def go(
    deployment: Deployment,
    to: State,
    *,
    blocker: Blocker | None = None,
    message: Message = NOTHING,
) -> None:
    """Move a deployment as the agent does."""
    deployment.refresh_from_db()
    move(
        deployment.pk,
        expected=State(deployment.state),
        to=to,
        now=database_now(),
        actor=actors.agent("practice"),
        blocker=blocker,
        message=message,
    )


def test_a_person_deploys_in_the_dialog_and_watches_the_release_become_healthy(
    open_as: Open, slot: Slot, engineer: User
) -> None:
    page = open_as("/", engineer)
    page.get_by_role("link", name="Deploy web to staging…").click()
    page.get_by_role("dialog").get_by_label("Image").fill(":2")
    page.get_by_role("button", name="Deploy web").click()

    page.wait_for_url(re.compile(r"/deployments/\d+/$"))
    expect(page.get_by_role("heading", name="Deploying: Pending")).to_be_visible()
    deployment = Deployment.objects.get()
    for stage in USUAL_ROUTE[1:]:
        go(deployment, stage)
    expect(page.get_by_role("heading", name="Healthy")).to_be_visible(timeout=LIVE)
    assert page.get_by_text("agent practice").count() == 6


def test_a_bad_image_is_refused_in_the_dialog_and_what_was_typed_stays(
    open_as: Open, slot: Slot, engineer: User
) -> None:
    page = open_as("/projects/shop/", engineer)
    page.get_by_role("link", name="Deploy web to staging…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Image").fill("https://x")
    dialog.get_by_label("Reason").fill("faster cart")
    dialog.get_by_role("button", name="Deploy web").click()

    expect(dialog.get_by_role("alert")).to_contain_text("leave out https://")
    expect(dialog.get_by_label("Image")).to_be_focused()
    expect(dialog.get_by_label("Reason")).to_have_value("faster cart")
    assert not Deployment.objects.exists()


def test_the_dialog_closes_with_escape_and_gives_the_focus_back(
    open_as: Open, slot: Slot, engineer: User
) -> None:
    page = open_as("/projects/shop/", engineer)
    opener = page.get_by_role("link", name="Deploy web to staging…")
    opener.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")

    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(opener).to_be_focused()


def test_a_card_changes_by_itself_and_then_asks_less_often(
    open_as: Open, slot: Slot, engineer: User
) -> None:
    deployment = rows.make_deployment(slot, by=engineer, state=State.STARTING)
    page = open_as("/projects/shop/", engineer)
    expect(page.get_by_text("Updates every 3 s")).to_be_visible()

    message = Message("The registry has no web:2.", "web is not running.", "Check the tag.")
    go(deployment, State.FAILED, blocker=Blocker.IMAGE_PULL, message=message)

    expect(page.get_by_text("Failed: image-pull")).to_be_visible(timeout=LIVE)


def test_a_live_update_leaves_the_focus_where_it_was(
    open_as: Open, slot: Slot, engineer: User
) -> None:
    deployment = rows.make_deployment(slot, by=engineer, state=State.STARTING)
    page = open_as("/projects/shop/", engineer)
    opener = page.get_by_role("link", name="Deploy web to staging…")
    opener.focus()

    go(deployment, State.QUALIFYING)

    expect(page.get_by_text("Deploying: Qualifying")).to_be_visible(timeout=LIVE)
    expect(opener).to_be_focused()


def test_a_healthy_deployment_asks_nothing_for_seven_seconds(
    open_as: Open, slot: Slot, engineer: User
) -> None:
    deployment = rows.make_deployment(slot, by=engineer, state=State.DRAINING)
    page = open_as(f"/deployments/{deployment.pk}/", engineer)
    go(deployment, State.HEALTHY)
    expect(page.get_by_role("heading", name="Healthy")).to_be_visible(timeout=LIVE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.wait_for_timeout(7_000)

    assert asked == []
    expect(page.get_by_text("Updates every 15 s")).to_be_visible()


def test_a_page_says_since_when_it_is_not_live_and_when_it_is_again(
    open_as: Open, slot: Slot, engineer: User
) -> None:
    rows.make_deployment(slot, by=engineer, state=State.STARTING)
    page = open_as("/projects/shop/", engineer)
    page.route("**/card/**", lambda route: route.fulfill(status=503, body="busy"))

    expect(page.get_by_role("alert")).to_contain_text("Not live since", timeout=LIVE)
    page.unroute("**/card/**")

    expect(page.get_by_text("Updates every 3 s")).to_be_visible(timeout=LIVE)
    expect(page.get_by_role("alert")).to_be_hidden()


def test_everything_works_without_javascript(open_as: Open, slot: Slot, engineer: User) -> None:
    page = open_as("/", engineer, java_script_enabled=False)
    page.get_by_role("link", name="Deploy web to staging…").click()
    page.get_by_label("Image").fill("no image")
    page.get_by_role("button", name="Deploy web").click()
    expect(page.get_by_role("alert")).to_contain_text("it contains spaces")
    page.get_by_label("Image").fill(":2")
    page.get_by_role("button", name="Deploy web").click()

    expect(page.get_by_role("heading", name="r-1 to staging")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_keys_that_work_are_listed_and_work(open_as: Open, slot: Slot, engineer: User) -> None:
    page = open_as("/projects/shop/", engineer)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("c")

    page.wait_for_url("**/clusters/")
