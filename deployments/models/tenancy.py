"""Who there is: people, their organizations and roles, projects, and tokens for the API."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models

from deployments.domain.roles import Role


class User(AbstractUser):
    """A person who signs in. A superuser is an administrator of the installation."""

    def __str__(self) -> str:
        return self.get_username()


class Organization(models.Model):
    """Owns projects and members."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    members = models.ManyToManyField(User, through="Membership", related_name="organizations")

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """A person's role in an organization."""

    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="memberships"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(
        choices=[(role.value, role.label) for role in Role if role is not Role.ADMINISTRATOR]
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "user"], name="one_membership_per_person"
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=[1, 2, 3, 4]), name="role_is_a_members_role"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.organization_id}"


class Project(models.Model):
    """Groups services and environments. Its slug is unique in the installation."""

    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="projects"
    )
    slug = models.CharField(max_length=30, unique=True)

    def __str__(self) -> str:
        return self.slug


class Token(models.Model):
    """A bearer token of the API. Only its hash is stored; the token itself is shown once."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
