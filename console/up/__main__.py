"""`python -m console.up` and `python -m console.up down`, as the Makefile calls them."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from console.server_files import ServerFailed
from console.up import lock, ports, screen, stack
from console.up.supervisor import Interrupted, PartFailed, Supervisor, stop_leftovers

STOP_SECONDS = 60.0


def main() -> int:
    arguments = _arguments()
    try:
        return _run(arguments)
    except (ServerFailed, OSError) as failure:  # a full or a read-only disk, mostly
        print(f"Pilothouse could not go on: {failure}")
        return 1


def _run(arguments: argparse.Namespace) -> int:
    var = arguments.var.resolve()
    for directory in (var, var / "log", var / "run"):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if arguments.verb == "down":
        return down(var)
    try:
        with lock.held(var / "up.lock"):
            return up(var, port=arguments.port, cluster=_absolute(arguments.cluster))
    except lock.AlreadyRunning as other:
        print(f"Pilothouse runs here already (process {other.pid}); `make down` stops it.")
        return 1


def up(var: Path, *, port: int | None, cluster: Path | None) -> int:
    """Run everything until somebody asks to stop; 1 when a part could not start."""
    say = screen.stopwatch()
    supervisor = Supervisor(say, record=var / "run" / "parts.json")
    for asked in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(asked, lambda *_: supervisor.asked_to_stop.set())
    stop_leftovers(supervisor.record, say=say)
    try:
        planned = stack.plan(
            var, chosen=ports.choose(var / "ports.json", pages=port, say=say), cluster=cluster
        )
        stack.start(planned, supervisor)
        say(f"The pages answer at {planned.url}; the demonstration project is next")
        filled = stack.fill(planned, supervisor)
        print(screen.welcome(filled, var=var, cluster=planned.cluster), flush=True)
        supervisor.watch(until=lambda: False)
    except Interrupted:
        pass
    except PartFailed as failure:
        say(str(failure))
        print(screen.tail(failure.log), flush=True)
        return 1
    finally:
        (var / "up.json").unlink(missing_ok=True)
        say("Stopping")
        supervisor.stop()
        say("Everything that was started here has stopped")
    return 0


def down(var: Path) -> int:
    """Stop the `up` of this folder, or what one that was killed left behind."""
    pid = lock.holder(var / "up.lock")
    if pid is None:
        stop_leftovers(var / "run" / "parts.json", say=print)
        print("Pilothouse is not running here.")
        return 0
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if not lock.wait_until_free(var / "up.lock", seconds=STOP_SECONDS):
        print(f"Process {pid} has not stopped after {STOP_SECONDS:.0f} s.")
        return 1
    print("Pilothouse has stopped; its data stays in", var)
    return 0


def _absolute(path: Path | None) -> Path | None:
    return path and path.expanduser().absolute()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m console.up", description=__doc__)
    parser.add_argument("verb", nargs="?", choices=["up", "down"], default="up")
    parser.add_argument("--var", type=Path, default=stack.ROOT / "var", help="where data stays")
    parser.add_argument("--port", type=ports.number, help="the first port to try for the pages")
    parser.add_argument("--cluster", type=Path, help="a kubeconfig of your own cluster")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
