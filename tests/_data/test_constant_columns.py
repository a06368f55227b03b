"""Columns that have shown one value only: they change nothing until a second value is met."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART


def iris_with_few_labels() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    few = np.where(np.arange(150) % 6 == 0, y, -1)
    return X, few


def with_constants(X: np.ndarray) -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.insert(0, "site", "north")
    frame.insert(2, "year", 2021)
    frame.insert(6, "checked", True)
    return frame


@pytest.mark.parametrize("model", [SSLART(random_state=0), AutoSSLART(random_state=0), WESSLART(3, random_state=0)])
def test_constant_columns_change_nothing(model: Any) -> None:
    X, few = iris_with_few_labels()
    plain = clone(model).fit(pd.DataFrame(X, columns=list("abcd")), few)
    model.fit(with_constants(X), few)
    assert model.n_nodes_ == plain.n_nodes_
    np.testing.assert_array_equal(
        model.predict_proba(with_constants(X)), plain.predict_proba(pd.DataFrame(X, columns=list("abcd")))
    )


def saved(model: Any, folder: Path) -> Any:
    """Return a model after it was saved and loaded."""
    sslart.save(model, folder / "model.sslart")
    return sslart.load(folder / "model.sslart")


def test_the_summary_names_the_constant_columns() -> None:
    X, few = iris_with_few_labels()
    summary = AutoSSLART(random_state=0).fit(with_constants(X), few).summary()
    assert [note.column for note in summary.notes if note.topic == "constant columns"] == ["site", "year", "checked"]
    assert "constant columns" in str(summary)
    assert "site, year, checked" in str(summary)


def test_a_feature_joins_at_its_second_value_with_the_first_as_its_side() -> None:
    model = FuzzyART(vigilance=0.9).fit([[0.0, 5.0], [1.0, 5.0]])
    assert model.coded_feature_names_ == ["x0"]
    model.partial_fit([[0.0, 7.0]])
    assert model.coded_feature_names_ == ["x0", "x1"]
    np.testing.assert_array_equal(model.lower_, [[0.0, 5.0], [1.0, 5.0], [0.0, 7.0]])


def test_a_box_that_has_met_no_value_of_a_constant_column_gets_no_side_when_it_joins(tmp_path: Path) -> None:
    model = FuzzyART(vigilance=0.9).fit([[0.0, np.nan], [1.0, 5.0]])
    model = saved(model, tmp_path)
    model.partial_fit([[0.5, 7.0]])
    np.testing.assert_array_equal(model.lower_, [[0.0, np.nan], [1.0, 5.0], [0.5, 7.0]])


def test_a_category_joins_with_its_column() -> None:
    model = FuzzyART(vigilance=0.9).fit(pd.DataFrame({"a": [0.0, 1.0], "b": ["x", "x"]}))
    assert model.coded_feature_names_ == ["a"]
    model.partial_fit(pd.DataFrame({"a": [1.0], "b": ["y"]}))
    assert model.coded_feature_names_ == ["a", "b=x", "b=y"]
    np.testing.assert_array_equal(model.lower_, [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])


def test_with_bounds_a_feature_counts_from_the_start() -> None:
    model = FuzzyART(bounds=([0, 0], [1, 10])).fit([[0.0, 5.0], [1.0, 5.0]])
    assert model.coded_feature_names_ == ["x0", "x1"]


def test_another_value_of_a_constant_column_is_novel_and_changes_no_prediction() -> None:
    X, few = iris_with_few_labels()
    model = SSLART(random_state=0).fit(with_constants(X), few)
    other = with_constants(X).assign(year=1999)
    np.testing.assert_array_equal(model.predict(other), model.predict(with_constants(X)))
    assert (model.score_samples(other) <= 0.8).all()


@pytest.mark.parametrize("one_to_one", [True, False])
def test_a_sample_with_values_in_constant_columns_alone_is_learnt_and_predicted(
    one_to_one: bool, tmp_path: Path
) -> None:
    model = SSLART(mapping="one-to-one" if one_to_one else "one-to-many", random_state=0)
    X = [[7.0, np.nan], [7.0, 1.0], [7.0, 2.0], [7.0, np.nan]]
    model.fit(X, [0, 1, 0, 1])
    assert model.support_.sum() == 4
    assert set(model.predict([[7.0, np.nan], [8.0, np.nan]]).tolist()) <= {0, 1}
    assert model.predict_proba([[7.0, np.nan]]).shape == (1, 2)
    same = saved(model, tmp_path)
    np.testing.assert_array_equal(same.predict(X), model.predict(X))


values = st.sampled_from([0.0, 1.0, 1.0, 1.0, 2.0, np.nan])


@given(
    rows=st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0]), values, values), min_size=2, max_size=12),
    cuts=st.lists(st.integers(1, 11), max_size=4),
    labels=st.lists(st.sampled_from([-1, 0, 1]), min_size=12, max_size=12),
    mapping=st.sampled_from(["one-to-many", "one-to-one"]),
)
def test_a_stream_in_which_columns_come_to_vary_gives_one_model_however_it_is_cut(
    rows: list[tuple[float, ...]], cuts: list[int], labels: list[int], mapping: str
) -> None:
    X, y = np.array(rows), np.array(labels[: len(rows)])
    bounds = [0, np.nan, np.nan], [2, np.nan, np.nan]
    whole, parts = (SSLART(mapping=mapping, vigilance=0.7, bounds=bounds) for _ in range(2))
    for model in (whole, parts):
        model.partial_fit(X[:1], [0])
    whole.partial_fit(X[1:], y[1:])
    edges = sorted({1, *(cut for cut in cuts if cut < len(X)), len(X)})
    for start, stop in pairwise(edges):
        parts.partial_fit(X[start:stop], y[start:stop])
    assert whole.coded_feature_names_ == parts.coded_feature_names_
    np.testing.assert_array_equal(whole.lower_, parts.lower_)
    np.testing.assert_array_equal(whole.upper_, parts.upper_)
    np.testing.assert_array_equal(whole.counts_, parts.counts_)
