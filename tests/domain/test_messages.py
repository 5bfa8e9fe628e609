"""The sentences, to the letter where the specification gives them."""

from __future__ import annotations

import pytest

from deployments.domain import messages
from deployments.domain.messages import Message


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (messages.superseded_by("r-7"), "Superseded by r-7"),
        (messages.superseded_by("the rollback to r-3"), "Superseded by the rollback to r-3"),
        (messages.waiting_for_takeover("r-6"), "Waiting for r-6 to finish taking over traffic"),
        (
            messages.waiting_for_release_command("r-6"),
            "Waiting for the release command of r-6 to stop",
        ),
        (messages.waiting_for_traffic("r-6", 5), "Waiting for traffic to return to r-5"),
        (messages.waiting_for_traffic("r-6", None), "Waiting for r-6 to stop taking traffic"),
    ],
)
def test_a_held_deployment_says_what_it_waits_for(message: Message, text: str) -> None:
    assert str(message) == text


@pytest.mark.parametrize(
    ("kind", "title"), [("deploy", "r-3"), ("promote", "r-3"), ("rollback", "the rollback to r-3")]
)
def test_a_deployment_is_named_by_its_release(kind: str, title: str) -> None:
    assert messages.title(kind, 3) == title


def test_a_failure_says_what_keeps_serving() -> None:
    assert messages.keeps_serving("web", 4) == "r-4 keeps serving."
    assert messages.keeps_serving("web", None) == "web is not running."


def test_the_parts_are_joined_by_spaces_and_empty_ones_left_out() -> None:
    assert str(Message("a", "", "c")) == "a c"
    assert str(Message()) == ""


def test_a_way_back_that_was_given_up_says_why() -> None:
    assert messages.previous_never_ready(4, 5) == (
        "r-4 did not become ready in time, so traffic stays on r-5, whose pods keep running."
    )
    assert messages.could_not_switch_back(4, 5) == (
        "Traffic could not be switched back to r-4, so it stays on r-5, whose pods keep running."
    )
    assert messages.could_not_switch_back(None, 5).startswith("Traffic could not be switched back,")


@pytest.mark.parametrize(
    "message",
    [
        messages.tag_refused("r/web:1", "manifest unknown", "r-4 keeps serving."),
        messages.registry_unreachable("r/web:1", "timed out", "r-4 keeps serving."),
        messages.no_room("needs 1 CPU more", "r-4 keeps serving."),
        messages.name_taken("Service web", "r-4 keeps serving."),
        messages.release_command_failed("exited with code 3", "", "r-4 keeps serving."),
        messages.not_ready_in_time(1, 2, "answers with 500", "r-4 keeps serving."),
        messages.turned_unready(5, "no replica is ready", "Traffic goes back to r-4."),
        messages.switch_refused("Forbidden", "Traffic goes back to r-4."),
        messages.switch_without_effect(5, "Traffic goes back to r-4."),
    ],
)
def test_a_failure_has_three_parts_of_one_sentence_each(message: Message) -> None:
    assert all((message.what, message.leaves, message.do))
    assert all(
        part.endswith(".") and ". " not in part
        for part in (message.what, message.leaves, message.do)
    )


def test_the_last_words_of_a_release_command_are_quoted() -> None:
    said = messages.release_command_failed("exited with code 3", "no such table", "x.")

    assert said.what == "The release command exited with code 3. Its last words: no such table."
