"""What a tick asks the workers for."""

from __future__ import annotations

import pytest

from deployments import queue, tasks
from tests.factories import make_cluster, make_environment, make_organization, make_project


@pytest.mark.django_db
def test_every_tick_tells_the_workers_whose_looks_to_take_before_it_asks_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project, cluster = make_project(make_organization("harbor"), "shop"), make_cluster("practice")
    make_environment(project, "production", cluster=cluster, namespace="shop-production")
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr(queue, "listen_to", lambda pk: asked.append(("listen", pk)))
    monkeypatch.setattr(queue, "look_now", lambda pk: asked.append(("look", pk)))

    tasks.tick()
    tasks.tick()

    assert asked == [("listen", cluster.pk), ("look", cluster.pk)] * 2
