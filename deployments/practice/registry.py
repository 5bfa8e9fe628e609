"""A small registry: the reading half of the OCI distribution API, in a real one's words."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote, urlsplit

from deployments.practice import images
from deployments.practice.httpd import Handler, Server
from deployments.practice.jsons import Json

JSON_TYPE = "application/json; charset=utf-8"
_NAME = r"(?P<name>[a-z0-9]+(?:[._/-][a-z0-9]+)*)"
_MANIFEST = re.compile(rf"^/v2/{_NAME}/manifests/(?P<reference>[\w.:-]+)$")
_BLOB = re.compile(rf"^/v2/{_NAME}/blobs/(?P<digest>sha256:[0-9a-f]{{64}})$")
_TAGS = re.compile(rf"^/v2/{_NAME}/tags/list$")


class Registry(Server):
    """Serves the images of `images`; nothing can be pushed."""

    def __init__(self, port: int) -> None:
        super().__init__(port, RegistryHandler)


class RegistryHandler(Handler):
    """One connection of a client."""

    server_version = "practice-registry"

    def answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path in ("/v2", "/v2/"):
            self._send(200, b"{}")
        elif path == "/v2/_catalog":
            self._json(200, {"repositories": [images.REPOSITORY]})
        elif found := _MANIFEST.match(path):
            self._manifest(found["name"], found["reference"])
        elif found := _BLOB.match(path):
            self._blob(found["name"], found["digest"])
        elif found := _TAGS.match(path):
            self._tags(found["name"])
        else:
            self._send(404, b"404 page not found\n", "text/plain; charset=utf-8")

    do_GET = do_HEAD = answer  # noqa: N815 - names of the base class

    def _manifest(self, name: str, reference: str) -> None:
        manifest = images.find(name, reference)
        if manifest is None:
            is_digest = reference.startswith("sha256:")
            detail = {"Name": name, "Revision": reference} if is_digest else {"Tag": reference}
            self._error("MANIFEST_UNKNOWN", "manifest unknown", detail)
            return
        self._content(manifest.body, images.MANIFEST_TYPE, manifest.digest)

    def _blob(self, name: str, digest: str) -> None:
        content = images.BLOBS.get(digest) if name == images.REPOSITORY else None
        if content is None:
            self._error("BLOB_UNKNOWN", "blob unknown to registry", digest)
            return
        self._content(content, "application/octet-stream", digest)

    def _tags(self, name: str) -> None:
        if name != images.REPOSITORY:
            self._error("NAME_UNKNOWN", "repository name not known to registry", {"name": name})
            return
        self._json(200, {"name": name, "tags": list(images.TAGS)})

    def _content(self, body: bytes, media_type: str, digest: str) -> None:
        self._send(200, body, media_type, {"Docker-Content-Digest": digest, "Etag": f'"{digest}"'})

    def _error(self, code: str, message: str, detail: Json) -> None:
        self._json(404, {"errors": [{"code": code, "message": message, "detail": detail}]})

    def _json(self, code: int, value: Json) -> None:
        self._send(code, json.dumps(value, separators=(",", ":")).encode())

    def _send(
        self,
        code: int,
        body: bytes,
        media_type: str = JSON_TYPE,
        headers: dict[str, str] | None = None,
    ) -> None:
        version = {"Docker-Distribution-Api-Version": "registry/2.0"}
        self.send_whole(code, body, {"Content-Type": media_type, **version, **(headers or {})})
