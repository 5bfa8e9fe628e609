"""Secret values at rest: encrypted with the first of `PILOTHOUSE_ENCRYPTION_KEYS`, decrypted with
any of them, and hashed so that a frozen configuration can be compared without holding a value."""

from __future__ import annotations

import base64
import hashlib
import hmac

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings

_HASH_PURPOSE = b"pilothouse: keyed hash of a secret value"


def encrypt(text: str) -> bytes:
    """Return what is stored for a secret text; the same text never looks the same twice."""
    return _box().encrypt(text.encode())


def decrypt(ciphertext: bytes | memoryview) -> str:
    """Return the text again. Raises InvalidToken where no key fits."""
    return _box().decrypt(bytes(ciphertext)).decode()


def keyed_hash(text: str) -> str:
    """Return a hash that tells whether two secret texts are the same, and nothing else.

    Its key comes from the last of the keys: it stays when a newer one is put in front.
    """
    oldest = base64.urlsafe_b64decode(settings.PILOTHOUSE_ENCRYPTION_KEYS[-1])
    key = hmac.digest(oldest, _HASH_PURPOSE, hashlib.sha256)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _box() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.PILOTHOUSE_ENCRYPTION_KEYS])
