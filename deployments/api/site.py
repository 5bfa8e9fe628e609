"""The API put together: its routers, its bodies' parser, its errors and its OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja import NinjaAPI
from ninja.errors import ValidationErrorContext
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.parser import Parser

from deployments.api import (
    clusters,
    configuration,
    deployments,
    environments,
    errors,
    schemas,
    services,
    tenancy,
    wording,
)
from deployments.api.auth import BearerToken

VERSION = "1"
METHODS_WITH_A_BODY = ("patch", "post", "put")
DESCRIPTION = (
    "Every button of the console as a call, with the same refusals. Errors are problem documents"
    " (RFC 9457): `detail` is the sentence that a person reads, `errors` names every problem of a"
    " request at once."
)


class StrictParser(Parser):
    """JSON as the standard has it: UTF-8, without NaN and Infinity, each field once."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        """Return the body. Raises ValueError or RecursionError for what is not JSON."""
        body: dict[str, Any] = json.loads(
            request.body.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            object_pairs_hook=_each_field_once,
        )
        return body


class PilothouseApi(NinjaAPI):
    """The API with our own sentences for what is wrong with a request."""

    def validation_error_from_error_contexts(  # type: ignore[override]  # our own exception
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> Exception:
        """Return what is raised for a request against its schema."""
        return wording.invalid_from(error_contexts)

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the name of a call, for those who generate a client."""
        return operation.view_func.__name__

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """Return the OpenAPI document, with the problem document as every call's error."""
        document = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        document["components"]["schemas"] |= _problem_schemas()
        for call in _calls(document):
            call["responses"]["default"] = _PROBLEM
        return document


_PROBLEM = {
    "description": "A problem document",
    "content": {errors.CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
}


def _problem_schemas() -> dict[str, Any]:
    schema = schemas.ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "ProblemDocument": schema}


def _calls(document: OpenAPISchema) -> Iterator[dict[str, Any]]:
    for calls in document["paths"].values():
        yield from calls.values()


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _each_field_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Of two values for one field the last would win in silence, perhaps not the one that was meant.
    found = dict(pairs)
    if len(found) < len(pairs):
        raise errors.FieldTwice
    return found


api = PilothouseApi(
    title="Pilothouse",
    version=VERSION,
    description=DESCRIPTION,
    urls_namespace="api",
    docs_url=None,
    auth=BearerToken(),
    parser=StrictParser(),
)
errors.add_handlers(api)
for module in (
    tenancy,
    environments,
    services,
    configuration,
    deployments,
    clusters,
):
    api.add_router("", module.router)
