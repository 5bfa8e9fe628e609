"""One `make up` at a time: a second one is told who the first is; a dead one bars nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from console.up import lock


def test_a_second_holder_is_told_who_the_first_is(tmp_path: Path) -> None:
    path = tmp_path / "up.lock"

    with lock.held(path), pytest.raises(lock.AlreadyRunning) as refused, lock.held(path):
        pass

    assert refused.value.pid == os.getpid()


def test_the_lock_of_a_killed_holder_is_free(tmp_path: Path) -> None:
    path = tmp_path / "up.lock"
    program = f"""
import os, signal
from pathlib import Path
from console.up import lock
with lock.held(Path({str(path)!r})):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False)

    assert ended.returncode == -signal.SIGKILL
    assert lock.holder(path) is None
