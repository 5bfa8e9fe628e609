"""What calls of the API take. Types and rules of a body are found together, so that every problem
of a request is named at once; the actions look again and have the last word."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from deployments.domain import environments, images, names
from deployments.domain.blockers import Blocker
from deployments.domain.errors import Invalid
from deployments.domain.reasons import check_reason
from deployments.domain.services import APP, kind_problem
from deployments.domain.states import State

LONGEST_PAGE = 100
USUAL_PAGE = 50
HIGHEST_ID = 2**63 - 1
_BEGINS_WITH_A_DATE = re.compile(r"\d{4}-")
ANY_REPOSITORY = "registry.example/any"  # a stand-in: `:tag` alone is a form that may be right


def _rule(problem_of: Callable[[str], str | None]) -> AfterValidator:
    """Return a validator that refuses with the sentence of a rule."""

    def check(text: str) -> str:
        problem = problem_of(text)
        if problem:
            raise ValueError(problem)
        return text

    return AfterValidator(check)


def _refusing_rule(check: Callable[[str], object]) -> AfterValidator:
    """Return a validator that refuses with the sentence that a check raises Invalid with."""

    def problem_of(text: str) -> str | None:
        try:
            check(text)
        except Invalid as invalid:
            return str(invalid)
        return None

    return _rule(problem_of)


def _slug_problem(what: str) -> Callable[[str], str | None]:
    return lambda slug: names.slug_problem(slug, what=what)


def _check_image(text: str) -> object:
    return images.complete(text, repository=ANY_REPOSITORY, default_registry=None)


def _refuse_protection(value: object) -> object:
    if value is True:
        raise ValueError(environments.PROTECTION_LATER)
    return value


def _moment_as_text(sent: object) -> object:
    """Refuse what only a number could be meant by: one of seconds, milliseconds or a year?"""
    if isinstance(sent, str) and not _BEGINS_WITH_A_DATE.match(sent):
        raise PydanticCustomError("datetime_parsing", "no time")
    return sent


def _in_utc(moment: datetime) -> datetime:
    """Refuse a time that UTC's calendar has no place for, as the database would."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise PydanticCustomError("datetime_parsing", "no time") from None


Moment = Annotated[AwareDatetime, BeforeValidator(_moment_as_text), AfterValidator(_in_utc)]
Protected = Annotated[Literal[False], BeforeValidator(_refuse_protection)]
Registry = Annotated[str, _rule(environments.default_registry_problem)]
Namespace = Annotated[str, _rule(environments.namespace_problem)]
ClusterSlug = Annotated[str, _rule(_slug_problem("A cluster's slug"))]


class Place(BaseModel):
    """A service in an environment, as its address names it."""

    project: str
    environment: str
    service: str


class Body(BaseModel):
    """A body without fields that nobody knows, and without guesses about types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class DeployBody(Body):
    """An image as a person gives it: a full name, or `:tag` or `@digest` alone."""

    image: Annotated[str, _refusing_rule(_check_image)]
    reason: Annotated[str, _refusing_rule(check_reason)] = ""


class ServiceBody(Body):
    """A service to add."""

    slug: Annotated[str, _rule(_slug_problem("A service's slug"))]
    kind: Annotated[str, _rule(kind_problem)] = APP


class EnvironmentBody(Body):
    """An environment to add, bound to one namespace of one cluster."""

    slug: Annotated[str, _rule(_slug_problem("An environment's slug"))]
    cluster: ClusterSlug
    namespace: Namespace
    default_registry: Registry | None = None
    protected: Protected = False


class EnvironmentChange(Body):
    """A change of an environment. Cluster and namespace stay once anything was deployed."""

    cluster: ClusterSlug | None = None
    namespace: Namespace | None = None
    default_registry: Registry | None = None
    protected: Protected = False


class Page(BaseModel):
    """Which part of a list: `next` as the answer before gave it."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _with_what_nobody_knows(
        cls, given: dict[str, Any], info: ValidationInfo[dict[str, HttpRequest]]
    ) -> dict[str, Any]:
        """Put back the parameters that were dropped: a filter with a slip of the pen, left out,
        would answer with everything."""
        sent = info.context["request"].GET
        return {**given, **{name: sent[name] for name in sent if name not in cls.model_fields}}

    limit: int = Field(USUAL_PAGE, ge=1, le=LONGEST_PAGE)
    next: int | None = Field(None, ge=1, le=HIGHEST_ID)


class DeploymentFilter(Page):
    """Which deployments of those that the caller may see."""

    project: Annotated[str, _rule(_slug_problem("A project's slug"))] | None = None
    environment: Annotated[str, _rule(_slug_problem("An environment's slug"))] | None = None
    service: Annotated[str, _rule(_slug_problem("A service's slug"))] | None = None
    state: State | None = None
    blocker: Blocker | None = None
    since: Moment | None = None

    def lookups(self) -> dict[str, Any]:
        """Return the filters that were given, as look-ups on a deployment."""
        given = {
            "slot__service__project__slug": self.project,
            "slot__environment__slug": self.environment,
            "slot__service__slug": self.service,
            "state": self.state,
            "blocker": self.blocker,
            "created_at__gte": self.since,
        }
        return {lookup: value for lookup, value in given.items() if value is not None}
