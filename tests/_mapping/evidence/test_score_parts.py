"""The parts of the scores of fitted models: complete, for categories, gaps and every family."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from sslart import SSLART, AutoSSLART
from sslart._mapping.model_view import view_of

FAMILIES = ["box", "relevant", "feature", "linear", "subspace", "propagated"]


def mixed() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=150),
            "colour": random.choice(["red", "green", "blue", "grey"], 150),
            "weight": random.normal(size=150),
        }
    )
    y = np.where((frame["colour"] == "red") | (frame["size"] > 0.5), "yes", "no")
    frame.loc[::7, "size"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame, y


def parts_and_scores(model: Any, X: Any) -> tuple[Any, np.ndarray]:
    view = view_of(model)
    (member,) = view.members
    coded = member.encode(view.read(X))
    columns = np.array([feature.column for feature in member.encoder.features])
    assert member.readout is not None
    parts = member.readout.contributions(coded, columns, len(view.feature_names))
    return parts, member.readout.scores(coded)


def check_complete(parts: Any, scores: np.ndarray) -> None:
    total = parts.base + parts.by_column.sum(axis=1) + parts.of_graph
    np.testing.assert_allclose(total, scores, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "load", [load_iris, load_wine, load_breast_cancer, pytest.param(load_digits, marks=pytest.mark.slow)]
)
def test_the_parts_of_a_score_add_up(load: Any) -> None:
    X, y = load(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X, np.where(np.arange(len(y)) % 10 == 0, y, -1))
    parts, scores = parts_and_scores(model, X[:100])
    check_complete(parts, scores)
    assert parts.by_column.shape == (100, X.shape[1], len(np.unique(y)))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_parts_for_columns_of_numbers_and_of_categories(family: str) -> None:
    frame, y = mixed()
    model = SSLART(0.8, mapping="evidence", families=[family], random_state=0).fit(frame, y)
    parts, scores = parts_and_scores(model, frame)
    check_complete(parts, scores)
    assert parts.by_column.shape[1] == 3
    assert bool(parts.of_graph.any()) == (family == "propagated")
    assert bool(parts.by_column.any()) == (family != "propagated")


def test_a_missing_value_contributes_nothing() -> None:
    frame, y = mixed()
    model = SSLART(0.8, mapping="evidence", families=["box", "feature", "linear"], random_state=0).fit(frame, y)
    parts, _ = parts_and_scores(model, frame)
    missing = frame.isna().to_numpy()
    assert missing.any()
    assert not parts.by_column[missing].any()
