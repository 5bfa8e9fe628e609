"""Every URL prefix of the site, on one screen."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, re_path

from console import accounts, views

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    re_path(r"^accounts/(?!login/|logout/|password/change/)", accounts.closed),
    path("accounts/", include("allauth.account.urls")),
    path("api/v1/", include("deployments.api.urls")),
    path("", include("deployments.urls")),
]

handler400 = "console.views.bad_request"
handler403 = "console.views.permission_denied"
handler404 = "console.views.not_found"
handler500 = "console.views.server_error"
