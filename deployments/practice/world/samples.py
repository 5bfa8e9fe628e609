"""What the program in each sample image is.

Which images there are, and their digests, is in `images`.
"""

from __future__ import annotations

from deployments.practice import images
from deployments.practice.world.kubelet.images import Image

PAUSE = "pause"


def sample(host: str, repository: str, version: str) -> Image | None:
    """Return a sample image by tag or digest; every registry that answers has the same ones."""
    del host
    manifest = images.find(repository, version)
    if manifest is None:
        return None
    if manifest.tag == PAUSE:
        return Image(manifest.digest, command=(PAUSE,))
    return Image(manifest.digest, env={"VERSION": manifest.tag})
