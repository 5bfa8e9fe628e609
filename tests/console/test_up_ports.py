"""Ports of `make up`: a busy one is named and the next free one taken; the rest is remembered."""

from __future__ import annotations

import socket
from argparse import ArgumentTypeError
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
    assert f"Port {busy} is in use; pages: port {chosen['pages']} instead." in said


def test_the_ports_of_the_practice_cluster_stay_those_that_are_stored(tmp_path: Path) -> None:
    free = ports.next_free(23000, taken=set())
    (tmp_path / "ports.json").write_text(f'{{"practice": {free}}}')

    chosen = ports.choose(tmp_path / "ports.json", pages=None, say=lambda _: None)

    assert chosen["practice"] == free


def test_no_port_is_given_twice(tmp_path: Path) -> None:
    wanted = ports.WANTED["practice"]

    chosen = ports.choose(tmp_path / "ports.json", pages=wanted, say=lambda _: None)

    assert len(set(chosen.values())) == len(chosen)


@pytest.mark.parametrize("text", ["1", "8000", "65535"])
def test_a_port_is_a_number_that_there_is(text: str) -> None:
    assert ports.number(text) == int(text)


@pytest.mark.parametrize("text", ["0", "-1", "65536", "9" * 5000, "http", "", "80 ", "\u0661"])
def test_what_is_no_port_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="a port is a number from 1 to 65535"):
        ports.number(text)


def test_nothing_is_looked_for_behind_the_last_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda _port: False)

    with pytest.raises(SystemExit, match="No port is free between 65500 and 65535"):
        ports.next_free(65500, taken=set())
