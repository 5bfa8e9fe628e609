"""Who may do what (specification §10), as one table whose refusals carry their sentence."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from deployments.domain.errors import TooLow


class Role(IntEnum):
    """A member's role in an organization; a higher one may all that a lower one may."""

    VIEWER = 1
    ENGINEER = 2
    ON_CALL = 3
    OWNER = 4
    ADMINISTRATOR = 5

    @property
    def label(self) -> str:
        """Return the role as people say it."""
        return "on-call" if self is Role.ON_CALL else self.name.lower()


class Deed(StrEnum):
    """What a role allows, in the words that a refusal uses."""

    READ = "Reading"
    DEPLOY = "Deploying"
    CONFIGURE = "Changing settings"
    ADD_SERVICES = "Adding services"
    MANAGE_ENVIRONMENTS = "Changing environments"
    MANAGE_CLUSTERS = "Changing clusters"


LOWEST_ROLE: Mapping[Deed, Role] = {
    Deed.READ: Role.VIEWER,
    Deed.DEPLOY: Role.ENGINEER,
    Deed.CONFIGURE: Role.ENGINEER,
    Deed.ADD_SERVICES: Role.ENGINEER,
    Deed.MANAGE_ENVIRONMENTS: Role.OWNER,
    Deed.MANAGE_CLUSTERS: Role.ADMINISTRATOR,
}


def may(role: Role, deed: Deed) -> bool:
    """Whether this role is high enough."""
    return role >= LOWEST_ROLE[deed]


def check_may(role: Role, deed: Deed) -> None:
    """Raise TooLow, with the role that is needed, unless this one is high enough."""
    if not may(role, deed):
        raise TooLow(why_not(role, deed))


def why_not(role: Role, deed: Deed) -> str:
    """Return the sentence that stands beside a control that this role is not offered."""
    lowest = LOWEST_ROLE[deed]
    needed = lowest.label if lowest is Role.ADMINISTRATOR else f"{lowest.label} or above"
    return f"{deed} needs the role {needed}; you are {role.label}."
