"""The tables, each with its constraints and triggers: the net under the rules, not the rule."""

from __future__ import annotations

from deployments.models.clocks import CauseClock
from deployments.models.deployments import Deployment, DeploymentEvent, DeploymentJob
from deployments.models.installation import Installation
from deployments.models.inventory import Cluster, ClusterCredential, Environment, Service, Slot
from deployments.models.observations import Observation
from deployments.models.outputs import DeploymentOutput
from deployments.models.releases import Release, ReleaseSecret
from deployments.models.tenancy import Membership, Organization, Project, Token, User
from deployments.models.variables import SecretValue, Variable

__all__ = [
    "CauseClock",
    "Cluster",
    "ClusterCredential",
    "Deployment",
    "DeploymentEvent",
    "DeploymentJob",
    "DeploymentOutput",
    "Environment",
    "Installation",
    "Membership",
    "Observation",
    "Organization",
    "Project",
    "Release",
    "ReleaseSecret",
    "SecretValue",
    "Service",
    "Slot",
    "Token",
    "User",
    "Variable",
]
