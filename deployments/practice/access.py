"""Who a bearer token stands for, and what that user may not do. Everything else is allowed."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from deployments.practice import errors
from deployments.practice.routes import Target

ADMINISTRATOR = "kubernetes-admin"


@dataclass(frozen=True)
class Denial:
    """A verb on a resource that a user may not use; `*` stands for any.

    `resource` is written as in a role: `pods`, `pods/log`; `namespace` None means everywhere.
    """

    verb: str
    resource: str
    group: str = ""
    namespace: str | None = None

    def covers(self, verb: str, group: str, resource: str, namespace: str) -> bool:
        return (
            self.verb in ("*", verb)
            and self.resource in ("*", resource)
            and (self.resource == "*" or self.group in ("*", group))
            and self.namespace in (None, namespace)
        )


@dataclass(frozen=True)
class User:
    """A user of the cluster."""

    name: str
    denied: tuple[Denial, ...] = ()

    def may(self, verb: str, group: str, resource: str, namespace: str) -> bool:
        return not any(rule.covers(verb, group, resource, namespace) for rule in self.denied)


class Users:
    """Users by token."""

    def __init__(self, administrator_token: str) -> None:
        self._by_token = {administrator_token: User(ADMINISTRATOR)}

    def add(self, token: str, name: str, denied: Iterable[Denial] = ()) -> None:
        """Let this token in; the same token again replaces what it was denied."""
        self._by_token = {**self._by_token, token: User(name, tuple(denied))}

    def authenticate(self, authorization: str) -> User:
        """Return the user of an Authorization header. Raises 401."""
        kind, _, token = authorization.partition(" ")
        if kind.lower() == "bearer":
            for known, user in self._by_token.items():
                if hmac.compare_digest(known.encode(), token.strip().encode()):
                    return user
        raise errors.unauthorized()


def check(user: User, verb: str, target: Target) -> None:
    """Raise 403 in the words of the real one unless the user may do this."""
    kind = target.kind
    resource = f"{kind.plural}/{target.subresource}" if target.subresource else kind.plural
    if user.may(verb, kind.group, resource, target.namespace):
        return
    where = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    why = (
        f'User "{user.name}" cannot {verb} resource "{resource}" '
        f'in API group "{kind.group}" {where}'
    )
    raise errors.forbidden(kind, target.name, why)
