"""What may happen to a slot, as values, and the sequence that a seed stands for.

An event names its target by a fraction of what is there when it happens, so that a sequence stays
a sequence when others of its events are taken out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Word(StrEnum):
    """A word that is shown as a test writes it."""

    def __repr__(self) -> str:
        """Return what a failing sequence can be copied from."""
        return f"{type(self).__name__}.{self.name}"


class Image(Word):
    """What an image does once it runs."""

    GOOD = "good"
    UNKNOWN_TAG = "unknown tag"  # the registry has no such tag
    NO_PULL = "no pull"  # the registry resolved it, kubelet cannot pull it
    CRASHES = "crashes"
    NEVER_READY = "never ready"
    SAYS_NO = "says no"  # kubelet calls it ready, the check through the Service does not
    FALLS = "falls"  # ready for a while, then never again
    FLAPS = "flaps"
    SLOW = "slow"
    COMMAND_FAILS = "command fails"


class Shape(Word):
    """Which processes a release has."""

    PLAIN = "plain"
    TWO = "two replicas"
    ALL = "all kinds"
    WORKER = "worker"
    CRON = "cron"
    COMMAND = "release command"


@dataclass(frozen=True)
class Deploy:
    """A person deploys."""

    image: Image = Image.GOOD
    shape: Shape = Shape.PLAIN


@dataclass(frozen=True)
class Again:
    """A person lets a release that was healthy before run again."""

    pick: float


@dataclass(frozen=True)
class Cancel:
    """A person cancels what moves: the newest, or the one that takes over."""

    older: bool = False


@dataclass(frozen=True)
class Looks:
    """The agent looks so often, four seconds apart."""

    times: int


@dataclass(frozen=True)
class Wait:
    """Time passes and nobody looks."""

    seconds: int


@dataclass(frozen=True)
class Ill:
    """The pods of a release, or one of them, are unready for a while."""

    pick: float
    seconds: int
    one: bool = False


@dataclass(frozen=True)
class Ruin:
    """The pods of a release never become ready again."""

    pick: float


@dataclass(frozen=True)
class Restart:
    """A pod crashes once and comes back."""

    pick: float


@dataclass(frozen=True)
class Slow:
    """New pods take long to become ready, until this happens again."""


@dataclass(frozen=True)
class Silent:
    """A node falls silent, or the silent one comes back."""

    pick: float


@dataclass(frozen=True)
class Away:
    """The API server answers nobody for a while."""

    seconds: int


@dataclass(frozen=True)
class Refuse:
    """The API server refuses writes for a while: 409, 403 or 500, all or the switch only."""

    code: int
    seconds: int
    switch_only: bool


@dataclass(frozen=True)
class DeleteByHand:
    """Somebody deletes an object."""

    pick: float


@dataclass(frozen=True)
class EditService:
    """Somebody lets the stable Service select another release, or none."""

    pick: float


@dataclass(frozen=True)
class ScaleByHand:
    """Somebody scales a Deployment."""

    pick: float
    replicas: int


@dataclass(frozen=True)
class NoRoom:
    """The cluster is full, or has room again."""


@dataclass(frozen=True)
class Taken:
    """Somebody's object has one of our next names, or is gone again."""


class Point(Word):
    """Where a look can be interrupted: before some write, before one of a kind, before it records,
    or when it has noted down its Jobs and nothing else yet."""

    ANY = "any"
    CREATE = "Create"
    SCALE = "Scale"
    FENCE = "WriteFence"
    TRAFFIC = "PointTraffic"
    DELETE = "Delete"
    RECORD = "record"
    NOTED = "noted"


@dataclass(frozen=True)
class Die:
    """The worker is killed, in the first of some looks that comes to this point for the `nth` time
    (counted from 0)."""

    point: Point
    nth: int


@dataclass(frozen=True)
class Hold:
    """A look is held up, other things happen, and it goes on: the first look that comes so far.

    `lost`: its lease is taken over meanwhile. Not `guarded`: it goes on as if nothing asked for
    lease or state, so that only what it names in its writes protects.
    """

    point: Point
    nth: int
    meanwhile: tuple[Event, ...]
    lost: bool
    guarded: bool


Event = (
    Deploy
    | Again
    | Cancel
    | Looks
    | Wait
    | Ill
    | Ruin
    | Restart
    | Slow
    | Silent
    | Away
    | Refuse
    | DeleteByHand
    | EditService
    | ScaleByHand
    | NoRoom
    | Taken
    | Die
    | Hold
)

Maker = Callable[[Random], Event]


def _pick(random: Random) -> float:
    return random.randrange(100) / 100


_PEOPLE: tuple[tuple[int, Maker], ...] = (
    (9, lambda r: Deploy(r.choice([Image.GOOD, *Image]), r.choice([Shape.PLAIN, *Shape]))),
    (2, lambda r: Again(_pick(r))),
    (4, lambda r: Cancel(older=r.random() < 0.4)),
)
_AGENT: tuple[tuple[int, Maker], ...] = (
    (24, lambda r: Looks(r.choice([1, 1, 2, 3, 5, 8, 13]))),
    (3, lambda r: Wait(r.choice([10, 30]))),
)
_CLUSTER: tuple[tuple[int, Maker], ...] = (
    (5, lambda r: Ill(_pick(r), r.choice([6, 16, 40, 90]), one=r.random() < 0.3)),
    (2, lambda r: Ruin(_pick(r))),
    (3, lambda r: Restart(_pick(r))),
    (1, lambda _: Slow()),
    (2, lambda r: Silent(_pick(r))),
    (4, lambda r: Away(r.choice([8, 30, 100]))),
    (3, lambda r: Refuse(r.choice([409, 403, 500]), r.choice([8, 40]), r.random() < 0.5)),
    (2, lambda r: DeleteByHand(_pick(r))),
    (1, lambda r: EditService(_pick(r))),
    (2, lambda r: ScaleByHand(_pick(r), r.choice([0, 1, 3]))),
    (1, lambda _: NoRoom()),
    (1, lambda _: Taken()),
)
_ENDS: tuple[tuple[int, Maker], ...] = (
    (3, lambda r: Cancel(older=r.random() < 0.6)),
    (2, lambda _: Deploy()),
    (2, lambda r: Ill(_pick(r), 40)),
)
_HELD_AT = tuple(point for point in Point if point is not Point.NOTED)
_SIMPLE = (*_PEOPLE, *_AGENT, *_CLUSTER)
_HELD_AT = tuple(point for point in Point if point is not Point.NOTED)


def _hold(random: Random) -> Hold:
    ends = (_one_of(_ENDS, random), Looks(random.choice([1, 2, 4, 8, 12])))
    others = tuple(_one_of(_SIMPLE, random) for _ in range(random.randrange(1, 4)))
    return Hold(
        random.choice([*_HELD_AT, Point.TRAFFIC]),
        random.choice([0, 0, 0, 1, 2]),
        ends if random.random() < 0.6 else others,
        lost=random.random() < 0.8,
        guarded=random.random() < 0.4,
    )


_WORKER: tuple[tuple[int, Maker], ...] = (
    (6, lambda r: Die(r.choice(list(Point)), r.choice([0, 0, 0, 1, 2]))),
    (12, _hold),
)
_ALL = (*_SIMPLE, *_WORKER)


def sequence(seed: int) -> tuple[Event, ...]:
    """Return the events that a seed stands for."""
    random = Random(seed)
    begin = (Deploy(), Looks(14)) if random.random() < 0.8 else ()
    scenes = [_scene(random) for _ in range(random.randrange(4, 12))]
    return (*begin, *(event for scene in scenes for event in scene))


def _scene(random: Random) -> tuple[Event, ...]:
    """Return one event, or a few that rarely meet by chance."""
    which = random.random()
    if which < 0.07:
        return (Deploy(), _hold(random))
    if which < 0.12:
        return (Deploy(), Looks(random.randrange(4, 9)), Restart(_pick(random)), Looks(3))
    if which < 0.15:
        return (Deploy(Image.FALLS), Looks(random.randrange(16, 26)), Ill(0.0, 90), Looks(3))
    return (_one_of(_ALL, random),)


def _one_of(makers: tuple[tuple[int, Maker], ...], random: Random) -> Event:
    (chosen,) = random.choices(makers, weights=[weight for weight, _ in makers])
    return chosen[1](random)
