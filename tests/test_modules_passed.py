"""Spread of a call: the number of our modules that a fit and a prediction pass through."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import sslart
from sslart import AutoSSLART

PACKAGE = Path(sslart.__file__).parent
MOST_IN_FIT, MOST_IN_PREDICT = 35, 11  # as many as there are; 68 and 27 before modules were folded


def modules_passed(call: Callable[[], Any]) -> list[str]:
    """Return the modules of the package of which a function is called."""
    found = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            found.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    paths = sorted(Path(name) for name in found)
    return [path.relative_to(PACKAGE).as_posix() for path in paths if path.is_relative_to(PACKAGE)]


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(np.arange(len(y)) % 10, -1, y)


def test_fit_and_predict_pass_through_few_modules(table: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = table
    model = AutoSSLART(random_state=0).fit(X, y)  # all modules are imported, and lazy names known
    model.predict(X[:1])
    assert len(modules_passed(lambda: AutoSSLART(random_state=0).fit(X, y))) <= MOST_IN_FIT
    assert len(modules_passed(lambda: model.predict(X[:1]))) <= MOST_IN_PREDICT
