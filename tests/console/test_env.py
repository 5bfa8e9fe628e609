"""Readers of environment variables: a bad value stops the boot, is named, and leaks nothing."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from console import env


@pytest.fixture(autouse=True)
def value(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.delenv("VALUE", raising=False)


def test_a_missing_value_is_named() -> None:
    with pytest.raises(ImproperlyConfigured, match="VALUE is not set"):
        env.text("VALUE")


@pytest.mark.parametrize(
    ("written", "meant"), [("1", True), ("yes", True), ("0", False), ("", False)]
)
def test_a_flag_is_yes_or_no(monkeypatch: pytest.MonkeyPatch, written: str, meant: bool) -> None:
    monkeypatch.setenv("VALUE", written)

    assert env.flag("VALUE") is meant


def test_another_word_for_a_flag_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALUE", "maybe")

    with pytest.raises(ImproperlyConfigured, match="VALUE is 'maybe'; use 1 or 0"):
        env.flag("VALUE")


def test_a_number_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALUE", "-1")

    with pytest.raises(ImproperlyConfigured, match="whole number"):
        env.number("VALUE", 3)


def test_a_bad_encryption_key_is_refused_without_repeating_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = "A" * 43 + "="
    monkeypatch.setenv("VALUE", f"{good},hunter2")

    with pytest.raises(ImproperlyConfigured, match="Key 2 in VALUE") as refused:
        env.encryption_keys("VALUE")

    assert "hunter2" not in str(refused.value)


def test_a_database_on_a_socket_is_read_from_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALUE", "postgresql://ana:se%40cret@/ship?host=/run/pg")

    read = env.database("VALUE")

    assert (read["HOST"], read["NAME"], read["USER"], read["PASSWORD"]) == (
        "/run/pg",
        "ship",
        "ana",
        "se@cret",
    )


def test_an_address_of_another_database_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALUE", "mysql://localhost/ship")

    with pytest.raises(ImproperlyConfigured, match="VALUE has to look like postgresql"):
        env.database("VALUE")


def test_a_socket_is_spelled_the_message_librarys_way() -> None:
    assert env.broker("unix:///run/v.sock?db=3") == "redis+socket:///run/v.sock?virtual_host=3"
    assert env.broker("rediss://cache:6379/1") == "rediss://cache:6379/1"
