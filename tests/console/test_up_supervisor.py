"""The supervisor of `make up`: starts, restarts, names what cannot start, stops only its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from console.up.supervisor import Interrupted, Part, PartFailed, Supervisor, stop_leftovers

RUNS_ON = "import time; time.sleep(600)"
SECONDS = 20.0


class Terminal:
    """Remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, line: str) -> None:
        self.lines.append(line)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


@pytest.fixture
def supervisor(tmp_path: Path, terminal: Terminal) -> Iterator[Supervisor]:
    made = Supervisor(terminal, record=tmp_path / "parts.json")
    yield made
    made.stop()


def part(
    tmp_path: Path, program: str, *, name: str = "worker", ready: Callable[[], bool] = lambda: True
) -> Part:
    return Part(
        name=name,
        command=[sys.executable, "-c", program],
        environment=dict(os.environ),
        log=tmp_path / f"{name}.log",
        ready=ready,
        start_seconds=SECONDS,
    )


def pids(tmp_path: Path) -> dict[str, int]:
    record = tmp_path / "parts.json"
    return {line["name"]: line["pid"] for line in json.loads(record.read_text())}


def within(seconds: float, condition: Callable[[], bool]) -> Callable[[], bool]:
    """Return a condition that also ends, as an error, when the time is over."""
    deadline = time.monotonic() + seconds

    def reached() -> bool:
        assert time.monotonic() < deadline, "it did not come true in time"
        return condition()

    return reached


def test_a_part_that_dies_is_started_again_and_the_terminal_says_so(
    supervisor: Supervisor, terminal: Terminal, tmp_path: Path
) -> None:
    worker = part(tmp_path, RUNS_ON)
    supervisor.begin(worker)
    supervisor.wait(worker)
    first = pids(tmp_path)["worker"]

    os.kill(first, signal.SIGKILL)
    supervisor.watch(until=within(SECONDS, lambda: ": started again" in terminal.text))

    assert "worker: ended (SIGKILL); starting it again in 0.5 s" in terminal.text
    assert pids(tmp_path)["worker"] != first


def test_a_part_that_keeps_dying_is_started_less_and_less_often(
    supervisor: Supervisor, terminal: Terminal, tmp_path: Path
) -> None:
    supervisor.begin(part(tmp_path, "raise SystemExit(3)"))

    supervisor.watch(until=within(SECONDS, lambda: "again in 2 s" in terminal.text))

    said = [line for line in terminal.lines if "exit code 3" in line]
    assert [line.split(" in ")[1].split(";")[0] for line in said] == ["0.5 s", "1 s", "2 s"]


def test_a_part_that_cannot_start_is_named_with_its_log(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    broken = part(tmp_path, "raise SystemExit('no disk')", ready=lambda: False)
    supervisor.begin(broken)

    with pytest.raises(
        PartFailed, match=r"worker could not start \(exit code 1\); see .*worker.log"
    ):
        supervisor.wait(broken)

    assert broken.log.read_text() == "no disk\n"


def test_a_request_to_stop_ends_the_wait_for_a_slow_part(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    slow = part(tmp_path, RUNS_ON, ready=lambda: False)
    supervisor.begin(slow)
    supervisor.asked_to_stop.set()

    with pytest.raises(Interrupted):
        supervisor.wait(slow)


def test_parts_stop_in_the_opposite_order_of_their_start(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    for name in ("database", "pages"):
        program = f"""
import pathlib, signal, sys
def stop(*_):
    with open({str(notes)!r}, "a") as file: file.write({name!r} + " ")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
pathlib.Path({str(tmp_path / name)!r}).touch()
signal.pause()
"""
        one = part(tmp_path, program, name=name, ready=(tmp_path / name).exists)
        supervisor.begin(one)
        supervisor.wait(one)

    supervisor.stop()

    assert notes.read_text() == "pages database "


def test_what_a_killed_supervisor_left_running_is_stopped(
    terminal: Terminal, tmp_path: Path
) -> None:
    program = f"""
import os, signal, sys
from pathlib import Path
from console.up.supervisor import Supervisor
from tests.console.test_up_supervisor import part, RUNS_ON
Supervisor(print, record=Path({str(tmp_path)!r}) / "parts.json").begin(
    part(Path({str(tmp_path)!r}), RUNS_ON))
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", program], check=False)
    left = pids(tmp_path)["worker"]

    stop_leftovers(tmp_path / "parts.json", say=terminal)

    assert terminal.lines == ["Stopping worker, which an earlier start left behind"]
    assert not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE


def test_a_pid_that_belongs_to_somebody_else_by_now_is_left_alone(
    terminal: Terminal, tmp_path: Path
) -> None:
    record = tmp_path / "parts.json"
    with subprocess.Popen([sys.executable, "-c", RUNS_ON]) as other:
        record.write_text(json.dumps([{"name": "worker", "pid": other.pid, "began": 1.0}]))

        stop_leftovers(record, say=terminal)

        assert other.poll() is None
        assert terminal.lines == []
        other.kill()


def test_an_errand_is_stopped_too_when_the_supervisor_was_killed(
    tmp_path: Path, supervisor: Supervisor, terminal: Terminal
) -> None:
    errand = subprocess.Popen([sys.executable, "-c", RUNS_ON], start_new_session=True)
    with supervisor.errand("migrate", errand.pid):
        stop_leftovers(tmp_path / "parts.json", say=terminal)

    assert not psutil.pid_exists(errand.pid)
    errand.wait(SECONDS)
    assert "Stopping migrate, which an earlier start left behind" in terminal.text


def test_an_errand_that_has_ended_is_forgotten(tmp_path: Path, supervisor: Supervisor) -> None:
    with supervisor.errand("migrate", os.getpid()):
        assert pids(tmp_path) == {"migrate": os.getpid()}

    assert pids(tmp_path) == {}


def test_a_part_that_cannot_be_started_again_is_named_and_tried_once_more(
    tmp_path: Path, supervisor: Supervisor, terminal: Terminal
) -> None:
    prepared: list[str] = []

    def prepare() -> None:
        prepared.append("again")
        if len(prepared) == 2:
            raise OSError(28, "No space left on device")

    falling = replace(part(tmp_path, "pass"), prepare=prepare)
    supervisor.begin(falling)

    supervisor.watch(until=within(SECONDS, lambda: len(prepared) > 2))

    assert "worker: could not be started again: [Errno 28] No space left on device" in terminal.text
