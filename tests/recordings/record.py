"""Record the walks on the cluster that PILOTHOUSE_TEST_KUBECONFIG names: `python -m
tests.recordings.record [walk ...]`.

The cluster may be filled and emptied, and its registry (PILOTHOUSE_TEST_REGISTRY, by default
127.0.0.1:5000) holds the sample images. Each walk has a namespace of its own, which is removed
afterwards.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.recordings.client import Address, Namespace, Obj, kubeconfig_of_surroundings
from tests.recordings.normalise import recording
from tests.recordings.walks import WALKS, Walk

FOLDER = Path(__file__).parent
REGISTRY = os.environ.get("PILOTHOUSE_TEST_REGISTRY", "127.0.0.1:5000")
# What follows the last step (an event that is written a moment later) belongs to the walk.
TAIL_SECONDS = 2.5
AT_ONCE = 2


def name_of(walk: Walk) -> str:
    return walk.__name__.replace("_", "-")


def walked(walk: Walk, address: Address, registry: str) -> Obj:
    """Walk in a fresh namespace and return what was seen, normalised."""
    # A namespace of the same name may still be on its way out.
    name = f"world-{name_of(walk)}-{secrets.token_hex(2)}"
    with Namespace(address, name) as space:
        walk(space, registry)
        time.sleep(TAIL_SECONDS)
        return recording(space.film)


def as_text(seen: Obj) -> str:
    """Return a recording as it is checked in, a value a line."""
    return json.dumps(seen, indent=1, sort_keys=True) + "\n"


def main(names: list[str]) -> None:
    """Record the named walks, or all of them."""
    kubeconfig = kubeconfig_of_surroundings()
    if kubeconfig is None:
        raise SystemExit("PILOTHOUSE_TEST_KUBECONFIG names no cluster to record on.")
    address = Address.from_kubeconfig(kubeconfig)

    def record(walk: Walk) -> None:
        seen = walked(walk, address, REGISTRY)
        (FOLDER / f"{name_of(walk)}.json").write_text(as_text(seen))
        sys.stdout.write(f"recorded {name_of(walk)}\n")

    chosen = [walk for walk in WALKS if not names or name_of(walk) in names]
    # A few at once: on a busy machine probes time out and the recording tells of that.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(record, chosen))


if __name__ == "__main__":
    main(sys.argv[1:])
