"""The program of the sample images as a function of its variables and of time."""

from __future__ import annotations

import pytest

from deployments.practice.world.program import Exit, Program

BEGUN = 1000.0


def program(verb: str, *, limit: int | None = None, **env: object) -> Program:
    values = {"VERSION": "3", **{name: str(value) for name, value in env.items()}}
    return Program((verb,), values, BEGUN, limit)


def test_it_listens_only_after_its_start_delay() -> None:
    slow = program("serve", START_DELAY=4)

    assert not slow.listens(8080, BEGUN + 3.9)
    assert slow.listens(8080, BEGUN + 4)
    assert not slow.listens(9000, BEGUN + 4)


@pytest.mark.parametrize(
    ("env", "age", "status"),
    [
        pytest.param({}, 1, 200, id="plain"),
        pytest.param({"STATUS": 404}, 1, 404, id="its own status"),
        pytest.param({"READY_DELAY": 5}, 4.9, 503, id="not yet"),
        pytest.param({"READY_DELAY": 5}, 5, 200, id="ready"),
        pytest.param({"UNREADY_AFTER": 5}, 5, 200, id="still ready"),
        pytest.param({"UNREADY_AFTER": 5}, 5.1, 503, id="no longer"),
    ],
)
def test_its_answer_depends_on_its_age(env: dict[str, int], age: float, status: int) -> None:
    reply = program("serve", **env).reply("/", BEGUN + age)

    assert (reply.status, reply.body) == (status, "sample 3\n")


def test_it_shows_its_variables_and_calls_addresses() -> None:
    served = program("serve", COLOUR="red", NEXT="http://next/")

    assert served.reply("/env/COLOUR", BEGUN).body == "red"
    assert served.reply("/call/NEXT", BEGUN).calls == "http://next/"


@pytest.mark.parametrize(
    ("started", "told", "end"),
    [
        pytest.param(program("work"), None, None, id="runs for ever"),
        pytest.param(program("work"), 1010.0, Exit(1010.0, 0, "Completed"), id="told to stop"),
        pytest.param(
            program("work", STOP_DELAY=3), 1010.0, Exit(1013.0, 0, "Completed"), id="slow"
        ),
        pytest.param(program("run"), None, Exit(1000.3, 0, "Completed"), id="three lines"),
        pytest.param(program("run", EXIT_CODE=3), None, Exit(1000.3, 3, "Error"), id="code"),
        pytest.param(
            program("run", RUN_LINES=99), 1001.0, Exit(1001.0, 143, "Error"), id="in between"
        ),
        pytest.param(
            program("serve", EXIT_AFTER=2), None, Exit(1002.0, 1, "Error"), id="by itself"
        ),
        pytest.param(program("pause"), 1010.0, Exit(1010.0, 0, "Completed"), id="pause"),
        pytest.param(
            program("work", START_DELAY=5), 1001.0, Exit(1005.0, 0, "Completed"), id="signal kept"
        ),
    ],
)
def test_how_it_ends(started: Program, told: float | None, end: Exit | None) -> None:
    assert started.ends(told) == end


def test_it_is_killed_when_it_takes_more_memory_than_it_may() -> None:
    end = program("work", limit=32 * 2**20, ALLOCATE_MB=100).ends(None)

    assert end is not None
    assert (end.code, end.reason) == (137, "OOMKilled")


def test_it_fits_below_its_limit() -> None:
    assert program("work", limit=128 * 2**20, ALLOCATE_MB=100).ends(None) is None


def test_a_task_prints_its_lines_one_after_the_other() -> None:
    task = program("run", RUN_LINES=3, LINE_DELAY_MS=1000, LAST_WORDS="done")

    assert task.output(BEGUN + 1.5) == ["sample run 3 begins", "line 1", "line 2"]
    assert task.output(BEGUN + 60)[-2:] == ["line 3", "done"]


def test_a_task_that_is_stopped_says_so_instead_of_its_last_words() -> None:
    task = program("run", RUN_LINES=99, LINE_DELAY_MS=1000, LAST_WORDS="done")

    assert task.output(BEGUN + 60, BEGUN + 1.5)[-2:] == ["line 2", "told to stop"]


def test_its_last_words_come_with_a_crash() -> None:
    crash = program("serve", EXIT_AFTER=1, LAST_WORDS="no database")

    assert crash.output(BEGUN + 60) == ["sample serve 3 begins", "no database"]


def test_a_worker_says_that_it_is_alive() -> None:
    assert program("work").output(BEGUN + 21)[1:] == ["alive 1", "alive 2"]
