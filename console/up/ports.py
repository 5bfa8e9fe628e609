"""Which ports `make up` uses: the wanted ones or the next free ones, and what it says then."""

from __future__ import annotations

import json
import socket
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

from console.up.files import write_private

HOST = "127.0.0.1"
TRIES = 50
HIGHEST = 65535
WANTED = {"pages": 8000, "practice": 8410, "registry": 8411}


def choose(remembered: Path, *, pages: int | None, say: Callable[[str], None]) -> dict[str, int]:
    """Return a free port for each purpose, as last time where possible.

    Images and kubeconfigs that are stored name the ports of the practice cluster, so these are
    remembered. `pages` is what a person asked for, None for no wish.
    """
    wanted = {**WANTED, **_read(remembered)}
    if pages is not None:
        wanted["pages"] = pages
    chosen: dict[str, int] = {}
    for purpose, port in wanted.items():
        chosen[purpose] = next_free(port, taken=set(chosen.values()))
        if chosen[purpose] != port:
            say(f"Port {port} is in use; {purpose}: port {chosen[purpose]} instead.")
    keep = {name: port for name, port in chosen.items() if name != "pages"}
    write_private(remembered, json.dumps(keep))
    return chosen


def number(text: str) -> int:
    """Return the port that a person wrote. Raises ArgumentTypeError with a sentence."""
    port = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(HIGHEST)) else 0
    if not 1 <= port <= HIGHEST:
        raise ArgumentTypeError(f"a port is a number from 1 to {HIGHEST}; this is {text!r}")
    return port


def next_free(port: int, *, taken: set[int]) -> int:
    """Return the first port from this one on that nobody listens on."""
    for candidate in range(port, min(port + TRIES, HIGHEST + 1)):
        if candidate not in taken and is_free(candidate):
            return candidate
    last = min(port + TRIES - 1, HIGHEST)
    raise SystemExit(f"No port is free between {port} and {last}; choose with PORT=.")


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers bind: a port that only lingers after a stop counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _read(remembered: Path) -> dict[str, int]:
    if not remembered.exists():
        return {}
    found: dict[str, int] = json.loads(remembered.read_text())
    return found
