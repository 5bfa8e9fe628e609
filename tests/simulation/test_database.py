"""Sixty lives of a deployment through the product's own actions, loop and database."""

from __future__ import annotations

import pytest
from django.db import transaction

from tests.simulation.database import Database
from tests.simulation.events import sequence
from tests.simulation.oracle import Violation
from tests.simulation.play import Play
from tests.simulation.test_found import FOUND

pytestmark = pytest.mark.django_db

# Others than those that are played in memory.
FIRST_SEED = 100_000
SEEDS = 60
IN_A_TEST = 10
MOST_EVENTS = 7


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + SEEDS, IN_A_TEST))
def test_no_sequence_breaks_a_rule_in_the_database(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(first, first + IN_A_TEST):
        events = sequence(seed)[:MOST_EVENTS]
        with monkeypatch.context() as patch, transaction.atomic():
            try:
                Play(Database(patch)).run(events)
            except Violation as violation:
                pytest.fail(f"seed {seed}: {violation}\n{events!r}", pytrace=False)
            transaction.set_rollback(True)


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_stays_mended_in_the_database(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Play(Database(monkeypatch)).run(FOUND[name])
