"""What the programs of `make up` get to see, and the secrets that it makes."""

from __future__ import annotations

import stat
from pathlib import Path

from console.up import environment


def variables(var: Path, **surroundings: str) -> dict[str, str]:
    return environment.own(
        var,
        database_url="postgresql://pilothouse@/pilothouse",
        redis_url="unix:///valkey.sock",
        registry="127.0.0.1:8411",
        surroundings=surroundings,
    )


def test_an_ambient_kubeconfig_reaches_nobody() -> None:
    surroundings = {"KUBECONFIG": "/home/ana/production", "PATH": "/usr/bin"}

    assert environment.inherited(surroundings) == {"PATH": "/usr/bin"}


def test_the_secrets_are_made_once_and_only_we_may_read_them(tmp_path: Path) -> None:
    first, second = variables(tmp_path), variables(tmp_path)

    assert first["PILOTHOUSE_ENCRYPTION_KEYS"] == second["PILOTHOUSE_ENCRYPTION_KEYS"]
    assert stat.S_IMODE((tmp_path / "secrets.env").stat().st_mode) == 0o600


def test_insecure_registries_of_the_surroundings_are_passed_on(tmp_path: Path) -> None:
    own = variables(tmp_path, PILOTHOUSE_INSECURE_REGISTRIES="127.0.0.1:5000")

    assert own["PILOTHOUSE_INSECURE_REGISTRIES"] == "127.0.0.1:8411,127.0.0.1:5000"
