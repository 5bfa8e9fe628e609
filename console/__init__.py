"""The site: wiring, and what belongs to no single app. Imports everything; nobody imports it."""

from __future__ import annotations

from console.celery import app as celery_app

__all__ = ["celery_app"]
