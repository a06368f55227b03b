"""Outliers that take nearly all of the range of a feature are named, and nothing else is."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from sslart import SSLART, FuzzyART, FuzzyARTMAP
from sslart._data.columns.outliers import find_outliers
from sslart.cli import main


def usual(n_samples: int = 60) -> np.ndarray[Any, Any]:
    return np.random.RandomState(0).rand(n_samples, 3)


@pytest.mark.parametrize("model", [SSLART(), FuzzyARTMAP()], ids=str)
def test_the_feature_the_value_the_row_and_the_cure_are_named(model: Any) -> None:
    X = pd.DataFrame(usual(), columns=["age", "income", "height"])
    X.loc[17, "income"] = 1e12
    expected = (
        r"Feature income has outliers that take nearly all of its range: 1e\+12, in row 17, counted from 0\. All other "
        r"values lie from 0\.0\d+ to 0\.\d+, so .* Correct such a value, or leave it empty \(NaN\)"
    )
    with pytest.warns(UserWarning, match=expected) as found:
        model.fit(X, np.arange(60) % 2)
    assert len(found) == 1
    assert found[0].filename == __file__


def test_clusters_are_warned_of_too() -> None:
    X = usual()
    X[3, 0], X[9, 0] = -1e6, 1e6
    with pytest.warns(UserWarning, match=r"Feature x0 .*: -1e\+06, 1e\+06, in rows 3, 9, counted from 0"):
        FuzzyART().fit(X)


def test_rows_are_those_that_the_user_gave_and_samples_without_weight_do_not_count() -> None:
    X, weights = usual(), np.ones(60)
    X[2, 0], X[40, 1], weights[:3] = 1e9, -99999, 0
    with pytest.warns(UserWarning, match=r"Feature x1 .* in row 40,") as found:
        SSLART().fit(X, np.arange(60) % 2, sample_weight=weights)
    assert len(found) == 1


def test_a_code_for_missing_values_may_come_several_times() -> None:
    X = usual()
    X[[5, 6, 7], 2] = 9999
    (found,) = find_outliers(X)
    assert (found.column, found.values.tolist()) == (2, [9999.0])


@pytest.mark.parametrize(
    "column",
    [
        np.r_[np.zeros(99), 1.0],  # nearly constant: there is no usual range
        np.r_[np.zeros(97), 0.001, 0.002, 5.0],
        np.r_[np.arange(50.0), 1e6 + np.arange(50.0)],  # two clusters
        np.exp(2.5 * np.random.RandomState(0).randn(5000)),  # a long tail
        np.r_[0.0, 1.0, 1e9],  # too few to know what is usual
        np.full(20, np.nan),
    ],
    ids=["rare", "rare and small", "clusters", "tail", "few", "missing"],
)
def test_what_is_no_single_outlier_is_not_named(column: Any) -> None:
    assert not list(find_outliers(column[:, None]))


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_real_tables_have_none(load: Any) -> None:
    assert not list(find_outliers(load().data))


@settings(max_examples=40)
@given(arrays(np.float64, st.integers(0, 30), elements=st.floats(allow_infinity=False)))
def test_without_its_outliers_a_column_has_a_small_part_of_the_range(column: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(find_outliers(column[:, None]))
    for one in found:
        assert one.highest / 2 - one.lowest / 2 < (np.nanmax(column) / 2 - np.nanmin(column) / 2) / 999
        assert len(one.values) <= 3


@pytest.mark.filterwarnings("default")
def test_the_command_line_names_it_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = pd.DataFrame(usual(20), columns=["age", "income", "height"]).assign(kind=["a", "b"] * 10)
    X.loc[17, "income"] = 1e12
    X.to_csv(tmp_path / "table.csv", index=False)
    assert main(["fit", str(tmp_path / "table.csv"), "--label", "kind", "--out", str(tmp_path / "model")]) == 0
    assert capsys.readouterr().err.count("Feature income has outliers") == 1
