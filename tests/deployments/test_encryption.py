"""Secret values at rest, before and after a change of keys."""

from __future__ import annotations

import pytest
from cryptography.fernet import Fernet, InvalidToken

from deployments import encryption

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()


@pytest.fixture(autouse=True)
def old_key(settings) -> None:
    settings.PILOTHOUSE_ENCRYPTION_KEYS = [OLD]


def test_equal_texts_never_look_the_same() -> None:
    assert encryption.encrypt("s3cret") != encryption.encrypt("s3cret")
    assert encryption.decrypt(encryption.encrypt("s3crét")) == "s3crét"


def test_an_old_text_is_read_after_a_new_key_was_put_in_front(settings) -> None:
    stored = encryption.encrypt("s3cret")
    settings.PILOTHOUSE_ENCRYPTION_KEYS = [NEW, OLD]

    assert encryption.decrypt(memoryview(stored)) == "s3cret"
    fresh = encryption.encrypt("s3cret")
    settings.PILOTHOUSE_ENCRYPTION_KEYS = [NEW]
    assert encryption.decrypt(fresh) == "s3cret"
    with pytest.raises(InvalidToken):
        encryption.decrypt(stored)


def test_a_hash_stays_comparable_when_a_new_key_is_put_in_front(settings) -> None:
    before = encryption.keyed_hash("s3cret")
    settings.PILOTHOUSE_ENCRYPTION_KEYS = [NEW, OLD]

    assert encryption.keyed_hash("s3cret") == before
    assert encryption.keyed_hash("other") != before


def test_a_hash_says_nothing_to_who_has_no_key(settings) -> None:
    before = encryption.keyed_hash("s3cret")
    settings.PILOTHOUSE_ENCRYPTION_KEYS = [NEW]

    assert encryption.keyed_hash("s3cret") != before
    assert "s3cret" not in before
