"""The API server's sockets: requests in, responses and watch lines out."""

from __future__ import annotations

import select
import socket
import sys
import traceback
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from deployments.practice import errors
from deployments.practice.access import Users
from deployments.practice.discovery import HEALTH_PATHS
from deployments.practice.handlers import Api
from deployments.practice.httpd import Handler, Server
from deployments.practice.requestlog import RequestLog
from deployments.practice.requests import Request, Response, error_response

LARGEST_BODY = 3 * 1024 * 1024
OPEN_PATHS = (*HEALTH_PATHS, "/version")


class ApiServer(Server):
    """The API over HTTP. `log` may be None."""

    def __init__(self, port: int, api: Api, users: Users, log: RequestLog | None) -> None:
        self.api = api
        self.users = users
        self.log = log
        super().__init__(port, ApiHandler)


class ApiHandler(Handler):
    """One connection of a client."""

    server: ApiServer
    server_version = "practice-cluster"

    def answer(self) -> None:
        body = self._body()
        response = self._response(body)
        if response.lines is None:
            headers = {"Content-Type": response.media_type, **response.headers}
            self._log(response.code)
            self.send_whole(response.code, response.body, headers)
        else:
            self._log(response.code)
            self._stream(response.lines)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - names of the base class

    def _body(self) -> bytes | None:
        """Return the body, None when it is larger than the real one accepts."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST_BODY:
            self.close_connection = True
            return None
        return self.rfile.read(length)

    def _response(self, body: bytes | None) -> Response:
        try:
            if body is None:
                return error_response(errors.too_large(LARGEST_BODY))
            return self.server.api.respond(self._request(body), self._ended)
        except errors.ApiError as error:
            return error_response(error)
        except Exception as error:  # noqa: BLE001 - a bug answers 500 as the real one does, and shows
            traceback.print_exc(file=sys.stderr)
            return error_response(errors.internal(f"{type(error).__name__}: {error}"))

    def _request(self, body: bytes) -> Request:
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        # By the usual spelling, whatever the client's: `content-type` is `Content-Type`.
        headers = {name.title(): value for name, value in self.headers.items()}
        users = self.server.users
        if path in OPEN_PATHS:
            return Request(self.command, path, query, headers, body)
        user = users.authenticate(self.headers.get("Authorization", ""))
        return Request(self.command, path, query, headers, body, user)

    def _stream(self, lines: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for line in lines:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _ended(self) -> bool:
        """Whether the server stops or this client has gone away."""
        if self.server.stopping.is_set():
            return True
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _log(self, code: int) -> None:
        if self.server.log is not None:
            agent = self.headers.get("User-Agent", "-")
            now = self.server.api.store.clock()
            self.server.log.write(now, self.command, self.path, code, agent)
