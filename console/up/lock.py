"""One `make up` at a time in one folder: a lock that the kernel takes back when its holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class AlreadyRunning(Exception):
    """Somebody else holds the lock; `pid` is theirs."""

    def __init__(self, pid: int) -> None:
        super().__init__(pid)
        self.pid = pid


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock for the block. Raises AlreadyRunning at once when another process has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(_pid_in(path)) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def holder(path: Path) -> int | None:
    """Return the process that holds the lock, None when nobody does."""
    try:
        with held(path):
            return None
    except AlreadyRunning as running:
        return running.pid


def wait_until_free(path: Path, *, seconds: float) -> bool:
    """Return True as soon as nobody holds the lock, False when that takes too long."""
    deadline = time.monotonic() + seconds
    while holder(path) is not None:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _pid_in(path: Path) -> int:
    """The holder writes its pid right after it has the lock; 0 in the instant before."""
    return int(path.read_text() or 0)
