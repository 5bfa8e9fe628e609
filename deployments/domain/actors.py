"""Who moved a deployment: a person, the agent of a cluster, or the watchdog."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Actor:
    """The one whom an event names. `kind` is person, agent or watchdog."""

    kind: str
    name: str


def agent(cluster: str) -> Actor:
    """Return the agent of a cluster."""
    return Actor("agent", cluster)


def person(username: str) -> Actor:
    """Return a person by the name that they sign in with."""
    return Actor("person", username)
