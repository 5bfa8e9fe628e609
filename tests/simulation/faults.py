"""Wrong rules, put in on purpose: each is one that the oracle has to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from deployments.domain import clocks, readiness, succession, traffic, upkeep, way_back
from deployments.domain.states import State
from deployments.domain.succession import Succession
from deployments.domain.upkeep import Disposition
from deployments.domain.wanted import Attempt, Wanted

Patch = pytest.MonkeyPatch


def _always(answer: object) -> Callable[..., object]:
    def said(*_: object, **__: object) -> object:
        return answer

    return said


def skip_the_fence(patch: Patch) -> None:
    """Nothing is written before traffic moves: a look that was held up is not refused."""
    patch.setattr(traffic, "fences", _always(()))


def stop_the_previous_early(patch: Patch) -> None:
    """The previous release goes down before it has drained."""
    patch.setattr(upkeep, "may_stop_previous", _always(True))


def ignore_a_verdict(patch: Patch) -> None:
    """What was found to be unready goes on as if nothing had been."""
    patch.setattr(Attempt, "goes_back", property(lambda a: a.past and _ended_badly(a)))


def _ended_badly(attempt: Attempt) -> bool:
    return not attempt.moving and attempt.state is not State.HEALTHY and not attempt.given_up


def forget_to_supersede(patch: Patch) -> None:
    """A newer deployment ends nobody."""
    patch.setattr(succession, "succeed", _always(Succession(ends=(), behind=None)))


def delete_a_retired_release(patch: Patch) -> None:
    """What is to be kept at zero goes."""
    right = upkeep.disposition

    def wrong(number: int | None, wanted: Wanted, runs: frozenset[int]) -> Disposition:
        found = right(number, wanted, runs)
        return Disposition.GO if found is Disposition.STOP else found

    patch.setattr(upkeep, "disposition", wrong)


def switch_with_nobody_ready(patch: Patch) -> None:
    """Traffic goes back before the previous release has come up."""
    patch.setattr(traffic, "may_switch", _always(True))


def never_give_up(patch: Patch) -> None:
    """A way back has no end."""
    patch.setattr(way_back, "_is_out_of_time", _always(False))


def count_unseen_time(patch: Patch) -> None:
    """A clock runs on while nobody can look."""
    right = clocks.run

    def wrong(*given: object, **_: object) -> object:
        return right(*given, longest_gap=timedelta(days=1))  # type: ignore[arg-type]

    patch.setattr(clocks, "run", wrong)


def clean_up_an_open_deployment(patch: Patch) -> None:
    """What a deployment prepares is taken for something left over."""
    right = upkeep.running

    def wrong(wanted: Wanted, seen: object) -> frozenset[int]:
        tested = wanted.before
        going = tested is not None and tested.state is State.QUALIFYING
        gone = {tested.release.number} if tested is not None and going else set()
        return right(wanted, seen) - gone  # type: ignore[arg-type]

    patch.setattr(upkeep, "running", wrong)


def create_before_admitted(patch: Patch) -> None:
    """Objects are made for a deployment that is held."""
    early = upkeep.RUNS_FROM | {State.PENDING, State.ADMITTED}
    patch.setattr(upkeep, "RUNS_FROM", early)


def believe_an_old_ready(patch: Patch) -> None:
    """A pod that was ready, unready and ready again counts as one that stayed ready."""
    right = readiness.sightings

    def wrong(attempt: Attempt, seen: object) -> object:
        found = right(attempt, seen)  # type: ignore[arg-type]
        return tuple(replace(sighting, mark="") for sighting in found)

    patch.setattr(readiness, "sightings", wrong)


def start_what_has_ended(patch: Patch) -> None:
    """A way back that is over is taken up again when the previous release falls."""
    patch.setattr(traffic, "is_leaving", lambda wanted, _: wanted.going_back is not None)


FAULTS: tuple[Callable[[Patch], None], ...] = (
    skip_the_fence,
    stop_the_previous_early,
    ignore_a_verdict,
    forget_to_supersede,
    delete_a_retired_release,
    switch_with_nobody_ready,
    never_give_up,
    count_unseen_time,
    clean_up_an_open_deployment,
    create_before_admitted,
    believe_an_old_ready,
    start_what_has_ended,
)
