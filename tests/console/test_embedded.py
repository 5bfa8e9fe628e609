"""The embedded servers: on sockets alone, reusing their data, stopping only what is theirs."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from console import embedded
from console.server_files import ServerFailed


def postgres_in(path: Path) -> embedded.Postgres:
    return embedded.Postgres(path / "postgres", path / "postgres.log", embedded.THROW_AWAY)


def valkey_in(path: Path) -> embedded.Valkey:
    return embedded.Valkey(path / "valkey", path / "valkey.log")


@pytest.mark.parametrize("make", [postgres_in, valkey_in])
def test_a_server_has_a_private_directory_and_no_port(tmp_path: Path, make) -> None:
    with embedded.running(make(tmp_path)) as server:
        process = psutil.Process(server.pid())
        mode = stat.S_IMODE(server.directory.stat().st_mode)

        assert mode == 0o700
        assert process.net_connections(kind="inet") == []


@pytest.mark.parametrize("make", [postgres_in, valkey_in])
def test_a_server_is_gone_when_its_block_ends(tmp_path: Path, make) -> None:
    with embedded.running(make(tmp_path)) as server:
        pid = server.pid()

    assert pid is not None
    assert not psutil.pid_exists(pid)
    assert server.pid() is None


def test_postgres_finds_its_data_again(tmp_path: Path) -> None:
    server = postgres_in(tmp_path)
    with embedded.running(server), psycopg.connect(server.url, autocommit=True) as link:
        link.execute("CREATE TABLE kept (word text)")

    with embedded.running(server), psycopg.connect(server.url) as link:
        assert link.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_valkey_finds_its_data_again(tmp_path: Path) -> None:
    server = valkey_in(tmp_path)
    with embedded.running(server), redis.Redis(unix_socket_path=str(server.socket)) as client:
        client.set("kept", "yes")

    with embedded.running(server), redis.Redis(unix_socket_path=str(server.socket)) as client:
        assert client.get("kept") == b"yes"


@pytest.mark.parametrize("make", [postgres_in, valkey_in])
def test_what_a_killed_starter_left_running_is_replaced(tmp_path: Path, make) -> None:
    server = make(tmp_path)
    program = f"""
import os, signal
from pathlib import Path
from console import embedded
from console.server_files import ServerFailed
from tests.console.test_embedded import {make.__name__}
embedded.start({make.__name__}(Path({str(tmp_path)!r})))
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", program], check=False)
    left = server.pid()

    with embedded.running(server):
        assert left is not None
        assert server.pid() not in {None, left}
        assert not psutil.pid_exists(left)


def test_a_killed_postgres_starts_again_over_its_stale_lock(tmp_path: Path) -> None:
    server = postgres_in(tmp_path)
    embedded.start(server)
    process = psutil.Process(server.pid())
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)

    with embedded.running(server), psycopg.connect(server.url) as link:
        assert link.execute("SELECT 1").fetchone() == (1,)


def test_a_stale_pid_file_never_stops_somebody_elses_process(tmp_path: Path) -> None:
    server = valkey_in(tmp_path)
    server.directory.mkdir()
    (server.directory / "valkey.pid").write_text(f"{os.getppid()}\n")

    embedded.stop(server)

    assert server.pid() is None
    assert psutil.pid_exists(os.getppid())


@pytest.mark.parametrize("make", [postgres_in, valkey_in])
def test_a_path_too_long_for_a_socket_gets_a_short_one(tmp_path: Path, make) -> None:
    server = make(tmp_path / ("long-" * 25))

    with embedded.running(server):
        assert server.answers()


def test_a_server_that_cannot_start_is_named_with_its_log(tmp_path: Path) -> None:
    broken = embedded.Postgres(tmp_path / "p", tmp_path / "p.log", {"shared_buffers": "nonsense"})

    with pytest.raises(ServerFailed, match=r"postgres did not start.*p\.log"):
        embedded.start(broken)


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    server = valkey_in(tmp_path)
    server.directory.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()

    with pytest.raises(ServerFailed, match="belongs to somebody else"):
        embedded.start(server)
