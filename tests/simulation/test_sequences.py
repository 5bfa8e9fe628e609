"""Two thousand lives of a deployment, in memory: whatever happens, the manual's rules hold.

A failing seed is printed with the shortest sequence that still breaks the same rule; it belongs
into `test_found.py` once it is mended.
"""

from __future__ import annotations

import pytest

from tests.simulation.events import Event, sequence
from tests.simulation.memory import Memory
from tests.simulation.oracle import Violation
from tests.simulation.play import Play
from tests.simulation.shrink import shrink

SEEDS = 2_000
IN_A_TEST = 200


def broken_rule(events: tuple[Event, ...]) -> str:
    """Return the violation of a sequence, empty where there is none."""
    try:
        Play(Memory()).run(events)
    except Violation as violation:
        return str(violation)
    return ""


def report(seed: int, events: tuple[Event, ...], broken: str) -> str:
    """Return what a person needs to see the failure again."""
    rule = broken.split(":", maxsplit=1)[0]
    small = shrink(events, lambda found: broken_rule(found).startswith(rule))
    return f"seed {seed}: {broken}\nshortest: {small!r}\nwhich breaks {broken_rule(small)}"


@pytest.mark.parametrize("first", range(0, SEEDS, IN_A_TEST))
def test_no_sequence_breaks_a_rule_and_all_come_to_rest(first: int) -> None:
    for seed in range(first, first + IN_A_TEST):
        events = sequence(seed)
        broken = broken_rule(events)
        assert not broken, report(seed, events, broken)
