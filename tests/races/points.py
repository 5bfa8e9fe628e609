"""Threads that stop at named points, so that a race is run in every order instead of by luck.

A point is before or after a function of the product and is hooked from outside. What the orders
mean is the tests' business; a thread that waits for another's lock is told by the database.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from threading import Condition, Thread, local
from time import monotonic
from types import ModuleType

from django.db import connection

DEADLINE_SECONDS = 20.0
# So long a thread may run before the database is asked whether it waits for a lock.
ASK_AFTER_SECONDS = 0.004
BEGINNING = "the beginning"
HOOKED_PACKAGES = ("deployments", "tests")
# Of a lock that was given to a waiter the table of locks knows at once, its activity only later.
WAITING = "SELECT pid FROM unnest(%s) AS pid WHERE cardinality(pg_blocking_pids(pid)) > 0"

_here = local()


class Held(Exception):
    """Nobody got anywhere in time: says nothing about the product's answers."""


class _Abandoned(BaseException):
    """Unwinds a thread that stands at a point when its race is over."""


@dataclass(frozen=True)
class Point:
    """Before or after a function of a module, or a method of a class."""

    when: str
    owner: ModuleType | type
    function: str

    def __str__(self) -> str:
        return f"{self.when} {self.function}"


def before(owner: ModuleType | type, function: str) -> Point:
    """Return the point at which the function is about to be called."""
    return Point("before", owner, function)


def at_first(owner: ModuleType | type, function: str) -> Point:
    """Return the point at which a thread is about to call the function for the first time."""
    return Point("at first", owner, function)


def after(owner: ModuleType | type, function: str) -> Point:
    """Return the point at which the function has returned."""
    return Point("after", owner, function)


@contextmanager
def hooked(points: Sequence[Point]) -> Iterator[None]:
    """Let the threads of a race stop at these points; other threads pass them unaware."""
    undo: list[Callable[[], None]] = []
    try:
        for owner, function in dict.fromkeys((point.owner, point.function) for point in points):
            stops = {p.when for p in points if (p.owner, p.function) == (owner, function)}
            undo += _replace(owner, function, stops)
        yield
    finally:
        for step in reversed(undo):
            step()


def _replace(owner: ModuleType | type, function: str, stops: set[str]) -> list[Callable[[], None]]:
    original = getattr(owner, function)

    @wraps(original)
    def stopping(*given: object, **named: object) -> object:
        _reach("at first", function, stops)
        _reach("before", function, stops)
        result = original(*given, **named)
        _reach("after", function, stops)
        return result

    if isinstance(owner, type):
        return [_set(owner, function, stopping)]
    # A module that imported the function by name has it under a name of its own.
    return [_set(module, name, stopping) for module, name in _bindings(original)]


def _bindings(original: object) -> list[tuple[ModuleType, str]]:
    return [
        (module, name)
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType) and module.__name__.startswith(HOOKED_PACKAGES)
        for name, value in list(vars(module).items())
        if value is original
    ]


def _set(owner: object, name: str, value: object) -> Callable[[], None]:
    inherited = name not in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, value)
    if inherited:
        return lambda: delattr(owner, name)
    return lambda: setattr(owner, name, original)


def _reach(when: str, function: str, stops: set[str]) -> None:
    player: Player | None = getattr(_here, "player", None)
    point = f"{when} {function}"
    if player is None or when not in stops or (when == "at first" and point in player.passed):
        return
    player.stop(point)


@dataclass
class Player:
    """One thread of a race. `result` is what it returned, or the error that it ended with."""

    name: str
    act: Callable[[], object]
    changed: Condition
    at: str = BEGINNING
    stands: bool = True
    over: bool = False
    abandoned: bool = False
    backend: int = 0
    result: object = None
    passed: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Play to the end, in this thread."""
        _here.player = self
        try:
            self._wait()
            self.backend = _backend()
            self.result = self.act()
        except _Abandoned:
            self.result = None
        except Exception as error:  # noqa: BLE001 - the test judges every answer
            self.result = error
        finally:
            _here.player = None
            with self.changed:
                self.over, self.stands = True, False
                self.changed.notify_all()

    def stop(self, point: str) -> None:
        """Stand at a point until the conductor lets this thread go on."""
        if self.abandoned:
            return
        with self.changed:
            self.at, self.stands = point, True
            self.changed.notify_all()
        self._wait()

    def _wait(self) -> None:
        with self.changed:
            going = self.changed.wait_for(lambda: not self.stands, DEADLINE_SECONDS * 3)
        if self.abandoned or not going:
            raise _Abandoned

    def go(self) -> None:
        """Let the thread go on from where it stands."""
        with self.changed:
            self.passed.append(self.at)
            self.stands = False
            self.changed.notify_all()

    def abandon(self) -> None:
        """Let the thread end from wherever it stands; its transaction is rolled back."""
        with self.changed:
            self.abandoned, self.stands = True, False
            self.changed.notify_all()


def _backend() -> int:
    connection.ensure_connection()
    return int(connection.connection.info.backend_pid)


class Stage:
    """Threads that play one race after another, each with a connection that it keeps."""

    def __init__(self) -> None:
        self._jobs: list[list[Callable[[], None]]] = []
        self._threads: list[Thread] = []
        self._wake = Condition()
        self._ends = False

    def begin(self, players: Sequence[Player]) -> None:
        """Let each of these run in a thread."""
        while len(self._threads) < len(players):
            self._jobs.append([])
            thread = Thread(target=self._serve, args=(len(self._threads),), daemon=True)
            self._threads.append(thread)
            thread.start()
        with self._wake:
            for jobs, player in zip(self._jobs, players, strict=False):
                jobs.append(player.run)
            self._wake.notify_all()

    def _serve(self, index: int) -> None:
        try:
            while True:
                with self._wake:
                    self._wake.wait_for(lambda: self._jobs[index] or self._ends)
                    if not self._jobs[index]:
                        return
                    job = self._jobs[index].pop(0)
                job()
        finally:
            connection.close()

    def close(self) -> None:
        """Let the threads end and their connections go."""
        with self._wake:
            self._ends = True
            self._wake.notify_all()
        for thread in self._threads:
            thread.join(DEADLINE_SECONDS)


@contextmanager
def stage() -> Iterator[Stage]:
    """Threads for the time of a test."""
    made = Stage()
    try:
        yield made
    finally:
        made.close()


Acts = Mapping[str, Callable[[], object]]


class Conductor:
    """Lets the threads of one race go on one at a time."""

    def __init__(self, acts: Acts, on: Stage) -> None:
        self._changed = Condition()
        self.players = {name: Player(name, act, self._changed) for name, act in acts.items()}
        on.begin(list(self.players.values()))

    def begin(self) -> None:
        """Bring each thread to its first point, one after the other."""
        for name in self.players:
            self.go(name)
            self.standing()

    def standing(self) -> list[str]:
        """Wait until every thread stands, waits for a lock or is over, and return who stands.

        Raises AssertionError when the rest wait for each other, Held when one goes on for ever.
        """
        ends = monotonic() + DEADLINE_SECONDS
        while not self._is_quiet():
            if monotonic() > ends:
                raise Held(f"Somebody still runs: {self.where()}")
        names = [name for name, player in self.players.items() if player.stands]
        if not names and not self.over:
            raise AssertionError(f"They wait for each other: {self.where()}")
        return names

    @property
    def over(self) -> bool:
        """Whether every thread has ended."""
        return all(player.over for player in self.players.values())

    def go(self, name: str) -> None:
        """Let one thread go on to its next point."""
        self.players[name].go()

    def finish(self) -> None:
        """Let every thread that still stands end where it is."""
        for player in self.players.values():
            player.abandon()
        ends = monotonic() + DEADLINE_SECONDS
        with self._changed:
            self._changed.wait_for(lambda: self.over, ends - monotonic())

    def where(self) -> str:
        """Say where each thread is, for a person."""
        return ", ".join(
            f"{p.name} {'is done' if p.over else 'at ' + p.at}" for p in self.players.values()
        )

    def _is_quiet(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: not self._running(), ASK_AFTER_SECONDS)
        running = self._running()
        if not running:
            return True
        # Asked twice: a lock may be given to one who waits between the question and the answer.
        return all(_all_wait(running) and self._running() == running for _ in range(2))

    def _running(self) -> list[Player]:
        return [p for p in self.players.values() if not p.stands and not p.over]


def _all_wait(players: Sequence[Player]) -> bool:
    backends = [player.backend for player in players]
    with connection.cursor() as cursor:
        cursor.execute(WAITING, [backends])
        return len(cursor.fetchall()) == len(set(backends))
