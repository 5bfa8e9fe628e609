"""The OpenAPI document: the one that is served is the one in the repository."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from django.test import Client

from deployments.api import schemas
from deployments.api.site import api
from deployments.domain import settings
from deployments.domain.releases import Process

CHECKED_IN = Path(__file__).parents[2] / "docs" / "openapi.json"


def test_the_document_in_the_repository_is_the_one_that_is_served() -> None:
    served = json.loads(Client().get("/api/v1/openapi.json").content)

    assert json.loads(CHECKED_IN.read_text()) == served, (
        "Write it anew: python manage.py write_openapi docs/openapi.json"
    )


def test_it_is_openapi_3_1_with_problem_documents() -> None:
    document = api.get_openapi_schema(path_prefix="/api/v1/")

    calls = [call for path in document["paths"].values() for call in path.values()]
    names = [call["operationId"] for call in calls]
    assert document["openapi"].startswith("3.1")
    assert len(set(names)) == len(names)
    assert all("application/problem+json" in str(call["responses"]["default"]) for call in calls)


def test_its_settings_have_the_fields_of_the_rules() -> None:
    assert tuple(schemas.SettingsItem.model_fields) == settings.FIELDS
    assert tuple(schemas.ProcessItem.model_fields) == tuple(f.name for f in fields(Process))
