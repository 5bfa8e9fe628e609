"""What is deployed where: clusters, environments, services, and the slot where the two meet."""

from __future__ import annotations

from django.db import models

from deployments.models.tenancy import Project


class Cluster(models.Model):
    """A Kubernetes cluster, known by the uid of its `kube-system` namespace.

    `lease_*`: one look at a time. `heartbeat_at`: when its API server last answered.
    """

    slug = models.CharField(max_length=30, unique=True)
    uid = models.CharField(max_length=64, unique=True)
    version = models.CharField(max_length=40)
    heartbeat_at = models.DateTimeField(null=True)
    unreachable_since = models.DateTimeField(null=True)
    unreachable_reason = models.CharField(max_length=300, blank=True)
    looked_at = models.DateTimeField(null=True)
    lease_token = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.slug


class ClusterCredential(models.Model):
    """A cluster's kubeconfig, encrypted; in a table of its own so that no listing reads it."""

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="credential"
    )
    ciphertext = models.BinaryField()

    def __str__(self) -> str:
        return f"credential of {self.cluster_id}"


class Environment(models.Model):
    """Where services run: one namespace of one cluster, and the pair belongs to it alone."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="environments")
    slug = models.CharField(max_length=30)
    position = models.PositiveSmallIntegerField(default=0)
    cluster = models.ForeignKey(
        Cluster, on_delete=models.PROTECT, null=True, related_name="environments"
    )
    namespace = models.CharField(max_length=63)
    default_registry = models.CharField(max_length=255, blank=True)

    class Meta:
        ordering = ["position", "slug"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "slug"], name="environment_slug_unique_in_project"
            ),
            models.UniqueConstraint(
                fields=["cluster", "namespace"], name="namespace_belongs_to_one_environment"
            ),
        ]

    def __str__(self) -> str:
        return self.slug


class Service(models.Model):
    """Something that is deployed: an app with processes."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="services")
    slug = models.CharField(max_length=30)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "slug"], name="service_slug_unique_in_project"
            )
        ]

    def __str__(self) -> str:
        return self.slug


class Slot(models.Model):
    """One service in one environment: its settings, its generation and what serves there.

    `fence` rises with everything after which an older look may write nothing any more.
    `serving_release` is what the stable Service selects, as last seen. `unsettled` says that the
    last look left something to do, so that the next one comes soon.
    """

    service = models.ForeignKey(Service, on_delete=models.PROTECT, related_name="slots")
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="slots")
    settings = models.JSONField()
    settings_version = models.PositiveIntegerField(default=1)
    generation = models.PositiveIntegerField(default=0)
    fence = models.PositiveIntegerField(default=0)
    releases_made = models.PositiveIntegerField(default=0)
    active_release = models.ForeignKey(
        "Release", on_delete=models.PROTECT, null=True, related_name="+"
    )
    serving_release = models.ForeignKey(
        "Release", on_delete=models.PROTECT, null=True, related_name="+"
    )
    unsettled = models.BooleanField(default=False)
    card_version = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["service", "environment"], name="one_slot_per_service_and_environment"
            )
        ]

    def __str__(self) -> str:
        return f"slot {self.pk}"
