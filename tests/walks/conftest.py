"""A cluster of values in the place of the real one, and a registry that knows every tag."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deployments.agent import clients, registry
from deployments.domain.images import ImageReference
from deployments.models import Slot
from deployments.reads.clock import database_now
from tests.factories import DIGEST, make_installation, make_slot
from tests.walks.fake_cluster import FakeCluster, as_cluster


@pytest.fixture
def cluster(db: None, monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    """The only cluster, whichever is asked for."""
    make_installation()
    # Leases are judged by the database's clock: the test's runs ahead of it and never behind.
    fake = FakeCluster(now=database_now())

    def of_cluster(_: int) -> object:
        return as_cluster(fake)

    monkeypatch.setattr(clients, "of_cluster", of_cluster)
    return fake


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Let the registry answer a digest, or raise, for every tag."""

    def answer(with_what: object) -> None:
        def resolve(_: ImageReference) -> str:
            if isinstance(with_what, Exception):
                raise with_what
            return str(with_what)

        monkeypatch.setattr(registry, "resolve", resolve)

    answer(DIGEST)
    return answer


@pytest.fixture
def slot(cluster: FakeCluster, answers: object) -> Slot:
    """A service that was never deployed."""
    return make_slot()
