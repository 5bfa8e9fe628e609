"""A kubeconfig as somebody wrote it, made into one that stands alone: one context, no files.

Only what is in the file that was named is read, never `KUBECONFIG` or a service account: nobody's
production is touched by accident. Who answers at its address is not looked at here.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

Json = dict[str, Any]

LARGEST_FILE = 1024 * 1024
_FILES = {
    "certificate-authority": "certificate-authority-data",
    "client-certificate": "client-certificate-data",
    "client-key": "client-key-data",
}
_CLUSTER_FIELDS = ("server", "certificate-authority-data", "tls-server-name")
_USER_FIELDS = ("token", "client-certificate-data", "client-key-data")
_RUNS_A_PROGRAM = ("exec", "auth-provider")


class NotUsable(Exception):
    """A kubeconfig that cannot be used. The text is a sentence for a person."""


def read(path: Path, context: str | None) -> Json:
    """Return the file's context (its current one by default) flattened. Raises NotUsable."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise NotUsable(f"{path} is no kubeconfig: it is larger than 1 MiB.")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotUsable(f"{path} does not exist.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise NotUsable(f"{path} cannot be read: {_why(error)}.") from error
    return flatten(text, context, folder=path.parent, what=str(path))


def flatten(text: str, context: str | None, *, folder: Path, what: str) -> Json:
    """Return one context of a kubeconfig with its certificates and token inside.

    Files that it names are looked for from `folder`; `what` names the kubeconfig in a refusal.
    Raises NotUsable.
    """
    config = _parsed(text, what)
    name = context or config.get("current-context") or ""
    if not name:
        raise NotUsable(f"{what} has no current context; choose one with --context.")
    chosen = _named(config, "contexts", "context", name, what)
    cluster = _named(config, "clusters", "cluster", str(chosen.get("cluster")), what)
    user = _named(config, "users", "user", str(chosen.get("user")), what)
    return _alone(_cluster(cluster, folder, what), _user(user, folder, what))


def _parsed(text: str, what: str) -> Json:
    try:
        config = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        config = None
    if not isinstance(config, dict) or not isinstance(config.get("clusters"), list):
        raise NotUsable(f"{what} is not a kubeconfig.")
    return config


def _named(config: Json, plural: str, singular: str, name: str, what: str) -> Json:
    entries = [entry for entry in config.get(plural) or [] if isinstance(entry, dict)]
    found = next((entry for entry in entries if entry.get("name") == name), None)
    if found is not None and isinstance(found.get(singular), dict):
        return dict(found[singular])
    known = ", ".join(sorted(str(entry.get("name")) for entry in entries)) or "none"
    raise NotUsable(f"{what} has no {singular} {name!r}; it has: {known}.")


def _cluster(cluster: Json, folder: Path, what: str) -> Json:
    server = str(cluster.get("server") or "")
    if urlsplit(server).scheme not in {"https", "http"} or not urlsplit(server).hostname:
        raise NotUsable(f"{what} names no server that begins with https://.")
    if cluster.get("insecure-skip-tls-verify"):
        raise NotUsable(
            f"{what} turns the check of the server's certificate off (insecure-skip-tls-verify):"
            " add the certificate authority instead."
        )
    if cluster.get("proxy-url"):
        raise NotUsable(f"{what} goes through a proxy (proxy-url), which Pilothouse does not.")
    return _inlined(cluster, folder, what, _CLUSTER_FIELDS)


def _user(user: Json, folder: Path, what: str) -> Json:
    runs = next((key for key in _RUNS_A_PROGRAM if user.get(key)), None)
    if runs is not None:
        raise NotUsable(
            f"{what} gets its credentials from a program ({runs}), and Pilothouse runs none:"
            " use the token of a service account, or a client certificate."
        )
    if user.get("username") or user.get("password"):
        raise NotUsable(f"{what} has a user name and password, which Kubernetes no longer takes.")
    if user.get("tokenFile") and not user.get("token"):
        token = _file(str(user["tokenFile"]), folder, what)
        user = {**user, "token": token.decode("utf-8", "replace").strip()}
    return _inlined(user, folder, what, _USER_FIELDS)


def _inlined(values: Json, folder: Path, what: str, kept: tuple[str, ...]) -> Json:
    inlined = dict(values)
    for key, data_key in _FILES.items():
        if values.get(key) and not values.get(data_key):
            content = _file(str(values[key]), folder, what)
            inlined[data_key] = base64.b64encode(content).decode()
    return {key: str(inlined[key]) for key in kept if inlined.get(key)}


def _file(name: str, folder: Path, what: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise NotUsable(f"{what} names the file {name}: {_why(error)}.") from error


def _why(error: Exception) -> str:
    return (getattr(error, "strerror", None) or "it is no text").lower()


def _alone(cluster: Mapping[str, str], user: Mapping[str, str]) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "pilothouse",
        "contexts": [
            {"name": "pilothouse", "context": {"cluster": "pilothouse", "user": "pilothouse"}}
        ],
        "clusters": [{"name": "pilothouse", "cluster": dict(cluster)}],
        "users": [{"name": "pilothouse", "user": dict(user)}],
    }
