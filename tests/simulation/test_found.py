"""Sequences that once broke a rule, made short: what they found stays mended."""

from __future__ import annotations

import pytest

from tests.simulation.events import (
    Cancel,
    Deploy,
    EditService,
    Event,
    Image,
    Looks,
    Ruin,
    Shape,
    Silent,
    Wait,
)
from tests.simulation.memory import Memory
from tests.simulation.play import Play

FOUND: dict[str, tuple[Event, ...]] = {
    # r-1 falls in the look in which r-2's objects begin to go: r-2's Service was made again.
    "what goes back is not made again when the previous release falls": (
        Deploy(),
        Looks(15),
        Deploy(Image.FLAPS, Shape.COMMAND),
        Looks(13),
        Ruin(0.04),
        Cancel(older=True),
    ),
    # Putting the Service right took traffic from ready pods to a release that had none.
    "a Service edited by hand is put right once somebody is ready": (
        Deploy(),
        Looks(10),
        Deploy(Image.SAYS_NO, Shape.ALL),
        Looks(8),
        Silent(0.71),
        EditService(0.97),
        Wait(30),
    ),
    "a way back is given up though nobody is ready on either side": (
        Deploy(),
        Looks(15),
        Ruin(0.88),
        Deploy(),
        Looks(8),
        Ruin(0.54),
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_stays_mended(name: str) -> None:
    Play(Memory()).run(FOUND[name])
