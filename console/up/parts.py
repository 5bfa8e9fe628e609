"""The programs that `make up` runs, each with its command and how it shows that it is ready."""

from __future__ import annotations

import http.client
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from console import embedded
from console.up.ports import HOST
from console.up.supervisor import Part

SECONDS_TO_ANSWER = 5


@dataclass
class LogMark:
    """Whether a log has said something since the program was last started."""

    log: Path
    words: str
    _from: int = field(default=0)

    def set(self) -> None:
        self._from = self.log.stat().st_size if self.log.exists() else 0

    def passed(self) -> bool:
        if not self.log.exists():
            return False
        with self.log.open("rb") as file:
            file.seek(self._from)
            return self.words.encode() in file.read()


def server(one: embedded.Server, environment: Mapping[str, str]) -> Part:
    """A database, as `embedded` knows it."""
    return Part(
        name=one.name,
        command=one.command(),
        environment=environment,
        log=one.log,
        ready=one.answers,
        prepare=one.prepare,
        stop_signal=one.stop_signal,
    )


def practice(var: Path, environment: Mapping[str, str], *, port: int, registry_port: int) -> Part:
    """The practice cluster with its registry; it leaves its kubeconfig in its directory."""
    directory, log = var / "practice", var / "log" / "practice.log"
    mark = LogMark(log, "practice cluster ready")
    module = [sys.executable, "-m", "deployments.practice", "--dir", str(directory)]
    return Part(
        name="practice cluster",
        command=[*module, "--port", str(port), "--registry-port", str(registry_port)],
        environment=environment,
        log=log,
        prepare=mark.set,
        ready=mark.passed,
    )


def pages(var: Path, environment: Mapping[str, str], *, port: int) -> Part:
    """The pages, by gunicorn with threads: they wait for the database, not for a processor."""
    gunicorn = [sys.executable, "-m", "gunicorn", "console.wsgi", "--bind", f"{HOST}:{port}"]
    threads = ["--worker-class", "gthread", "--workers", "2", "--threads", "4", "--preload"]
    return Part(
        name="pages",
        command=[*gunicorn, *threads, "--graceful-timeout", "3", "--no-control-socket"],
        environment=environment,
        log=var / "log" / "pages.log",
        ready=lambda: answers(port, "/accounts/login/"),
    )


def worker(var: Path, environment: Mapping[str, str]) -> Part:
    """The Celery worker; it learns the queues of clusters while it runs."""
    log = var / "log" / "worker.log"
    mark = LogMark(log, " ready.")
    celery = [sys.executable, "-m", "celery", "-A", "console", "worker"]
    # Alone on its broker: nobody to gossip with, and a second less until it is ready.
    alone = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return Part(
        name="worker",
        command=[*celery, "-P", "threads", "-c", "8", "-Q", "celery", *alone],
        environment=environment,
        log=log,
        prepare=mark.set,
        ready=mark.passed,
    )


def beat(var: Path, environment: Mapping[str, str]) -> Part:
    """The clock that rings for every tick."""
    log = var / "log" / "beat.log"
    mark = LogMark(log, " is starting.")
    celery = [sys.executable, "-m", "celery", "-A", "console", "beat"]
    return Part(
        name="beat",
        command=[*celery, "--schedule", str(var / "run" / "beat-schedule")],
        environment=environment,
        log=log,
        prepare=mark.set,
        ready=mark.passed,
    )


def answers(port: int, path: str) -> bool:
    """Say whether a page is served."""
    connection = http.client.HTTPConnection(HOST, port, timeout=SECONDS_TO_ANSWER)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
