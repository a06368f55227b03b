"""Draws of labels and tables of the benchmark of intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from explain import certainty


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
