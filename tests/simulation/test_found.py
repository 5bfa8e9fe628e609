"""Sequences that once broke a rule, made short: what they found stays mended."""

from __future__ import annotations

import pytest

from tests.simulation.events import (
    Again,
    Cancel,
    DeleteByHand,
    Deploy,
    Die,
    EditService,
    Event,
    Hold,
    Ill,
    Image,
    Looks,
    Point,
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
    # Given up with the Service on r-1 already, the way back stopped r-1, which was ready again.
    "traffic stays on the previous release that recovers too late": (
        Deploy(),
        Looks(10),
        Deploy(),
        Cancel(),
        Looks(1),
        Die(Point.FENCE, 0),
        Ill(0.54, 90, one=True),
        Deploy(Image.FALLS),
        Looks(23),
        Ill(0.0, 90),
        Die(Point.FENCE, 2),
    ),
    # The release of a given-up way back was cleaned up while the Service selected it.
    "what the Service selects is not removed before traffic has moved": (
        Deploy(),
        Looks(12),
        Deploy(),
        Deploy(),
        Deploy(Image.FALLS),
        Looks(16),
        Ill(0.0, 90),
        Hold(Point.DELETE, 0, (), lost=True, guarded=False),
        Looks(5),
        Deploy(),
        Hold(Point.FENCE, 0, (Cancel(),), lost=True, guarded=True),
    ),
    # A stable Service deleted by hand counted as traffic that is still on what goes back.
    "a Service deleted by hand brings nothing cancelled back": (
        Deploy(),
        Looks(9),
        Deploy(),
        Hold(Point.FENCE, 2, (DeleteByHand(0.48), Cancel()), lost=True, guarded=True),
        DeleteByHand(0.98),
    ),
    # The second rollback's previous release was its own, and it waited for its own pods to go.
    "a rollback that follows a rollback to the same release comes to its end": (
        Deploy(),
        Looks(14),
        Deploy(),
        Looks(20),
        Again(0.0),
        Hold(Point.FENCE, 1, (Again(0.0),), lost=True, guarded=False),
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
