"""`python -m tests.migrations_check`: fails when a model has changed without a migration.

Django looks into the database for it, so this starts one of its own.
"""

from __future__ import annotations

import os
import shutil

import django
from django.core.management import call_command

from console import embedded

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    from tests.settings import POSTGRES, RUN

    try:
        with embedded.running(POSTGRES):
            django.setup()
            call_command("makemigrations", check=True, dry_run=True)
    finally:
        shutil.rmtree(RUN, ignore_errors=True)
