"""What `make up` starts, in which order, and what it leaves in var/ for others to use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console import embedded
from console.up import environment, parts, ports, screen
from console.up.files import write_private
from console.up.supervisor import Interrupted, PartFailed, Supervisor

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Stack:
    """Everything that is decided before the first program starts."""

    var: Path
    ports: dict[str, int]
    postgres: embedded.Postgres
    valkey: embedded.Valkey
    environment: dict[str, str]
    cluster: Path | None  # a kubeconfig of a cluster to register beside the practice one

    @property
    def url(self) -> str:
        return f"http://{ports.HOST}:{self.ports['pages']}/"

    @property
    def registry(self) -> str:
        return f"{ports.HOST}:{self.ports['registry']}"


def plan(var: Path, *, chosen: dict[str, int], cluster: Path | None) -> Stack:
    """Return the stack for this folder; writes var/up.env, with which manage.py reaches it."""
    postgres = embedded.Postgres(var / "postgres", var / "log" / "postgres.log")
    valkey = embedded.Valkey(var / "valkey", var / "log" / "valkey.log")
    own = environment.own(
        var,
        database_url=postgres.url,
        redis_url=valkey.url,
        registry=f"{ports.HOST}:{chosen['registry']}",
        surroundings=os.environ,
    )
    write_private(var / "up.env", environment.as_lines(own))
    everything = environment.inherited(os.environ) | own
    return Stack(var, chosen, postgres, valkey, everything, cluster)


def start(stack: Stack, supervisor: Supervisor) -> None:
    """Start every part; the pages answer when this returns.

    Raises PartFailed with the log's name, Interrupted when asked to stop meanwhile.
    """
    var, variables = stack.var, stack.environment
    postgres, valkey = (parts.server(one, variables) for one in (stack.postgres, stack.valkey))
    practice = parts.practice(
        var, variables, port=stack.ports["practice"], registry_port=stack.ports["registry"]
    )
    pages = parts.pages(var, variables, port=stack.ports["pages"])
    worker, beat = parts.worker(var, variables), parts.beat(var, variables)

    for part in (postgres, valkey, practice):
        supervisor.begin(part)
    supervisor.wait(postgres)
    supervisor.wait(valkey)
    _run_to_its_end(stack, supervisor, "migrate", ["--no-input"])
    for part in (pages, worker, beat):
        supervisor.begin(part)
    for part in (pages, practice, worker, beat):
        supervisor.wait(part)


def fill(stack: Stack, supervisor: Supervisor) -> dict[str, Any]:
    """Deploy the demonstration project through the product, and return what var/up.json holds."""
    demo = stack.var / "demo.json"
    try:
        _run_to_its_end(stack, supervisor, "seed_demo", _wishes(stack, demo))
    except PartFailed as failure:
        if not demo.exists():
            raise
        # Who was known before can still log in, and the console itself shows what is wrong.
        supervisor.say(str(failure))
        print(screen.tail(_log(stack, "seed_demo")))
    up: dict[str, Any] = json.loads(demo.read_text())
    up |= {"url": stack.url, "registry": stack.registry}
    write_private(stack.var / "up.json", json.dumps(up, indent=2) + "\n")
    return up


def _wishes(stack: Stack, demo: Path) -> list[str]:
    kubeconfig = stack.var / "practice" / "kubeconfig.yaml"
    cluster = ["--cluster", str(stack.cluster)] if stack.cluster else []
    practice = ["--practice", str(kubeconfig), "--registry", stack.registry]
    return ["--output", str(demo), *practice, *cluster]


def _run_to_its_end(stack: Stack, supervisor: Supervisor, verb: str, options: list[str]) -> None:
    """Run one of manage.py's commands while everything else is looked after."""
    log = _log(stack, verb)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), verb, *options],
            env=stack.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    with supervisor.errand(verb, process.pid):
        supervisor.watch(until=lambda: process.poll() is not None)
    if supervisor.asked_to_stop.is_set():
        process.kill()
        process.wait()
        raise Interrupted
    if process.returncode != 0:
        raise PartFailed(f"{verb} did not work; see {log}", log)
    supervisor.say(f"{verb}: done")


def _log(stack: Stack, verb: str) -> Path:
    return stack.var / "log" / f"{verb}.log"
