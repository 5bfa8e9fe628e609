"""The environment of everything that `make up` starts, and the secrets that it makes once."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from pathlib import Path

from console.up.files import write_private
from console.up.ports import HOST

# An ambient KUBECONFIG may be somebody's production. The others would lead elsewhere than to
# the servers started here, or are words to `make` itself.
NEVER_INHERITED = frozenset(
    {"KUBECONFIG", "DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "CLUSTER", "PORT"}
    | {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VIRTUAL_ENV", "GUNICORN_CMD_ARGS"}
)


def own(
    var: Path, *, database_url: str, redis_url: str, registry: str, surroundings: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables that the product's settings need here."""
    insecure = surroundings.get("PILOTHOUSE_INSECURE_REGISTRIES", "")
    return {
        **_secrets(var / "secrets.env"),
        "DEBUG": "0",
        "HTTPS": "0",
        "STATIC_FROM_SOURCE": "1",
        "ALLOWED_HOSTS": f"localhost,{HOST}",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "PILOTHOUSE_INSECURE_REGISTRIES": ",".join(filter(None, [registry, insecure])),
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "PYTHONUNBUFFERED": "1",
    }


def inherited(surroundings: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in surroundings.items() if name not in NEVER_INHERITED}


def as_lines(variables: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in variables.items())


def _secrets(path: Path) -> dict[str, str]:
    """Return the keys of this folder; lost keys would make what is stored unreadable."""
    if not path.exists():
        key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        made = {"SECRET_KEY": secrets.token_urlsafe(48), "PILOTHOUSE_ENCRYPTION_KEYS": key}
        write_private(path, as_lines(made))
    lines = path.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)
