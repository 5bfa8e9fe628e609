"""Pulling images: which ones there are, and containerd's words when there is none.

Back-off is the container's matter.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

LOCAL_HOSTS = ("127.0.0.1", "localhost")
DOCKER_HUB = "docker.io"
DEFAULT_PORT = 80
REFERENCE = re.compile(
    r"(?:(?P<host>[a-zA-Z0-9.-]+(?::[0-9]+)?)/)?"
    r"(?P<path>[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)"
    r"(?::(?P<tag>[\w][\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


@dataclass(frozen=True)
class Image:
    """An image that a registry has: `command` is what runs when the pod says nothing."""

    digest: str
    size: int = 6298278
    env: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ("serve",)


@dataclass(frozen=True)
class Reference:
    """The parts of an image's name; `version` is the digest where there is one, else the tag."""

    text: str
    host: str
    repository: str
    version: str

    @property
    def without_version(self) -> str:
        return f"{self.host}/{self.repository}"


class InvalidName(Exception):
    """Not the name of an image; the text is what containerd says of it."""


class PullError(Exception):
    """The image could not be pulled; the text is containerd's."""


# (host with port, repository, tag or digest) -> the image, None when the registry has none.
Lookup = Callable[[str, str, str], Image | None]
# (host with port) -> what Go says when nobody answers there, empty when somebody does.
Reach = Callable[[str], str]


def parse(text: str) -> Reference:
    """Read an image reference. Raises InvalidName."""
    found = REFERENCE.fullmatch(text)
    if found is None:
        raise InvalidName(_why_invalid(text))
    host, path = found["host"] or "", found["path"]
    if host and "." not in host and ":" not in host and host != "localhost":
        host, path = "", f"{host}/{path}"
    if not host:
        host, path = DOCKER_HUB, path if "/" in path else f"library/{path}"
    return Reference(text, host, path, found["digest"] or found["tag"] or "latest")


def _why_invalid(text: str) -> str:
    lower = text.lower()
    if lower != text and REFERENCE.fullmatch(lower):
        name = text.partition("/")[2] or text
        repository = name.partition("@")[0].rpartition(":")[0] or name
        return f"invalid reference format: repository name ({repository}) must be lowercase"
    return "invalid reference format"


def invalid_name(text: str, problem: InvalidName) -> str:
    """Return the kubelet's sentence for a name that is none."""
    unread = f'couldn\'t parse image name "{text}"'
    return f'Failed to apply default image tag "{text}": {unread}: {problem}'


def pull(reference: Reference, lookup: Lookup, reach: Reach) -> Image:
    """Return the image. Raises PullError in containerd 1.6's words."""
    text = reference.text
    failed = f'failed to pull and unpack image "{text}": failed to resolve reference "{text}"'
    unreachable = reach(reference.host)
    if unreachable:
        address = f"{_base(reference)}/manifests/{reference.version}"
        raise PullError(f'{failed}: failed to do request: Head "{address}": {unreachable}')
    image = lookup(reference.host, reference.repository, reference.version)
    if image is None:
        raise PullError(f"rpc error: code = NotFound desc = {failed}: {text}: not found")
    return image


def _base(reference: Reference) -> str:
    host = "registry-1.docker.io" if reference.host == DOCKER_HUB else reference.host
    scheme = "http" if _is_local(reference.host) else "https"
    return f"{scheme}://{host}/v2/{reference.repository}"


def _is_local(host: str) -> bool:
    return host.partition(":")[0] in LOCAL_HOSTS


def reach_by_dialling(host: str) -> str:
    """Ask this machine whether a local registry listens; no other hosts are known."""
    name, _, port = host.partition(":")
    if not _is_local(host):
        registry = "registry-1.docker.io" if host == DOCKER_HUB else name
        return f"dial tcp: lookup {registry}: no such host"
    try:
        with socket.create_connection((name, int(port or DEFAULT_PORT)), timeout=0.5):
            return ""
    except OSError:
        return f"dial tcp 127.0.0.1:{port or DEFAULT_PORT}: connect: connection refused"
