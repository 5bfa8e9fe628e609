"""HTTP servers on 127.0.0.1 in threads, for the API and the registry alike."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCALHOST = "127.0.0.1"


class PortTaken(Exception):
    """Somebody else listens on the port that was asked for."""


class Handler(BaseHTTPRequestHandler):
    """Keep-alive, and one write per response."""

    protocol_version = "HTTP/1.1"
    # Buffered: headers and body in two segments cost 44 ms each request (delayed acknowledgement).
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base names it so
        """Say nothing on the terminal."""

    def send_whole(self, code: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    """A server that can be stopped although clients keep their connections."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, port: int, handler: type[Handler]) -> None:
        """Listen on `port` (0: a free one). Raises PortTaken with the port in its text."""
        self.stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        try:
            super().__init__((LOCALHOST, port), handler)
        except OSError as error:
            message = f"port {port} on {LOCALHOST} cannot be used: {error.strerror}"
            raise PortTaken(message) from error
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.stopping.set()
        if self._thread.is_alive():
            self.shutdown()
        self.server_close()
        # As with a process that ends: who kept a connection must not be answered by a dead server.
        for connection in self._connections.copy():
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        """Accept a connection, and remember it until it is closed."""
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Close a connection."""
        if isinstance(request, socket.socket):
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that goes away in the middle is usual for watches."""
