"""`make up` as a whole: one start for all tests here, then what happens to it."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import OK, HTTPConnection
from pathlib import Path

import psutil
import pytest

from console.up.parts import answers
from console.up.ports import HOST, next_free

START_SECONDS = 240.0  # the demonstration project is deployed through the product meanwhile
SECONDS = 60.0
LEASE_SECONDS = 40.0
ROLES = {"viewer", "engineer", "oncall", "owner", "administrator"}


@dataclass(frozen=True)
class Up:
    """A running `make up` and its terminal."""

    var: Path
    terminal: Path
    process: subprocess.Popen[bytes]
    port: int

    @property
    def said(self) -> str:
        return self.terminal.read_text()

    def pid_of(self, part: str) -> int:
        lines = json.loads((self.var / "run" / "parts.json").read_text())
        return next(int(line["pid"]) for line in lines if line["name"] == part)


def command(var: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "console.up", *words, "--var", str(var)]


def eventually(condition: Callable[[], bool], *, seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Start everything beside a busy port; stop it at the end if a test has not."""
    var = tmp_path_factory.mktemp("up")
    (var / "ports.json").write_text(json.dumps(_ports_of_nobody_else()))
    terminal = var / "terminal"
    with socket.socket() as taken, terminal.open("wb") as output:
        taken.bind((HOST, next_free(18000, taken=set())))
        taken.listen()
        busy = taken.getsockname()[1]
        # An ambient cluster that does not exist: whoever used it would fail.
        process = subprocess.Popen(
            command(var, "up", "--port", str(busy)),
            stdout=output,
            stderr=output,
            env={**os.environ, "KUBECONFIG": str(var / "somebodys-production")},
        )
        started = Up(var, terminal, process, busy)
        try:
            eventually(lambda: _is_up_or_over(started), seconds=START_SECONDS)
            assert process.poll() is None, started.said
            yield started
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(SECONDS)


def _ports_of_nobody_else() -> dict[str, int]:
    """Far from those that another `make up` on this machine takes at the same moment."""
    first = 20000 + random.randrange(0, 10000, 10)
    practice = next_free(first, taken=set())
    return {"practice": practice, "registry": next_free(first, taken={practice})}


def _is_up_or_over(up: Up) -> bool:
    return (up.var / "up.json").exists() or up.process.poll() is not None


def address(up: Up) -> int:
    written = json.loads((up.var / "up.json").read_text())
    return int(written["url"].rstrip("/").rsplit(":", 1)[1])


def heartbeat_age(up: Up) -> float:
    """Return how long ago the practice cluster was last looked at."""
    token = json.loads((up.var / "up.json").read_text())["users"]["viewer"]["token"]
    with closing(HTTPConnection(HOST, address(up), timeout=SECONDS)) as connection:
        connection.request("GET", "/api/v1/clusters", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        body = json.loads(answer.read())
    # The database may still be starting after a test that killed it.
    return float(body["items"][0]["heartbeat_age_seconds"]) if answer.status == OK else math.inf


def test_a_busy_port_is_named_and_the_next_one_serves_the_pages(up: Up) -> None:
    port = address(up)

    assert f"Port {up.port} is in use; pages: port {port} instead." in up.said
    assert answers(port, "/accounts/login/")


def test_it_leaves_users_tokens_and_addresses_for_scripts_that_only_we_may_read(up: Up) -> None:
    path = up.var / "up.json"
    written = json.loads(path.read_text())

    assert set(written["users"]) == ROLES
    assert all({"username", "password", "token"} <= set(one) for one in written["users"].values())
    assert {"url", "registry", "clusters"} <= set(written)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_last_screen_says_where_it_is_and_who_can_log_in(up: Up) -> None:
    engineer = json.loads((up.var / "up.json").read_text())["users"]["engineer"]

    assert "Pilothouse is at http://" in up.said
    assert engineer["password"] in up.said


def test_a_second_start_says_so_and_changes_nothing(up: Up) -> None:
    before = (up.var / "run" / "parts.json").read_text()

    second = subprocess.run(command(up.var), capture_output=True, text=True, check=False)

    assert second.returncode == 1
    assert f"runs here already (process {up.process.pid})" in second.stdout
    assert (up.var / "run" / "parts.json").read_text() == before


@pytest.mark.parametrize("name", ["worker", "pages", "postgres"])
def test_a_part_that_is_killed_is_started_again(up: Up, name: str) -> None:
    killed = up.pid_of(name)
    said = up.said.count(f"{name}: started again")

    os.kill(killed, signal.SIGKILL)
    eventually(lambda: up.said.count(f"{name}: started again") > said)

    eventually(lambda: answers(address(up), "/accounts/login/"))
    assert up.pid_of(name) != killed


def test_a_worker_that_was_killed_looks_at_the_clusters_again(up: Up) -> None:
    said = up.said.count("worker: started again")
    os.kill(up.pid_of("worker"), signal.SIGKILL)
    eventually(lambda: up.said.count("worker: started again") > said)
    restarted = time.monotonic()

    # The one that was killed may have held the lease, which runs out first.
    eventually(
        lambda: heartbeat_age(up) < time.monotonic() - restarted, seconds=SECONDS + LEASE_SECONDS
    )


@pytest.mark.last
def test_down_stops_everything_and_keeps_the_data(up: Up) -> None:
    ours = psutil.Process(up.process.pid).children(recursive=True)

    stopped = subprocess.run(command(up.var, "down"), capture_output=True, text=True, check=False)

    assert "Pilothouse has stopped" in stopped.stdout
    assert up.process.wait(SECONDS) == 0
    assert [process for process in ours if process.is_running()] == []
    assert (up.var / "postgres" / "data" / "PG_VERSION").exists()
    assert not (up.var / "up.json").exists()
