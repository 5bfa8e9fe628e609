"""The simulation is worth something: each wrong rule that is put in is found, and made small."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deployments.domain.errors import IllegalMove
from tests.simulation import events as words
from tests.simulation.events import Cancel, Deploy, Event, Hold, Looks, Point, sequence
from tests.simulation.faults import FAULTS, skip_the_fence
from tests.simulation.memory import Memory
from tests.simulation.oracle import Violation
from tests.simulation.play import Play
from tests.simulation.shrink import shrink

TRIED = 300


def is_broken(events: tuple[Event, ...]) -> bool:
    """Whether a sequence shows that something is wrong."""
    try:
        Play(Memory()).run(events)
    except (Violation, IllegalMove):
        return True
    return False


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_wrong_rule_is_found(
    fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)

    found = next((seed for seed in range(TRIED) if is_broken(sequence(seed))), None)

    assert found is not None, f"{fault.__doc__} Nothing showed it in {TRIED} sequences."


def test_a_found_sequence_is_made_as_short_as_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_the_fence(monkeypatch)
    late = Hold(Point.TRAFFIC, 0, (Cancel(), Looks(8)), lost=True, guarded=False)
    long = (Deploy(), Looks(20), Looks(3), Deploy(), late, Looks(5))

    small = shrink(long, is_broken)

    assert is_broken(small)
    assert len(small) < len(long)
    assert any(isinstance(event, Hold) for event in small)


def test_a_sequence_is_the_same_for_the_same_seed_and_can_be_copied_from_its_words() -> None:
    events = sequence(7)

    assert sequence(7) == events
    assert eval(repr(events), vars(words)) == events  # noqa: S307 - what we wrote ourselves
