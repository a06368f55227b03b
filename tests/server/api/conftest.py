"""A service that has learnt the iris data, for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from service import application, fit_flowers


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return a client of a service with the model flowers."""
    with application(tmp_path_factory.mktemp("store")) as client:
        fit_flowers(client)
        yield client
