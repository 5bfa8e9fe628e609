"""Write the OpenAPI document of the API to a file, as it is checked in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from deployments.api.site import api


class Command(BaseCommand):
    """`python manage.py write_openapi docs/openapi.json`."""

    help = "Write the OpenAPI document of the API to a file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:  # noqa: ANN401
        document = api.get_openapi_schema()
        file.write_text(json.dumps(document, indent=2) + "\n")
        self.stdout.write(f"Wrote {file}.")
