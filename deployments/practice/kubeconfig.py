"""The kubeconfig file of the practice cluster, which also keeps the administrator's token."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

from deployments.practice.httpd import LOCALHOST

NAME = "kubeconfig.yaml"
CONTEXT = "practice"


def config(port: int, token: str, *, user: str) -> dict[str, Any]:
    """Return a kubeconfig for one user of the API on this port."""
    server = {"server": f"http://{LOCALHOST}:{port}"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": server}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": user}}],
    }


def write(path: Path, content: dict[str, Any]) -> None:
    """Replace the file; nobody else on the machine can read it at any moment.

    It is JSON, which is YAML too: the standard library writes no other YAML.
    """
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=1) + "\n")
    fresh.replace(path)


def token_in(path: Path) -> str:
    """Return the token that the file already has, else a new one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return str(found["users"][0]["user"]["token"])
    except (OSError, ValueError, KeyError, IndexError):
        return secrets.token_urlsafe(32)
