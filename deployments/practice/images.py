"""The images of the practice cluster: one repository, `sample`, with real manifests and digests.

They hold no program: what a container of theirs does is the world's matter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deployments.practice.jsons import Json

REPOSITORY = "sample"
TAGS = ("1", "2", "3", "4", "5", "6", "pause")
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
LOCAL_HOSTS = ("127.0.0.1", "localhost")


@dataclass(frozen=True)
class Manifest:
    """What a registry stores for one tag; `digest` is that of `body`."""

    tag: str
    body: bytes
    config: bytes
    layer: bytes

    @property
    def digest(self) -> str:
        return digest_of(self.body)


def digest_of(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _manifest(tag: str) -> Manifest:
    layer = f"{REPOSITORY}:{tag}\n".encode()
    run = {
        "User": "65532",
        "Env": [f"VERSION={tag}"],
        "Entrypoint": ["/sample"],
        "Cmd": ["pause" if tag == "pause" else "serve"],
    }
    layers = {"type": "layers", "diff_ids": [digest_of(layer)]}
    config = _json({"architecture": "amd64", "os": "linux", "config": run, "rootfs": layers})
    body = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": _descriptor(CONFIG_TYPE, config),
            "layers": [_descriptor(LAYER_TYPE, layer)],
        }
    )
    return Manifest(tag, body, config, layer)


def _json(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "size": len(content), "digest": digest_of(content)}


MANIFESTS: Mapping[str, Manifest] = {tag: _manifest(tag) for tag in TAGS}
BLOBS: Mapping[str, bytes] = {
    digest_of(content): content
    for manifest in MANIFESTS.values()
    for content in (manifest.config, manifest.layer)
}


def find(repository: str, version: str) -> Manifest | None:
    """Return the manifest of a tag or digest, None when there is none."""
    if repository != REPOSITORY:
        return None
    by_digest = (found for found in MANIFESTS.values() if found.digest == version)
    return MANIFESTS.get(version) or next(by_digest, None)


def resolve(reference: str) -> str | None:
    """Return the digest that a reference stands for, None when the practice registry has none.

    A reference is `127.0.0.1:5000/sample:1`, `localhost:5000/sample@sha256:...`; any port will do.
    """
    host, _, rest = reference.partition("/")
    if host.partition(":")[0] not in LOCAL_HOSTS:
        return None
    name, _, digest = rest.partition("@")
    repository, _, tag = name.partition(":")
    found = find(repository, digest or tag or "latest")
    return found.digest if found is not None else None
