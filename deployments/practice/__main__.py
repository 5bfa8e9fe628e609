"""`python -m deployments.practice --dir DIR`: run the practice cluster until SIGTERM or Ctrl-C."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from deployments.practice.cluster import PracticeCluster
from deployments.practice.httpd import PortTaken
from deployments.practice.journal import StateInUse


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 after a clean stop, 1 when a port or the folder is taken."""
    options = _options(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stopping.set())
    try:
        cluster = PracticeCluster(
            options.dir, port=options.port, registry_port=options.registry_port
        )
    except (PortTaken, StateInUse) as error:
        sys.stderr.write(f"The practice cluster does not start: {error}.\n")
        return 1
    with cluster:
        _say_ready(cluster)
        stopping.wait()
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m deployments.practice", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="where its state is kept")
    parser.add_argument("--port", type=int, default=0, help="of the API; 0 takes a free one")
    parser.add_argument("--registry-port", type=int, default=0, help="of the registry, likewise")
    return parser.parse_args(arguments)


def _say_ready(cluster: PracticeCluster) -> None:
    sys.stdout.write(
        f"practice cluster ready: {cluster.url} registry {cluster.registry_host} "
        f"kubeconfig {cluster.kubeconfig_path}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
