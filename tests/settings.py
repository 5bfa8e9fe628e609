"""The site's settings for tests: throw-away secrets, and databases in a directory of this run.

The directory is made once; the workers of a parallel run inherit its name. Nothing is started here.
"""

from __future__ import annotations

import base64
import os
import secrets
import tempfile
from pathlib import Path

os.environ.pop("KUBECONFIG", None)  # An ambient cluster may be somebody's production.
RUN = Path(os.environ.setdefault("PILOTHOUSE_TEST_RUN", tempfile.mkdtemp(prefix="pilothouse-")))
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))

os.environ |= {
    "DEBUG": "0",
    "HTTPS": "0",
    "STATIC_FROM_SOURCE": "1",
    "SECRET_KEY": secrets.token_urlsafe(48),
    "ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
    "PILOTHOUSE_ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    "DATABASE_URL": f"postgresql://pilothouse@/pilothouse?host={RUN}/postgres",
    # A Redis database for each worker of a parallel run.
    "REDIS_URL": f"unix://{RUN}/valkey/valkey.sock?db={WORKER}",
}

from console.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # tests log in often
CELERY_BROKER_URL = "memory://"  # a test that wants the real broker says so
