"""The site's settings for tests: throw-away secrets, and databases in a directory of this run.

The directory's name is chosen once; the workers of a parallel run inherit it. Nothing is started
here: the fixtures of conftest.py start what a test needs.
"""

from __future__ import annotations

import base64
import os
import secrets
import tempfile
from pathlib import Path

from console import embedded

os.environ.pop("KUBECONFIG", None)  # An ambient cluster may be somebody's production.
RUN_PREFIX = "pilothouse-test-"
RUN = Path(
    os.environ.setdefault(
        "PILOTHOUSE_TEST_RUN",
        f"{tempfile.gettempdir()}/{RUN_PREFIX}{os.getpid()}-{secrets.token_hex(4)}",
    )
)
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
POSTGRES = embedded.Postgres(RUN / "postgres", RUN / "postgres.log", embedded.THROW_AWAY)
VALKEY = embedded.Valkey(RUN / "valkey", RUN / "valkey.log")

os.environ |= {
    "DEBUG": "0",
    "HTTPS": "0",
    "STATIC_FROM_SOURCE": "1",
    "SECRET_KEY": secrets.token_urlsafe(48),
    "ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
    "PILOTHOUSE_INSECURE_REGISTRIES": "127.0.0.1:5000",  # the registry beside a real test cluster
    "PILOTHOUSE_ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    "DATABASE_URL": POSTGRES.url,
    # A Redis database for each worker of a parallel run.
    "REDIS_URL": f"{VALKEY.url}?db={WORKER}",
}

from console.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # tests log in often
CELERY_BROKER_URL = "memory://"  # a test that wants the real broker says so
ACCOUNT_RATE_LIMITS = False  # a browser test logs in as often as it likes
