#!/usr/bin/env python
"""Django's command line. After `make up` it uses what that left in var/up.env."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ENVIRONMENT_OF_UP = Path(__file__).resolve().parent / "var" / "up.env"


def read_environment_of_up() -> None:
    """Let `python manage.py shell` reach the databases of `make up`; variables that are set win."""
    if not ENVIRONMENT_OF_UP.exists():
        return
    for line in ENVIRONMENT_OF_UP.read_text().splitlines():
        name, _, value = line.partition("=")
        os.environ.setdefault(name, value)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    read_environment_of_up()
    # Imported late: Django reads the settings' name when it is first used.
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
