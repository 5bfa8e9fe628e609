"""A small HTTP server that answers as a test tells it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest


@dataclass
class Reply:
    """One answer. `promised` is its Content-Length where that is to be a lie."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0
    promised: int | None = None


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]


@dataclass
class Server:
    """`answer` decides; `asked` is what was asked so far."""

    host: str = ""
    asked: list[Asked] = field(default_factory=list)
    answer: Callable[[Asked], Reply] = lambda _: Reply(404)

    @property
    def url(self) -> str:
        return f"http://{self.host}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    state: ClassVar[Server]

    def _any(self) -> None:
        asked = Asked(self.command, self.path, dict(self.headers.items()))
        self.state.asked.append(asked)
        reply = self.state.answer(asked)
        time.sleep(reply.delay)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        length = len(reply.body) if reply.promised is None else reply.promised
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
        self.close_connection = reply.promised is not None

    do_GET = do_HEAD = do_POST = do_PATCH = do_DELETE = _any  # noqa: N815 - http.server's names

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args: object) -> None:
        """A client that goes away in the middle is what some tests are about."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on a free port of this machine."""
    state = Server()
    handler = type("Handler", (_Handler,), {"state": state})
    http = _Http(("127.0.0.1", 0), handler)
    state.host = f"127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield state
    http.shutdown()
    http.server_close()
