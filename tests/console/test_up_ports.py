"""Ports of `make up`: a busy one is named and the next free one taken; the rest is remembered."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.up import ports


@pytest.fixture
def busy() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind((ports.HOST, 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_busy_port_is_named_and_the_next_free_one_taken(busy: int, tmp_path: Path) -> None:
    said: list[str] = []

    chosen = ports.choose(tmp_path / "ports.json", pages=busy, say=said.append)

    assert chosen["pages"] > busy
    assert f"Port {busy} is in use; the pages listen on {chosen['pages']} instead." in said


def test_the_ports_of_the_practice_cluster_stay_those_that_are_stored(tmp_path: Path) -> None:
    free = ports.next_free(23000, taken=set())
    (tmp_path / "ports.json").write_text(f'{{"practice": {free}}}')

    chosen = ports.choose(tmp_path / "ports.json", pages=None, say=lambda _: None)

    assert chosen["practice"] == free


def test_no_port_is_given_twice(tmp_path: Path) -> None:
    wanted = ports.WANTED["practice"]

    chosen = ports.choose(tmp_path / "ports.json", pages=wanted, say=lambda _: None)

    assert len(set(chosen.values())) == len(chosen)
