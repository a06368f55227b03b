"""The benchmark of explanations measures what it claims to."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from conftest import needs_kernel
from sslart import AutoSSLART

pytest.importorskip("pandas")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import pandas as pd

from explain import certainty, game, quality, run, speed


@pytest.fixture(scope="module")
def iris() -> tuple[AutoSSLART, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    return AutoSSLART(random_state=0).fit(X, np.where(np.arange(150) % 5 == 0, y, -1)), X


def test_contributions_equal_the_values_by_all_subsets(iris: tuple[AutoSSLART, np.ndarray]) -> None:
    model, X = iris
    gaps = X[::50].copy()
    gaps[:, 1] = np.nan
    assert game.difference(model, np.vstack([X[::50], gaps])) < 1e-9


def test_values_by_all_subsets_are_those_of_a_game_solved_by_hand() -> None:
    """One box of weight 1 from 0 to 0, at a distance of 1 in each of two features: symmetry halves the change."""
    sides = np.full((1, 2, 16), [[0.0]], dtype=np.float32)
    weights = np.zeros((1, 1, 16), dtype=np.float32)
    weights[0, 0, 0] = 1.0
    by_hand = game.Game(1)
    by_hand.add_boxes(0.0, np.arange(2), np.ones(2), sides, sides, 1.0, weights)
    by_hand.add_linear(0.0, np.zeros(2), np.array([[3.0], [0.0]]))
    found = by_hand.shapley_values(np.ones(2), np.arange(2), 2)
    half = (np.exp(-2.0) - 1.0) / 2.0
    np.testing.assert_allclose(found, [[3.0 + half], [half]], atol=1e-12)


@pytest.mark.slow
def test_a_set_is_measured_and_the_page_shows_it() -> None:
    found = quality.quality("Iris", max_rows=10)
    assert found.n_rows == 10
    assert found.n_columns == 4
    assert found.incomplete < 1e-5
    assert found.incomplete_ensemble is not None
    assert found.incomplete_ensemble < 1e-5
    assert found.from_subsets is not None
    assert found.from_subsets < 1e-9
    assert found.right_sign == 1.0
    assert 1 <= found.lines <= 4
    timing = speed.Timing("AutoSSLART", 2, 2000, 4, 0.002, 11.0, 25.0, 60.0, 900.0, 1e-4, 0.02)
    text = run.summary([found], [timing]) + run.each_set([found])
    assert "25.0 times (AutoSSLART, bandwidths: 4)" in text
    assert f"{found.from_subsets:.1e} (Iris)" in text
    assert "| Iris | 4 | 10 |" in text


@needs_kernel
@pytest.mark.slow
def test_contributions_take_at_most_thirty_times_as_long_as_predictions() -> None:
    model, test = speed.evidence_model()
    model.contributions(test)
    _, times = speed.times_of_predict(model, {"contributions": lambda: model.contributions(test)}, test, turns=9)
    assert times["contributions"] < speed.LIMIT


def test_labels_are_drawn_at_random_with_one_of_each_class() -> None:
    y = pd.Series(["often"] * 90 + ["seldom"] * 2)
    drawn = [certainty.with_labels(y, 10, seed) for seed in range(4)]
    assert all(one.notna().sum() == 10 and set(one.dropna()) == {"often", "seldom"} for one in drawn)
    assert not drawn[0].equals(drawn[1])
    assert (drawn[0].dropna() == y[drawn[0].notna()]).all()


def test_no_column_of_the_xor_table_has_a_direction() -> None:
    X, y = certainty.xor_table(300, 0)
    assert max(abs(np.corrcoef(column, y == "one")[0, 1]) for column in X.T) < 0.2
    assert sum(label is not None for label in certainty.xor_table(60, 0)[1]) == 60


@pytest.mark.slow
def test_a_table_is_measured() -> None:
    found = certainty.certainty("breast_cancer", 50)
    assert 0.85 <= found.covered <= 1
    assert 0.4 <= found.true_sd / found.stated <= 1.5
