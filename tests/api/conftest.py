"""The shop and the people around it, for every test of the API."""

from __future__ import annotations

import pytest

from deployments.domain.roles import Role
from tests.api.client import Caller, Shop, make_shop, member


@pytest.fixture
def shop(db: None) -> Shop:
    """The shop with one environment and one service that was never deployed."""
    return make_shop()


@pytest.fixture
def viewer(shop: Shop) -> Caller:
    return member(shop, Role.VIEWER)


@pytest.fixture
def engineer(shop: Shop) -> Caller:
    return member(shop, Role.ENGINEER)


@pytest.fixture
def owner(shop: Shop) -> Caller:
    return member(shop, Role.OWNER)
