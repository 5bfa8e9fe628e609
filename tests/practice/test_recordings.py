"""The practice cluster goes through every recorded walk as the real one did: the proof that it
imitates.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from difflib import unified_diff

import pytest

from deployments.practice.cluster import PracticeCluster
from tests.recordings.client import Address, Obj
from tests.recordings.record import FOLDER, as_text, name_of, walked
from tests.recordings.walks import WALKS, Walk

# A walk is filmed by asking again and again. On a busy machine two questions can lie so far apart
# that a moment between them is missed, as on the real cluster: then it is filmed anew.
MOST_FILMS = 3


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Obj]]]:
    """All walks side by side: the longest waits for the next full minute."""
    folder = tmp_path_factory.mktemp("practice")
    with PracticeCluster(folder) as cluster, ThreadPoolExecutor(len(WALKS)) as pool:
        yield {name_of(walk): pool.submit(_filmed, walk, cluster) for walk in WALKS}


def _filmed(walk: Walk, cluster: PracticeCluster) -> Obj:
    """Return a film of the walk: one that reads as recorded, or the last one that was made."""
    recorded = _recorded(walk)
    address = Address(cluster.url, cluster.token)
    for _ in range(MOST_FILMS):
        seen = walked(walk, address, cluster.registry_host)
        if as_text(seen) == recorded:
            break
    return seen


def _recorded(walk: Walk) -> str:
    return (FOLDER / f"{name_of(walk)}.json").read_text()


@pytest.mark.parametrize("walk", WALKS, ids=name_of)
def test_a_walk_reads_as_on_the_real_cluster(walk: Walk, walks: dict[str, Future[Obj]]) -> None:
    recorded = _recorded(walk)

    seen = walks[name_of(walk)].result(timeout=400)

    assert as_text(seen) == recorded, _difference(recorded, as_text(seen))


def _difference(recorded: str, seen: str) -> str:
    lines = unified_diff(recorded.splitlines(), seen.splitlines(), "real", "practice", lineterm="")
    return "\n".join(["", *lines])
