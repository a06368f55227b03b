"""Models and samples that the tests of rules share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from conftest import CLASSIFIERS, name_of
from sslart import SSLART, WESSLART
from sslart.rules import Rule, RuleCondition

each_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
GRID_STEP = 1e-9  # of a range: sides of boxes come back from the grid


def holds(condition: RuleCondition, value: Any) -> bool:
    """Tell whether a value satisfies an unquantised condition; a missing value is no evidence against it."""
    if condition.categories is not None:
        return value is None or value in condition.categories
    if np.isnan(value) or np.isnan(condition.low_value):
        return True
    slack = GRID_STEP * max(1.0, abs(value))
    return bool(condition.low_value - slack <= value <= condition.high_value + slack)


def covers(rule: Rule, sample: Any) -> bool:
    return all(holds(condition, value) for condition, value in zip(rule.conditions, sample, strict=True))


def classes_for(X: np.ndarray) -> np.ndarray:
    return np.arange(len(X)) * 7 % 5 % 3


def lattice_rules(X: np.ndarray, members: int = 0, **options: Any) -> tuple[Any, np.ndarray]:
    """A model of samples on a lattice, labelled but for every third, and its labels."""
    y = np.where(np.arange(len(X)) % 3 == 1, -1, classes_for(X))
    kind = WESSLART(members, random_state=0, vigilance=0.7) if members else SSLART(0.7, shuffle=False)
    return kind.fit(X, y), y


def mixed_samples() -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers, categories, missing values and a constant, and two classes."""
    random = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=60),
            "colour": random.choice(["red", "blue", "green"], 60),
            "old": random.choice([True, False], 60),
            "constant": 3.0,
        }
    )
    frame.loc[::7, "colour"] = None
    frame.loc[::5, "size"] = np.nan
    return frame, np.where(frame["colour"] == "red", "stop", "go")
