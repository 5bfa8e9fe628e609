"""A change in part: laid over what is there, judged whole, with pointers into what was sent."""

from __future__ import annotations

from typing import Any

import pytest

from deployments.domain.errors import Invalid
from deployments.domain.settings import default_settings, parse
from deployments.domain.settings_changes import apply_change, merge

TWO = parse(
    {
        "processes": [
            {"name": "http", "kind": "http", "port": 8080, "primary": True},
            {"name": "worker", "kind": "worker", "replicas": 3},
        ],
        "release_command": {"command": ["migrate"], "timeout_seconds": 900},
        "image_repository": "registry.example/shop/api",
    }
).to_json()


def problems(change: object) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as caught:
        apply_change(TWO, change)
    return [(problem.pointer, problem.detail) for problem in caught.value.problems]


def test_an_empty_change_changes_nothing() -> None:
    assert apply_change(TWO, {}).to_json() == TWO


def test_a_process_is_matched_by_its_name_and_keeps_what_is_not_named() -> None:
    changed = apply_change(TWO, {"processes": [{"name": "worker", "stop_seconds": 60}]}).to_json()

    assert changed["processes"] == [
        TWO["processes"][0],
        TWO["processes"][1] | {"stop_seconds": 60},
    ]


def test_a_process_with_remove_is_taken_away() -> None:
    changed = apply_change(TWO, {"processes": [{"name": "worker", "remove": True}]})

    assert [process.name for process in changed.processes] == ["http"]


def test_without_its_primary_process_the_only_other_one_takes_its_place() -> None:
    changed = apply_change(TWO, {"processes": [{"name": "http", "remove": True}]})

    assert [(process.name, process.primary) for process in changed.processes] == [("worker", True)]


def test_a_new_name_adds_a_process_with_the_defaults() -> None:
    nightly = {"name": "nightly", "kind": "cron", "schedule": "0 4 * * *"}

    changed = apply_change(TWO, {"processes": [nightly]})

    assert [process.name for process in changed.processes] == ["http", "worker", "nightly"]


def test_a_release_command_is_changed_field_by_field_and_null_takes_it_away() -> None:
    longer = apply_change(TWO, {"release_command": {"timeout_seconds": 1200}})
    without = apply_change(TWO, {"release_command": None})

    assert longer.to_json()["release_command"] == {"command": ["migrate"], "timeout_seconds": 1200}
    assert without.release_command is None


def test_a_change_of_nothing_but_the_repository_leaves_the_rest() -> None:
    changed = apply_change(TWO, {"image_repository": None}).to_json()

    assert changed == TWO | {"image_repository": None}


@pytest.mark.parametrize(
    ("change", "pointers"),
    [
        pytest.param([], [""], id="no object"),
        pytest.param({"colour": 1}, ["/colour"], id="unknown field"),
        pytest.param({"processes": {}}, ["/processes"], id="no list"),
        pytest.param({"processes": [1]}, ["/processes/0"], id="no process"),
        pytest.param({"processes": [{}]}, ["/processes/0/name", "/processes/0/kind"], id="no name"),
        pytest.param(
            {"processes": [{"name": "worker", "replicas": 0}]},
            ["/processes/0/replicas"],
            id="the second process, sent as the first",
        ),
        pytest.param(
            {"processes": [{"name": "nobody", "remove": True}]},
            ["/processes/0/name"],
            id="removing what is not there",
        ),
        pytest.param(
            {"processes": [{"name": "http", "remove": "yes"}]},
            ["/processes/0/remove"],
            id="remove is no flag",
        ),
        pytest.param(
            {"processes": [{"name": "http"}, {"name": "http"}]},
            ["/processes/1/name"],
            id="named twice",
        ),
        pytest.param(
            {"processes": [{"name": "worker", "primary": True}]},
            ["/processes"],
            id="a second primary",
        ),
        pytest.param({"release_command": 4}, ["/release_command"], id="no release command"),
    ],
)
def test_a_problem_points_into_what_was_sent(change: object, pointers: list[str]) -> None:
    assert [pointer for pointer, _ in problems(change)] == pointers


def test_merging_does_not_touch_what_is_there() -> None:
    before = default_settings()

    merge(before, {"processes": [{"name": "http", "replicas": 4}]})

    assert before == default_settings()


def test_pointers_and_sentences_agree_on_the_process() -> None:
    change: dict[str, Any] = {"processes": [{"name": "worker", "replicas": 101}]}

    assert problems(change) == [
        (
            "/processes/0/replicas",
            "replicas of worker is a whole number from 1 to 100; this is 101.",
        )
    ]
