"""The images that exist in the practice cluster: `sample:1` to `sample:6`, and `sample:pause`."""

from __future__ import annotations

import hashlib

from deployments.practice.world.kubelet.images import Image

VERSIONS = ("1", "2", "3", "4", "5", "6", "pause")


def digest_of(version: str) -> str:
    return "sha256:" + hashlib.sha256(f"sample:{version}".encode()).hexdigest()


def _image(version: str) -> Image:
    if version == "pause":
        return Image(digest_of(version), command=("pause",))
    return Image(digest_of(version), env={"VERSION": version})


BY_NAME = {version: _image(version) for version in VERSIONS}
BY_DIGEST = {image.digest: image for image in BY_NAME.values()}


def sample(host: str, repository: str, version: str) -> Image | None:
    """Return a sample image by tag or digest; every registry has the same ones."""
    del host
    if repository.rpartition("/")[2] != "sample":
        return None
    return BY_NAME.get(version) or BY_DIGEST.get(version)
