"""The front door at close range; what it lets through to estimators is tested with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sslart._data.labels import read_labels
from sslart._data.samples import SampleReader, is_missing, read_samples
from sslart._utils.validation import check_bounds, check_number


@pytest.mark.parametrize("value", [None, np.nan, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_missing_in_every_dialect(value: Any) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, 0.0])
def test_present_values_are_not_missing(value: Any) -> None:
    assert not is_missing(value)


def labels_of(y: Any) -> tuple[list[Any], list[bool]]:
    read = read_labels(y)
    return read.values[read.known].tolist(), read.known.tolist()


def test_nan_among_strings_is_no_class_called_nan() -> None:
    assert labels_of(["a", float("nan"), "nan"]) == (["a", "nan"], [True, False, True])


def test_minus_one_as_a_string_is_a_class() -> None:
    assert labels_of(["-1", "1"]) == (["-1", "1"], [True, True])


def test_whole_floats_are_integers() -> None:
    assert labels_of(np.array([1.0, np.nan, -1.0, 2.0])) == ([1, 2], [True, False, False, True])


def test_large_integers_stay_exact() -> None:
    assert labels_of([2**60 + 1, 0])[0] == [2**60 + 1, 0]


def test_frame_keeps_numbers_and_categories_apart() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": pd.Categorical([3, 4]), "d": [None, None]})
    table = read_samples(SampleReader("FuzzyART"), frame, reset=True)
    np.testing.assert_array_equal(table.values[:, [0, 3]], [[1, np.nan], [2, np.nan]])
    assert {column: list(values) for column, values in table.categories.items()} == {1: ["x", None], 2: [3, 4]}


def test_limits_spread_over_the_features() -> None:
    assert check_bounds("Model", None, 3) is None
    lower, upper = check_bounds("Model", (0, [1, 2, 3]), 3)
    assert lower.tolist() == [0, 0, 0]
    assert upper.tolist() == [1, 2, 3]


def test_the_message_names_the_range() -> None:
    with pytest.raises(ValueError, match=r"rate of Model must be a number in \(0, 1\], got 0"):
        check_number("Model", "rate", 0, 0, 1, open_low=True)
