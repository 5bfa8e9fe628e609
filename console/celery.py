"""The Celery application and the beat table. What the tasks do is in the apps."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

app = Celery("pilothouse")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def leave_logging_alone(**_: object) -> None:
    """The settings say how to log; with a receiver here Celery does not set up its own."""


# `expires` on every entry: ticks must not pile up behind a slow worker.
app.conf.beat_schedule = {
    "tick": {
        "task": "deployments.tick",
        "schedule": 2.0,
        "options": {"expires": 2, "queue": "celery"},
    },
}
