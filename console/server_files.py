"""Where a server of ours keeps its files and its socket, and as whom it runs when we are root."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from functools import cache
from pathlib import Path

LONGEST_SOCKET_PATH = 107  # bytes in sockaddr_un, without the zero at the end
UNPRIVILEGED_ID = 65534  # `nobody`; only where root may not make a user namespace


class ServerFailed(Exception):
    """A server did not start or did not stop; the message names its log or its directory."""


def short_directory(wanted: Path, socket_name: str) -> Path:
    """Return the directory for a socket: the wanted one, or a short one if that is too long."""
    if len(os.fsencode(wanted / socket_name)) <= LONGEST_SOCKET_PATH:
        return wanted
    mark = hashlib.sha256(os.fsencode(wanted)).hexdigest()[:12]
    short = Path(tempfile.gettempdir()) / f"pilothouse-{os.getuid()}-{mark}"
    if len(os.fsencode(short / socket_name)) > LONGEST_SOCKET_PATH:
        raise ServerFailed(
            f"No room for a Unix socket: {wanted} and the temporary directory {short.parent}"
            f" are both too long (a socket's path has at most {LONGEST_SOCKET_PATH} bytes)."
        )
    return short


def private_directory(path: Path) -> None:
    """Make a directory for our eyes only; one in its place that is not ours is refused."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {os.getuid(), _server_uid()}:
        raise ServerFailed(f"{path} belongs to somebody else; move it away.")
    path.chmod(0o700)


def _server_uid() -> int:
    return UNPRIVILEGED_ID if "--reuid" in unprivileged() else os.getuid()


def give_to_server_user(*paths: Path) -> None:
    """PostgreSQL wants to own its files; a no-op unless it runs under another user."""
    if _server_uid() == os.getuid():
        return
    for path in paths:
        for found in (path, *path.rglob("*")):
            os.chown(found, UNPRIVILEGED_ID, UNPRIVILEGED_ID, follow_symlinks=False)


@cache
def unprivileged() -> tuple[str, ...]:
    """Return the words before a program that refuses to run as root; none for ordinary users.

    A user namespace keeps the files root's. Where those are forbidden the server runs as `nobody`,
    with leave to read (the project may lie below /root), and owns its data.
    """
    if os.getuid() != 0:
        return ()
    namespace = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
    if _works(namespace):
        return namespace
    other = ("setpriv", "--reuid", str(UNPRIVILEGED_ID), "--regid", str(UNPRIVILEGED_ID))
    reading = ("--clear-groups", "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    if _works((*other, *reading)):
        return (*other, *reading)
    raise ServerFailed("PostgreSQL does not run as root: log in as an ordinary user.")


def _works(words: tuple[str, ...]) -> bool:
    if shutil.which(words[0]) is None:
        return False
    return subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
