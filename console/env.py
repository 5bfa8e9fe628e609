"""Typed readers of environment variables. A bad value stops the boot and names the variable.

What the values mean is in settings.py.
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"", "0", "false", "no", "off"})
ENCRYPTION_KEY_BYTES = 32


def text(name: str, default: str | None = None) -> str:
    """Return a variable; without a default it has to be set and not empty."""
    value = os.environ.get(name) or default
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set, and there is no default for it.")
    return value


def flag(name: str, *, default: bool = False) -> bool:
    """Return a yes or no; any other word stops the boot."""
    value = os.environ.get(name)
    if value is None:
        return default
    if value.lower() in TRUE:
        return True
    if value.lower() in FALSE:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}; use 1 or 0.")


def number(name: str, default: int) -> int:
    """Return a whole number of at least 0."""
    value = os.environ.get(name)
    if not value:
        return default
    if not (value.isascii() and value.isdigit()):
        raise ImproperlyConfigured(f"{name} is {value!r}; use a whole number.")
    return int(value)


def words(name: str, default: str = "") -> list[str]:
    """Return a list written with commas; empty parts are dropped."""
    parts = (part.strip() for part in os.environ.get(name, default).split(","))
    return [part for part in parts if part]


def encryption_keys(name: str) -> list[str]:
    """Return the keys in order: the first encrypts, all decrypt. At least one is needed.

    Each is 32 random bytes in URL-safe base64.
    """
    keys = words(name)
    if not keys:
        raise ImproperlyConfigured(f"{name} is not set: nothing secret could be stored.")
    for position, key in enumerate(keys, start=1):
        _check_key(name, position, key)
    return keys


def _check_key(name: str, position: int, key: str) -> None:
    """Refuse a key that is not one, without repeating it: the message ends up in a log."""
    try:
        size = len(base64.b64decode(key, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        size = 0
    if size != ENCRYPTION_KEY_BYTES:
        raise ImproperlyConfigured(
            f"Key {position} in {name} is not {ENCRYPTION_KEY_BYTES} bytes in URL-safe base64."
        )


def broker(redis_url: str) -> str:
    """Return the same Redis as the message library spells it: it has its own words for a socket."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    number = dict(parse_qsl(parts.query)).get("db", "0")
    return f"redis+socket://{parts.path}?virtual_host={number}"


def database(name: str, default: str | None = None) -> dict[str, Any]:
    """Return Django's settings for `postgresql://user:password@host:port/name?host=/socket/dir`."""
    parts = urlsplit(text(name, default))
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        raise ImproperlyConfigured(f"{name} has to look like postgresql://user@host/name.")
    query = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.get("host") or unquote(parts.hostname or ""),
        "PORT": query.get("port") or str(parts.port or ""),
    }
