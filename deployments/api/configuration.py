"""Settings and variables of a service in an environment.

Their bodies are judged by the rules in `domain`, whole; the answer's `ETag` is the version that
`If-Match` takes, so that two who change them at once hear of each other.
"""

from __future__ import annotations

import re
from typing import Any

from django.http import HttpResponse
from django.utils.http import parse_etags
from ninja import Body, Path, Router

from deployments.actions.configure import change_settings, replace_variables
from deployments.api import schemas, shapes
from deployments.api.auth import ApiRequest
from deployments.api.requests import Place
from deployments.api.services import SLOT, slot_of
from deployments.domain.roles import Deed
from deployments.models import Slot

ANY_VERSION = "*"
NO_VERSION = 0  # no slot has it: what cannot be read matches nothing
_VERSION = re.compile(r"[0-9]{1,18}")  # bounded: Python refuses to read thousands of digits

# `domain` reads these bodies; the document says here what it takes.
SETTINGS_BODY = {
    "type": "object",
    "description": "Any part of SettingsItem. A process is matched by its name and may have any"
    ' part of ProcessItem; {"name": "x", "remove": true} takes it away.',
    "properties": {
        "processes": {"type": "array", "items": {"type": "object"}},
        "release_command": {"type": ["object", "null"]},
        "image_repository": {"type": ["string", "null"]},
    },
    "additionalProperties": False,
}
VARIABLES_BODY = {"$ref": "#/components/schemas/VariablesItem"}

router = Router(tags=["settings and variables"])


def _takes(schema: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"content": content, "required": True}}


@router.get(SLOT + "/settings", response=schemas.SettingsItem)
def get_settings(request: ApiRequest, response: HttpResponse, place: Path[Place]) -> Any:  # noqa: ANN401 - the stored document, which `response` gives its type
    """Get the settings, whole."""
    slot = slot_of(request, place)
    _set_version(response, slot)
    return slot.settings


@router.patch(
    SLOT + "/settings", response=schemas.SettingsItem, openapi_extra=_takes(SETTINGS_BODY)
)
def patch_settings(
    request: ApiRequest,
    response: HttpResponse,
    place: Path[Place],
    body: Body[Any],
) -> Any:  # noqa: ANN401 - the stored document, which `response` gives its type
    """Change a part of the settings. A process is matched by its name; `remove` takes it away."""
    slot = slot_of(request, place, to=Deed.CONFIGURE)
    changed = change_settings(slot.pk, body, seen=_versions(request))
    _set_version(response, changed)
    return changed.settings


@router.get(SLOT + "/variables", response=schemas.VariablesItem, exclude_none=True)
def get_variables(
    request: ApiRequest, response: HttpResponse, place: Path[Place]
) -> schemas.VariablesItem:
    """Get all variables. The value of a secret is never shown."""
    slot = slot_of(request, place)
    _set_version(response, slot)
    return _variables(slot)


@router.put(
    SLOT + "/variables",
    response=schemas.VariablesItem,
    exclude_none=True,
    openapi_extra=_takes(VARIABLES_BODY),
)
def put_variables(
    request: ApiRequest,
    response: HttpResponse,
    place: Path[Place],
    body: Body[Any],
) -> schemas.VariablesItem:
    """Replace all variables. A secret without a value keeps the one that is stored."""
    slot = slot_of(request, place, to=Deed.CONFIGURE)
    changed = replace_variables(slot.pk, body, seen=_versions(request))
    _set_version(response, changed)
    return _variables(changed)


def _variables(slot: Slot) -> schemas.VariablesItem:
    rows = slot.variables.all()
    return schemas.VariablesItem(variables={row.key: shapes.variable(row) for row in rows})


def _set_version(response: HttpResponse, slot: Slot) -> None:
    response["ETag"] = f'"{slot.settings_version}"'


def _versions(request: ApiRequest) -> tuple[int, ...]:
    """Return the versions that `If-Match` names; empty for any."""
    sent = request.headers.get("If-Match")
    if sent is None or sent.strip() == ANY_VERSION:
        return ()
    return tuple(_version(etag) for etag in parse_etags(sent)) or (NO_VERSION,)


def _version(etag: str) -> int:
    digits = etag.removeprefix("W/").strip('"')  # a proxy that compresses makes an ETag weak
    return int(digits) if _VERSION.fullmatch(digits) else NO_VERSION
