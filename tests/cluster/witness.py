"""Somebody outside who asks a service again and again, and somebody who counts who is behind it.

Neither knows of the agent: what they saw is all that counts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from deployments.agent.cluster import Unreachable
from deployments.domain import names
from tests.cluster.product import Product

PAUSE_SECONDS = 0.05
SAMPLE_SECONDS = 0.1
ENDPOINT_SLICES = ("apis", "discovery.k8s.io", "v1", "namespaces")


@dataclass
class Heard:
    """What a client got, in order: (when, service, status and the beginning of the body)."""

    answers: list[tuple[float, str, str]] = field(default_factory=list)

    def faults(self, since: float = 0.0) -> list[tuple[float, str, str]]:
        """Return what was no good answer, from a moment on."""
        return [answer for answer in self.answers if answer[0] >= since and answer[2][:3] != "200"]


@dataclass
class Counted:
    """Who was behind a Service, sample by sample: (when, the releases of its ready endpoints)."""

    samples: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)

    def empty(self, since: float = 0.0) -> list[float]:
        """Return the moments without a ready endpoint, from a moment on."""
        return [when for when, releases in self.samples if when >= since and not releases]

    def releases(self) -> list[tuple[str, ...]]:
        """Return which releases were behind it, each change once."""
        found = [tuple(sorted(set(releases))) for _, releases in self.samples]
        return [now for before, now in zip([None, *found], found, strict=False) if before != now]


@contextmanager
def asking(product: Product, *services: str) -> Iterator[Heard]:
    """Ask these services through their stable Services, one request after another."""
    heard = Heard()

    def ask() -> None:
        for service in services:
            heard.answers.append((time.monotonic(), service, _ask(product, service)))

    with again_and_again(ask, PAUSE_SECONDS):
        yield heard


def _ask(product: Product, service: str) -> str:
    path = ("services", f"http:{service}:80", "proxy", "")
    namespace = product.environment.namespace
    try:
        answer = product.on.api.get(("api", "v1", "namespaces", namespace, *path))
    except Unreachable as silence:
        return f"nobody: {silence}"
    return f"{answer.status} {answer.body[:200].decode(errors='replace')}"


@contextmanager
def counting(product: Product, service: str = "web") -> Iterator[Counted]:
    """Sample every 100 ms which releases' pods are ready behind the stable Service."""
    counted = Counted()

    def count() -> None:
        counted.samples.append((time.monotonic(), tuple(_behind(product, service))))

    with again_and_again(count, SAMPLE_SECONDS):
        yield counted


def _behind(product: Product, service: str) -> Iterator[str]:
    namespace = product.environment.namespace
    of_service = f"kubernetes.io/service-name={service}"
    for found in product.on.api.objects(
        (*ENDPOINT_SLICES, namespace, "endpointslices"), of_service
    ):
        for endpoint in found.get("endpoints") or []:
            if endpoint["conditions"].get("ready", True):
                yield _release_of(endpoint["targetRef"]["name"])


def _release_of(pod: str) -> str:
    # A pod of `web--web-r2` is called `web--web-r2-<hash>-<five letters>`.
    return names.release_tag(int(pod.rsplit("-", 2)[0].rsplit("-r", 1)[1]))


@contextmanager
def again_and_again(do: Callable[[], None], pause: float) -> Iterator[None]:
    """Do something in a thread of its own until the block ends."""
    over = threading.Event()
    problems: list[Exception] = []

    def run() -> None:
        while not over.is_set():
            try:
                do()
            except Exception as problem:  # noqa: BLE001 - told to the test, in its own thread
                problems.append(problem)
            over.wait(pause)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=30)
    assert not problems, problems
