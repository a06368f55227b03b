"""For all tests and docstring examples: pictures are drawn without a window, and none is left open."""

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

os.environ["MPLBACKEND"] = "Agg"
USUAL: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "derandomize": True}
settings.register_profile("few", max_examples=25, **USUAL)
settings.register_profile("many", max_examples=500, **USUAL)  # of `make test-slow`
gc.set_threshold(20_000)  # the usual 700 would take a twentieth of the time
settings.load_profile(os.environ.get("SSLART_EXAMPLES", "few"))


def pytest_collection_finish() -> None:
    """Let the collector of garbage leave out the modules and thousands of tests, which stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def no_figure_is_left_open() -> Iterator[None]:
    """Close what a module has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
