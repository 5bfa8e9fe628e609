"""The addresses of the console's pages about deployments; the API's are its own."""

from __future__ import annotations

from django.urls import path

from deployments import views

app_name = "deployments"

SLOT = "projects/<slug:project>/<slug:environment>/<slug:service>/"

urlpatterns = [
    path("projects/<slug:project>/", views.project, name="project"),
    path(SLOT, views.service, name="service"),
    path(f"{SLOT}card/", views.card, name="card"),
    path(f"{SLOT}deploy/", views.deploy, name="deploy"),
    path("deployments/<int:deployment_id>/", views.deployment, name="deployment"),
    path("clusters/", views.clusters, name="clusters"),
]
