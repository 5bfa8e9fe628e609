"""The blockers: what can name why a deployment does not move, who sets it and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Blocker(StrEnum):
    """Every blocker of the manual that a deployment can carry (seed: Deployment states)."""

    IMAGE_PULL = "image-pull"
    STARTUP = "startup"
    SCHEDULING = "scheduling"
    CAPACITY = "capacity"
    RELEASE_COMMAND = "release-command"
    PVC_ATTACHMENT = "pvc-attachment"
    READINESS = "readiness"
    ROUTE_ACTIVATION = "route-activation"
    DATABASE_UNHEALTHY = "database-unhealthy"
    EXTERNAL_DEPENDENCY = "external-dependency"
    CONFIGURATION = "configuration"
    DELIVERY = "delivery"
    STALLED = "stalled"
    WAITING = "waiting"
    SOURCE = "source"
    POLICY = "policy"


class SetBy(StrEnum):
    """Which part reports a blocker."""

    AGENT = "Agent"
    CONTROL_PLANE = "Control plane"
    NONE = "None"


@dataclass(frozen=True)
class Entry:
    """One row of the manual's table. `ends`: a deployment that carries it has failed."""

    set_by: SetBy
    ends: bool
    meaning: str
    remedy: str


CATALOGUE: Mapping[Blocker, Entry] = {
    Blocker.IMAGE_PULL: Entry(
        SetBy.AGENT,
        True,
        "A node could not pull the release's image, or the registry has no such tag.",
        "Check the image name and tag and the registry credentials, then deploy again.",
    ),
    Blocker.STARTUP: Entry(
        SetBy.AGENT,
        True,
        "A container did not stay running, or was rejected before it started.",
        "Open the runtime output, fix the cause or raise the memory limit, then deploy again.",
    ),
    Blocker.SCHEDULING: Entry(
        SetBy.AGENT,
        True,
        "No node can run a pod of the release.",
        "Check node labels and taints, or add a compatible node.",
    ),
    Blocker.CAPACITY: Entry(
        SetBy.AGENT,
        True,
        "The cluster does not have the CPU or memory that the new replicas request.",
        "Lower the process's resource request, or add a node with more capacity.",
    ),
    Blocker.RELEASE_COMMAND: Entry(
        SetBy.AGENT,
        True,
        "The release command exited with an error or ran past its time-out.",
        "Fix the command and deploy again.",
    ),
    Blocker.PVC_ATTACHMENT: Entry(
        SetBy.AGENT,
        True,
        "A volume's claim stayed unbound for over 2 minutes, or a pod waited that long for it.",
        "Check the cluster's storage class and the volume's size.",
    ),
    Blocker.READINESS: Entry(
        SetBy.AGENT,
        True,
        "The replicas did not stay ready, or the release became unhealthy in the drain window.",
        "Check the process's readiness path and port, and its logs.",
    ),
    Blocker.ROUTE_ACTIVATION: Entry(
        SetBy.AGENT,
        True,
        "Switching traffic to the release kept failing for 2 minutes.",
        "Check that the cluster's API server is healthy, then deploy again.",
    ),
    Blocker.DATABASE_UNHEALTHY: Entry(
        SetBy.AGENT,
        True,
        "A database service did not become healthy in time.",
        "Read the message: it gives CloudNativePG's last report.",
    ),
    Blocker.EXTERNAL_DEPENDENCY: Entry(
        SetBy.CONTROL_PLANE,
        True,
        "A service that this one is set to deploy after ended without becoming healthy.",
        "Fix the service it waits for, then deploy this one again.",
    ),
    Blocker.CONFIGURATION: Entry(
        SetBy.CONTROL_PLANE,
        False,
        "The service's desired state cannot be compiled. The message gives the reason.",
        "Fix what the message names; the deployment continues by itself.",
    ),
    Blocker.DELIVERY: Entry(
        SetBy.CONTROL_PLANE,
        False,
        "The cause of the delay is between the control plane and the cluster.",
        "Bind the environment to a cluster, or bring the agent back.",
    ),
    Blocker.STALLED: Entry(
        SetBy.CONTROL_PLANE,
        False,
        "A stage ran past its usual time and the agent reports no specific failure.",
        "Look at the release's pods and the agent's log, as the message says.",
    ),
    Blocker.WAITING: Entry(
        SetBy.CONTROL_PLANE,
        False,
        "The deployment is held in pending. It is not a fault.",
        "Wait. The deployment starts when the one it waits for finishes.",
    ),
    Blocker.SOURCE: Entry(SetBy.NONE, False, "Accepted by the API, never reported.", ""),
    Blocker.POLICY: Entry(SetBy.NONE, False, "Accepted by the API, never reported.", ""),
}

ENDING = frozenset(blocker for blocker, entry in CATALOGUE.items() if entry.ends)
