"""Make a failing sequence small: take events out while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.simulation.events import Event, Hold, Looks

Events = tuple[Event, ...]


def shrink(events: Events, fails: Callable[[Events], bool]) -> Events:
    """Return a sequence that still fails and of which no single part can be left out."""
    smaller = next((found for found in _smaller(events) if fails(found)), None)
    while smaller is not None:
        events = smaller
        smaller = next((found for found in _smaller(events) if fails(found)), None)
    return events


def _smaller(events: Events) -> Iterator[Events]:
    """Return sequences with less in them: halves first, then without one, then simpler ones."""
    half = len(events) // 2
    if half > 1:
        yield events[:half]
        yield events[half:]
    for index in range(len(events)):
        yield (*events[:index], *events[index + 1 :])
    for index, event in enumerate(events):
        for simpler in _simpler(event):
            yield (*events[:index], *simpler, *events[index + 1 :])


def _simpler(event: Event) -> Iterator[Events]:
    if isinstance(event, Hold):
        yield event.meanwhile
        for smaller in _smaller(event.meanwhile):
            yield (replace(event, meanwhile=smaller),)
    if isinstance(event, Looks) and event.times > 1:
        yield (Looks(event.times // 2),)
        yield (Looks(event.times - 1),)
