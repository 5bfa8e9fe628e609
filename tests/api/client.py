"""A caller of the API in tests, and the shop that it calls about."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.http.response import HttpResponseBase
from django.test import Client

from deployments.actions.services import create_service
from deployments.actions.tokens import create_token
from deployments.domain.roles import Role
from deployments.models import Cluster, Environment, Project, Slot, User
from deployments.reads.clock import database_now
from tests.factories import (
    make_cluster,
    make_environment,
    make_member,
    make_organization,
    make_project,
    make_user,
)

PRODUCTION = "/projects/shop/environments/production"
WEB = f"{PRODUCTION}/services/web"


class Shop(NamedTuple):
    """The project `shop` of the organization `harbor`: production on `practice`, service `web`."""

    project: Project
    production: Environment
    cluster: Cluster
    web: Slot


def make_shop() -> Shop:
    """Make the shop, as the actions make it."""
    project = make_project(make_organization("harbor"), "shop")
    cluster = make_cluster("practice")
    production = make_environment(
        project, "production", cluster=cluster, namespace="shop-production"
    )
    web = create_service(project.pk, slug="web").slots.get()
    return Shop(project, production, cluster, web)


class Answer(NamedTuple):
    """An answer of the API, its body read."""

    status: int
    body: Any
    headers: HttpResponseBase

    @property
    def detail(self) -> str:
        """Return the sentence of a problem document."""
        return str(self.body["detail"])

    @property
    def pointers(self) -> list[str]:
        """Return where the problems of a problem document are."""
        return [error["pointer"] for error in self.body["errors"]]


@dataclass(frozen=True)
class Caller:
    """Somebody with a token; without one a stranger."""

    user: User | None = None
    token: str = ""

    def get(self, path: str, **headers: str) -> Answer:
        """Read something."""
        return self.send("GET", path, headers=headers)

    def post(self, path: str, body: object, **headers: str) -> Answer:
        """Create or start something."""
        return self.send("POST", path, json.dumps(body), headers=headers)

    def patch(self, path: str, body: object, **headers: str) -> Answer:
        """Change something in part."""
        return self.send("PATCH", path, json.dumps(body), headers=headers)

    def put(self, path: str, body: object, **headers: str) -> Answer:
        """Replace something."""
        return self.send("PUT", path, json.dumps(body), headers=headers)

    def send(
        self,
        method: str,
        path: str,
        body: str | bytes = "",
        *,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send any body."""
        known = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        response = Client(raise_request_exception=False).generic(
            method,
            f"/api/v1{path}",
            body,
            content_type="application/json",
            headers={**known, **(headers or {})},
        )
        return Answer(response.status_code, json.loads(response.content), response)


STRANGER = Caller()


def member(shop: Shop, role: Role) -> Caller:
    """Return somebody with this role in the shop's organization."""
    return caller(make_member(shop.project.organization, role))


def outsider() -> Caller:
    """Return somebody with a token who belongs to no organization."""
    return caller(make_user())


def administrator() -> Caller:
    """Return an administrator of the installation."""
    return caller(make_user(superuser=True))


def caller(user: User) -> Caller:
    """Return a person with a token that is valid now."""
    return Caller(user, create_token(user, name="test", days=1, now=database_now()))
