"""Masked values are missing, and names that differ in a NUL character at the end are two names or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from test_stream import fingerprint

import sslart
from conftest import ALL, name_of
from sslart import SSLART, FuzzyART, FuzzyARTMAP
from sslart.active import select_queries
from sslart.metrics import correctness_score, coverage_score
from sslart.model_selection import StratifiedLabelledKFold, WithUnlabelled, is_labelled

WRONG = 1e6  # what lies under the mask


@pytest.fixture
def samples() -> tuple[np.ma.MaskedArray, np.ndarray, np.ndarray]:
    """Masked samples, the same with NaN, and classes."""
    random = np.random.RandomState(0)
    values, mask = random.rand(40, 3), random.rand(40, 3) < 0.2
    mask[:, 0] = False
    masked = np.ma.MaskedArray(np.where(mask, WRONG, values), mask)
    return masked, np.where(mask, np.nan, values), (values[:, 0] > 0.5).astype(np.int64)


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_what_is_masked_in_the_samples_is_missing(model: Any, samples: Any) -> None:
    masked, values, y = samples
    given, expected = clone(model).fit(masked, y), clone(model).fit(values, y)
    for one, X in ((given, masked), (expected, values)):
        one.partial_fit(X, y)
    assert fingerprint(given) == fingerprint(expected)
    assert np.nanmax(given.upper_) < WRONG
    np.testing.assert_array_equal(expected.predict(masked), expected.predict(values))
    np.testing.assert_array_equal(expected.score_samples(masked), expected.score_samples(values))
    if hasattr(expected, "classes_"):
        assert str(expected.explain(masked[:2])) == str(expected.explain(values[:2]))
        assert expected.score(masked, y) == expected.score(values, y)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, object])
def test_a_mask_is_kept_whatever_the_type(dtype: Any) -> None:
    masked = np.ma.MaskedArray(np.array([[1, 200], [2, 3], [4, 5]], dtype=dtype), [[0, 1], [0, 0], [0, 0]])
    np.testing.assert_allclose(FuzzyART(1.0).fit(masked).upper_, [[1, np.nan], [2, 3], [4, 5]])


@pytest.mark.parametrize("classes", [[0, 1], ["no", "yes"], [False, True], [0.0, 1.0]])
def test_what_is_masked_in_the_labels_is_unlabelled(classes: list[Any], samples: Any) -> None:
    _, X, y = samples
    hidden = np.arange(len(y)) % 3 == 0
    masked = np.ma.MaskedArray(np.array(classes)[y], hidden)
    plain = [None if one else label for one, label in zip(hidden, np.array(classes)[y].tolist(), strict=True)]
    assert fingerprint(SSLART(random_state=0).fit(X, masked)) == fingerprint(SSLART(random_state=0).fit(X, plain))
    assert is_labelled(masked).tolist() == (~hidden).tolist()
    model = SSLART(random_state=0).fit(X, plain)
    assert model.score(X, masked) == model.score(X[~hidden], np.array(classes)[y][~hidden])
    assert not any(hidden[test].any() for _, test in StratifiedLabelledKFold(2).split(X, masked))
    with pytest.raises(ValueError, match="without a class"):
        coverage_score(masked, masked)


def test_what_is_masked_among_predictions_is_an_abstention() -> None:
    predicted = np.ma.MaskedArray([0, 1, 1], [False, False, True])
    assert coverage_score([0, 0, 1], predicted) == pytest.approx(2 / 3)
    assert correctness_score([0, 0, 1], predicted) == 0.5


def test_masked_groups_and_weights_are_refused(samples: Any) -> None:
    _, X, y = samples
    masked = np.ma.MaskedArray(np.ones(len(y)), np.arange(len(y)) == 3)
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        SSLART().fit(X, y, sample_weight=masked)
    with pytest.raises(ValueError, match=r"groups is missing .* for 1 labelled"):
        SSLART().fit(X, y, groups=masked)


def test_masks_are_kept_where_samples_are_put_together(samples: Any) -> None:
    masked, values, y = samples
    given = WithUnlabelled(SSLART(random_state=0), masked[20:]).fit(masked[:20], y[:20]).estimator_
    expected = WithUnlabelled(SSLART(random_state=0), values[20:]).fit(values[:20], y[:20]).estimator_
    assert fingerprint(given) == fingerprint(expected)
    assert select_queries(expected, masked, 5).tolist() == select_queries(expected, values, 5).tolist()


def test_a_masked_cell_of_a_list_or_frame_is_missing() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "kind": pd.Series(["x", np.ma.masked, "y"], dtype=object)})
    model = FuzzyART(1.0).fit(frame)
    assert model.coded_feature_names_ == ["a", "kind=x", "kind=y"]
    assert np.isnan(model.lower_[1, 1])


NAMES = ["a", "a\0", "a\0\0", "a\0b"]


@pytest.mark.parametrize("make", [list, lambda names: pd.Series(names, dtype=object), np.ndarray.tolist])
def test_a_class_with_a_nul_at_its_end_is_refused(make: Any) -> None:
    labels = np.array(["a", "a\0"], dtype=object)
    with pytest.raises(ValueError, match=r"class 'a\\x00', which ends with a NUL character"):
        FuzzyARTMAP().fit([[0.0], [1.0]], make(labels))
    model = SSLART(bounds=(0, 1)).partial_fit([[0.0]], ["a"])
    for call in (
        lambda: model.partial_fit([[1.0]], ["a\0"]),
        lambda: model.partial_fit([[1.0]], ["b"], classes=["a\0", "b"]),
        lambda: model.score([[1.0]], ["a\0"]),
        lambda: is_labelled(["a\0"]),
    ):
        with pytest.raises(ValueError, match="NUL"):
            call()
    assert model.classes_.tolist() == ["a"]


def test_a_nul_inside_a_class_stays(tmp_path: Path) -> None:
    model = FuzzyARTMAP().fit([[0.0], [1.0]], ["a", "a\0b"])
    sslart.save(model, tmp_path / "model.sslart")
    for one in (model, sslart.load(tmp_path / "model.sslart")):
        assert one.predict([[0.0], [1.0]]).tolist() == ["a", "a\0b"]


def test_categories_and_features_that_differ_in_a_nul_are_two(tmp_path: Path) -> None:
    frame = pd.DataFrame({"f": pd.Series(NAMES * 3, dtype=object), "f\0": np.arange(12.0)})
    y = [0, 1, 2, 3] * 3
    model = SSLART(0.95, random_state=0).fit(frame, y)
    sslart.save(model, tmp_path / "model.sslart")
    for one in (model, sslart.load(tmp_path / "model.sslart")):
        assert one.feature_names_in_.tolist() == ["f", "f\0"]
        assert set(one.coded_feature_names_) == {"f\0", *(f"f={name}" for name in NAMES)}
        assert one.predict(frame).tolist() == y
    found = model.counterfactual(frame[:1], target=1, fixed=["f\0"])
    assert [change.after for change in found[0].changes] == ["a\0"]


def test_groups_that_differ_in_a_nul_are_two() -> None:
    X, y = np.random.RandomState(0).rand(12, 2), [0, 1] * 6
    fixed = {"mapping": "evidence", "families": ["linear"], "ridge": 0.1, "rank_weight": 0.5, "random_state": 0}
    two = SSLART(**fixed).fit(X, y, groups=["a", "a\0", "b"] * 4)
    other = SSLART(**fixed).fit(X, y, groups=["a", "c", "b"] * 4)
    assert two.summary().to_dict() == other.summary().to_dict()
