"""Comparisons of methods: wins, ties and losses, and bootstrap intervals of a mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sslart.metrics import Interval, WinTieLoss, bootstrap_interval, win_tie_loss


def test_wins_ties_and_losses_counted_by_hand() -> None:
    # the row ION of the paper, with its one tie
    scores = np.array([[93.02, 91.2, 82.3, 90.1, 82.3, 85.7, 74.6, 80.1]])
    assert [tuple(counts) for counts in win_tie_loss(scores).values()] == [
        (7, 0, 0),
        (6, 0, 1),
        (2, 1, 4),
        (5, 0, 2),
        (2, 1, 4),
        (4, 0, 3),
        (0, 0, 7),
        (1, 0, 6),
    ]


def test_scores_may_be_a_table_a_mapping_or_a_frame() -> None:
    named = {"a": [3.0, 2.0], "b": [1.0, 2.5], "c": [1.0, 0.0]}
    expected = [WinTieLoss(3, 0, 1), WinTieLoss(2, 1, 1), WinTieLoss(0, 1, 3)]
    assert win_tie_loss(named) == dict(zip("abc", expected, strict=True))
    assert win_tie_loss(pd.DataFrame(named)) == dict(zip("abc", expected, strict=True))
    assert win_tie_loss([[3.0, 1.0, 1.0], [2.0, 2.5, 0.0]]) == dict(enumerate(expected))


def test_tolerance_and_missing_scores() -> None:
    assert win_tie_loss([[82.4, 82.3]], tolerance=0.1)[0] == (0, 1, 0)
    assert win_tie_loss([[82.4, 82.3]], tolerance=0.05)[0] == (1, 0, 0)
    assert win_tie_loss([[1.0, np.nan, 2.0]]) == {0: (0, 0, 1), 1: (0, 0, 0), 2: (1, 0, 0)}


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(2, 5)), elements=st.integers(0, 4).map(float)),
    st.sampled_from([0.0, 1.0, 2.5]),
)
def test_every_comparison_is_counted_for_both_sides(scores: Any, tolerance: float) -> None:
    counts = np.array(list(win_tie_loss(scores, tolerance=tolerance).values()))
    n_datasets, n_methods = scores.shape
    assert (counts.sum(axis=1) == n_datasets * (n_methods - 1)).all()
    wins, ties, losses = counts.sum(axis=0)
    assert wins == losses
    assert ties % 2 == 0
    np.testing.assert_array_equal(np.array(list(win_tie_loss(-scores, tolerance=tolerance).values())), counts[:, ::-1])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], "row per data set, a column per method"),
        ([[1.0], [2.0]], "at least two methods"),
        ([[1.0, np.inf]], "put NaN where a method has no score"),
        ([["x", "y"]], "must be numbers"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "one value per data set for every method"),
        ({}, "one value per data set for every method"),
    ],
)
def test_bad_scores_are_refused_with_a_cure(scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        win_tie_loss(scores)


def test_a_negative_tolerance_is_refused() -> None:
    with pytest.raises(ValueError, match="tolerance of win_tie_loss must be a number in"):
        win_tie_loss([[1.0, 2.0]], tolerance=-1)


def test_the_interval_of_two_values_is_known() -> None:
    # the mean of a resample of (0, 1) is 0, 1/2 or 1 with chances 1/4, 1/2, 1/4
    assert bootstrap_interval([0.0, 1.0]) == (0, 1)
    assert bootstrap_interval([0.0, 1.0], level=0.4) == (0.5, 0.5)


def test_the_interval_comes_close_to_that_of_the_normal_distribution() -> None:
    values = np.random.RandomState(0).normal(size=400)
    low, high = bootstrap_interval(values)
    width = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - width, abs=0.01)
    assert high == pytest.approx(values.mean() + width, abs=0.01)
    wide, narrow = bootstrap_interval(values, level=0.99), bootstrap_interval(values, level=0.5)
    assert wide.low < low < narrow.low < narrow.high < high < wide.high


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=8))
def test_the_interval_lies_among_the_values_and_repeats(values: Any) -> None:
    interval = bootstrap_interval(values, n_resamples=200)
    assert min(values) <= interval.low <= interval.high <= max(values)
    assert interval == bootstrap_interval(values, n_resamples=200)


@pytest.mark.parametrize("values", [[7.25], [0.1] * 10])
def test_the_interval_of_equal_values_is_that_value(values: Any) -> None:
    assert bootstrap_interval(values) == Interval(values[0], values[0])


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "values must be a sequence of numbers, and not empty"),
        ([[1.0]], {}, "values must be a sequence of numbers"),
        ([1.0, np.nan], {}, "leave out the repetitions without a result"),
        ([1.0, 2.0], {"level": 95}, "level of bootstrap_interval must be a number in"),
        ([1.0, 2.0], {"level": 1.0}, "must be below 1"),
        ([1.0, 2.0], {"n_resamples": 0}, "n_resamples of bootstrap_interval must be a whole number"),
    ],
)
def test_bad_values_are_refused_with_a_cure(values: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(values, **options)
