"""Make the one row of the installation: its random id marks our objects in every cluster."""

from __future__ import annotations

import secrets

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def make_installation(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    installation = apps.get_model("deployments", "Installation")
    installation.objects.get_or_create(pk=1, defaults={"token": secrets.token_hex(8)})


class Migration(migrations.Migration):
    dependencies = [("deployments", "0001_initial")]

    operations = [migrations.RunPython(make_installation, migrations.RunPython.noop)]
