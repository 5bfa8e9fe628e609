"""Every URL prefix of the site, on one screen."""

from __future__ import annotations

from importlib.util import find_spec

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("accounts/", include("allauth.account.urls")),
]
if find_spec("deployments.urls"):
    urlpatterns.append(path("", include("deployments.urls")))
