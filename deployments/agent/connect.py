"""Try a kubeconfig before it is kept: who answers, how old it is, and what the agent may not do."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from deployments.agent import kubeconfig, permissions
from deployments.agent.cluster import CommandRefused, Unreachable
from deployments.agent.kube import KubeApi
from deployments.agent.kubeconfig import NotUsable

OLDEST = (1, 30)
_VERSION = re.compile(r"v?([0-9]{1,3})\.([0-9]{1,3})")


@dataclass(frozen=True)
class Connection:
    """A cluster that works. `kubeconfig` is JSON that stands alone, with credentials inside."""

    uid: str
    version: str
    kubeconfig: str
    api: KubeApi


def connect(path: Path, context: str | None) -> Connection:
    """Return the cluster that a kubeconfig leads to. Raises NotUsable with the reason."""
    flat = kubeconfig.read(path, context)
    try:
        api = KubeApi(flat)
        return _tried(api, json.dumps(flat))
    except Unreachable as silence:
        raise NotUsable(f"The cluster of {path} gave no usable answer: {silence}.") from silence
    except CommandRefused as refusal:
        raise NotUsable(f"The cluster of {path} refused: {refusal}.") from refusal
    except (ValueError, OSError) as error:
        raise NotUsable(f"{path} has a certificate or key that cannot be read.") from error


def _tried(api: KubeApi, flat: str) -> Connection:
    version = str((api.read(("version",)) or {}).get("gitVersion", ""))
    _check_version(version)
    lacking = next(permissions.missing(api), None)
    if lacking is not None:
        raise NotUsable(
            f"403: the agent may not {lacking}; grant it that and add the cluster again."
        )
    system = api.read(("api", "v1", "namespaces", "kube-system")) or {}
    return Connection(str((system.get("metadata") or {}).get("uid", "")), version, flat, api)


def _check_version(version: str) -> None:
    found = _VERSION.match(version)
    if found is None:
        raise NotUsable("What answers there is no Kubernetes: it names no version.")
    if (int(found[1]), int(found[2])) < OLDEST:
        raise NotUsable(f"Kubernetes {version} is too old; Pilothouse needs 1.30 or later.")
