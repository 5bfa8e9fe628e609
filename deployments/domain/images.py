"""Image references: what a person types, completed to what is stored and what runs.

Resolving a tag to a digest asks a registry and is not here (see `agent/registry.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from deployments.domain.errors import Invalid

LONGEST_REFERENCE = 255
# With the slot's repository or the environment's registry in front.
LONGEST_COMPLETED = 400
FALLBACK_REGISTRY = "docker.io"
FALLBACK_TAG = "latest"
PORTS = range(1, 65536)

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?")
_COMPONENT = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class ImageReference:
    """A whole name: registry, repository, and a tag or a digest (or both: the digest counts)."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def name(self) -> str:
        """Return `<registry>/<repository>`."""
        return f"{self.registry}/{self.repository}"

    def __str__(self) -> str:
        """Return the full reference as it is stored and shown."""
        tag = f":{self.tag}" if self.tag else ""
        digest = f"@{self.digest}" if self.digest else ""
        return f"{self.name}{tag}{digest}"

    def at(self, digest: str) -> str:
        """Return what runs: `<registry>/<repository>@<digest>`."""
        return f"{self.name}@{digest}"


def complete(text: str, *, repository: str | None, default_registry: str | None) -> ImageReference:
    """Return the full reference for what a person gave (specification §6).

    `:tag` and `@digest` alone take the slot's image `repository`; a name without a registry takes
    the environment's `default_registry`, else docker.io. Raises Invalid with one sentence.
    """
    _check_text(text)
    if text[0] in ":@":
        text = _with_repository(text, repository)
    reference = parse(text, default_registry=default_registry or FALLBACK_REGISTRY)
    if len(str(reference)) > LONGEST_COMPLETED:
        raise _wrong(text, f"with its registry it has more than {LONGEST_COMPLETED} characters")
    return reference


def parse(text: str, *, default_registry: str) -> ImageReference:
    """Return the parts of a name. Raises Invalid, naming the part that is wrong."""
    name, _, digest = text.partition("@")
    if "@" in text and not _DIGEST.fullmatch(digest):
        raise _wrong(text, "a digest is sha256: and 64 characters of 0-9 and a-f")
    name, tag = _split_tag(name)
    if ":" in text.partition("@")[0][len(name) :] and not _TAG.fullmatch(tag):
        raise _wrong(text, "a tag has 1 to 128 letters, digits, _, . and -")
    reference = _split_registry(name, default_registry)
    _check_repository(text, reference)
    if not tag and not digest:
        return replace(reference, tag=FALLBACK_TAG)
    return replace(reference, tag=tag, digest=digest)


def repository_problem(name: str) -> str | None:
    """Return what is wrong with a slot's image repository (`registry/path`), or None."""
    try:
        _check_text(name)
        reference = parse(name, default_registry="")
    except Invalid as invalid:
        return str(invalid)
    if "@" in name or name != reference.name:
        return f"{name!r} is not a whole image repository, such as registry.example/shop/api."
    return None


def _check_text(text: str) -> None:
    if not text.strip():
        raise Invalid.field("/image", "An image is needed, such as shop/api:4.2 or :4.2.")
    if len(text) > LONGEST_REFERENCE:
        raise Invalid.field(
            "/image",
            f"An image reference has at most {LONGEST_REFERENCE} characters; this has {len(text)}.",
        )
    if any(character.isspace() or not character.isprintable() for character in text):
        raise Invalid.field("/image", f"{text!r} is no image reference: it contains spaces.")
    if "://" in text:
        raise Invalid.field(
            "/image", f"{text!r} is no image reference: leave out {text.partition('://')[0]}://."
        )


def _with_repository(text: str, repository: str | None) -> str:
    if not repository:
        raise Invalid.field(
            "/image",
            f"{text!r} needs the service's image repository, which is not set:"
            " give the whole name, or set it in the settings.",
        )
    return repository + text


def _split_tag(name: str) -> tuple[str, str]:
    head, colon, tail = name.rpartition(":")
    if not colon or "/" in tail:
        return name, ""
    return head, tail


def _split_registry(name: str, default_registry: str) -> ImageReference:
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return ImageReference(first, rest)
    return ImageReference(default_registry, name)


def _check_repository(text: str, reference: ImageReference) -> None:
    if reference.registry and not _is_registry(reference.registry):
        raise _wrong(text, f"{reference.registry!r} is no registry")
    parts = reference.repository.split("/")
    if not all(_COMPONENT.fullmatch(part) for part in parts):
        raise _wrong(text, "a repository consists of a-z, 0-9, and single ., _ or - between them")


def _is_registry(host: str) -> bool:
    port = host.partition(":")[2]
    return _HOST.fullmatch(host) is not None and int(port or "1") in PORTS


def _wrong(text: str, why: str) -> Invalid:
    return Invalid.field("/image", f"{text!r} is no image reference: {why}.")
