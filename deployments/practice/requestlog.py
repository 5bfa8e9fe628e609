"""A line for each request in `requests.log`, so that a test can see what a client wrote."""

from __future__ import annotations

import threading
from pathlib import Path

from deployments.practice.jsons import timestamp

NAME = "requests.log"
MOST_BYTES = 4 * 1024 * 1024


class RequestLog:
    """Lines of time, method, path with query, code and user agent. At most twice MOST_BYTES."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / NAME
        self._lock = threading.Lock()
        self._file = self._path.open("a", encoding="utf-8")

    def write(self, now: float, method: str, path: str, code: int, user_agent: str) -> None:
        line = f"{timestamp(now)} {method} {path} {code} {user_agent}\n"
        with self._lock:
            self._file.write(line)
            self._file.flush()
            if self._file.tell() > MOST_BYTES:
                self._begin_again()

    def _begin_again(self) -> None:
        self._file.close()
        self._path.replace(self._path.with_suffix(".log.1"))
        self._file = self._path.open("a", encoding="utf-8")

    def close(self) -> None:
        with self._lock:
            self._file.close()
