"""What the rules refuse, and how a refusal reads.

A sentence in one of these is shown to a person as it stands: in the console, by the API and on
the command line alike.
"""

from __future__ import annotations

from dataclasses import dataclass


class IllegalMove(Exception):
    """A move that the deployment's route does not have: a fault in the caller, never a person's."""


class Refused(Exception):
    """What was asked cannot be done in the present state. The text is for the person who asked."""

    code = "refused"


class StaleState(Refused):
    """Somebody else was first: the row is no longer as the caller saw it."""

    code = "stale"


class TooLow(Refused):
    """The person's role does not allow it. The text says which role does."""

    code = "role-too-low"


@dataclass(frozen=True)
class Problem:
    """One thing wrong with what was sent. `pointer` is a JSON pointer, empty for the whole."""

    pointer: str
    detail: str


class Invalid(Exception):
    """Values that cannot be taken, every problem of the request at once."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(" ".join(problem.detail for problem in problems))
        self.problems = problems

    @classmethod
    def field(cls, pointer: str, detail: str) -> Invalid:
        """Return the error for one field."""
        return cls(Problem(pointer, detail))
