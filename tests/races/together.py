"""Real threads with connections of their own that begin in the same moment."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from django.db import connection

from deployments.domain.errors import Refused


def at_once(*actions: Callable[[], object]) -> list[object]:
    """Run these in threads that begin together; a refusal is returned in place of a result."""
    barrier = Barrier(len(actions))

    def run(action: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return action()
        except Refused as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as threads:
        return list(threads.map(run, actions))
