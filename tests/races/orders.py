"""Every order of the points of a race, or as many as were asked for, picked by a seed.

An order that a lock forbids does not come up: who waits for a lock cannot be chosen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.races.points import Acts, Conductor, Point, Stage, hooked, stage

TRIALS = int(os.environ.get("TRIALS", "100"))
SEED = 20

Results = Mapping[str, object]


@dataclass(frozen=True)
class Race:
    """What runs at once, and what has to be true of what each got when all are done."""

    acts: Acts
    check: Callable[[Results], None]


@dataclass(frozen=True)
class _Choice:
    chosen: str
    others: tuple[str, ...]


def play_all(prepare: Callable[[], Race], *, at: Sequence[Point]) -> int:
    """Run a race in every order of these points, at most TRIALS, and return how many there were.

    `prepare` makes the rows of one trial. Where there are fewer orders than TRIALS asks for in the
    environment, the rest are run without stopping anybody.
    """
    random = Random(SEED)
    open_orders: list[tuple[str, ...]] = [()]
    played = 0
    with stage() as threads, hooked(at):
        while open_orders and played < TRIALS:
            # Any of the open ones: the first hundred of many are then no hundred neighbours.
            order = open_orders.pop(random.randrange(len(open_orders)))
            taken = _play(prepare(), order, threads)
            open_orders += _branches(taken, len(order))
            played += 1
    if "TRIALS" in os.environ and not open_orders:
        _play_freely(prepare, TRIALS - played)
    return played


def _branches(taken: Sequence[_Choice], decided: int) -> list[tuple[str, ...]]:
    names = tuple(choice.chosen for choice in taken)
    return [
        (*names[:index], other)
        for index in range(decided, len(taken))
        for other in taken[index].others
    ]


def _play(race: Race, order: Sequence[str], threads: Stage) -> list[_Choice]:
    conductor = Conductor(race.acts, threads)
    taken: list[_Choice] = []
    try:
        conductor.begin()
        while standing := conductor.standing():
            wanted = order[len(taken)] if len(taken) < len(order) else standing[0]
            chosen = wanted if wanted in standing else standing[0]
            taken.append(_Choice(chosen, tuple(name for name in standing if name != chosen)))
            conductor.go(chosen)
        race.check({name: player.result for name, player in conductor.players.items()})
    except BaseException as error:
        error.add_note(_story(conductor, taken))
        raise
    finally:
        conductor.finish()
    return taken


def _story(conductor: Conductor, taken: Sequence[_Choice]) -> str:
    passed = {name: iter(player.passed[1:]) for name, player in conductor.players.items()}
    told = [f"{c.chosen} from {next(passed[c.chosen], '?')}" for c in taken]
    answers = [f"{name}: {player.result!r}" for name, player in conductor.players.items()]
    return "\n".join(["The order was:", *told, "The answers were:", *answers])


def _play_freely(prepare: Callable[[], Race], times: int) -> None:
    with stage() as threads:
        for _ in range(times):
            race = prepare()
            conductor = Conductor(race.acts, threads)
            try:
                for name in race.acts:
                    conductor.go(name)
                conductor.standing()
                race.check({name: p.result for name, p in conductor.players.items()})
            finally:
                conductor.finish()
