"""With bounds, a model does not depend on how its stream is cut, whatever its columns hold and when."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import sslart
from sslart import SSLART, WESSLART, FuzzyART, FuzzyARTMAP
from sslart.persistence import to_plain

BY_EVIDENCE = {
    "mapping": "evidence", "families": ["box", "linear"], "bandwidth": 0.25, "ridge": 0.01, "rank_weight": 0.5,
}  # fmt: skip
COUNTING = [
    FuzzyART(0.7, random_state=0),
    SSLART(0.7, random_state=0),
    SSLART(0.7, mapping="one-to-one", random_state=0),
    WESSLART(2, vigilance=0.7, random_state=0),
]
EVIDENCE = [SSLART(0.7, **BY_EVIDENCE, random_state=0), WESSLART(2, vigilance=0.7, **BY_EVIDENCE, random_state=0)]
KINDS = {
    "numbers": st.sampled_from([0.0, 1.0, 0.25, -3, 2]),
    "strings": st.sampled_from(["a", "b", "1", ""]),
    "booleans": st.booleans(),
    "a string, then all sorts": st.sampled_from(["a", 1, 0.5, True]),
    "nothing": st.none(),
}


@st.composite
def columns(draw: Any, n: int) -> list[Any]:
    """Draw a column of objects: missing at first, or now and then, or all over."""
    kind = draw(st.sampled_from(list(KINDS)))
    first = draw(st.integers(0, n))
    values = [None] * first + draw(st.lists(KINDS[kind] | st.none(), min_size=n - first, max_size=n - first))
    if kind == "a string, then all sorts":
        known = next((row for row, value in enumerate(values) if value is not None), None)
        if known is not None:
            values[known] = "a"
    return values


@st.composite
def streams(draw: Any) -> tuple[pd.DataFrame, np.ndarray, list[int]]:
    """Draw samples with one column of numbers and two of objects, labels, and where to cut."""
    n = draw(st.integers(3, 14))
    numbers = draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]), min_size=n, max_size=n))
    frame = pd.DataFrame({"x": numbers, **{name: pd.Series(draw(columns(n)), dtype=object) for name in ("k", "m")}})
    frame = frame[draw(st.permutations(list(frame.columns)))]
    labels = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    return frame, np.array(labels), sorted(draw(st.sets(st.integers(1, n - 1))))


def learnt(model: Any, X: Any, y: np.ndarray, cuts: list[int], saved_at: int | None = None) -> list[bytes]:
    """Return all that a file would hold of a model that has learnt a stream in pieces; it may be saved in between."""
    model = clone(model)
    for start, end in zip([0, *cuts], [*cuts, len(X)], strict=True):
        model.partial_fit(X[start:end], y[start:end])
        if end == saved_at:
            with tempfile.TemporaryDirectory() as folder:
                sslart.save(model, Path(folder) / "model.sslart")
                model = sslart.load(Path(folder) / "model.sslart")
    arrays: list[np.ndarray] = []
    header = to_plain(model.__sslart_state__(), arrays)
    return [json.dumps(header).encode(), *(array.tobytes() for array in arrays)]


def check(model: Any, X: Any, y: np.ndarray, cuts: list[int]) -> None:
    whole = learnt(model, X, y, [])
    assert learnt(model, X, y, cuts) == whole
    assert learnt(model, X, y, cuts, saved_at=next(iter(cuts), None)) == whole


@pytest.mark.parametrize("model", COUNTING, ids=repr)
@settings(max_examples=10)
@given(stream=streams())
def test_the_cut_does_not_matter(model: Any, stream: Any) -> None:
    check(clone(model).set_params(bounds=([0, 0, -1], [1, 5, 1])), *stream)


@pytest.mark.parametrize("model", EVIDENCE, ids=lambda model: type(model).__name__)
@settings(max_examples=4)
@given(stream=streams())
def test_the_cut_does_not_matter_to_evidence(model: Any, stream: Any) -> None:
    check(clone(model).set_params(bounds=(0, 1)), *stream)


@pytest.mark.stress
@pytest.mark.parametrize("model", [*COUNTING, *EVIDENCE], ids=repr)
@given(stream=streams(), bounds=st.sampled_from([(0, 1), ([0, 0, -1], [1, 5, 1])]))
def test_the_cut_does_not_matter_in_many_streams(model: Any, bounds: Any, stream: Any) -> None:
    check(clone(model).set_params(bounds=bounds), *stream)


@pytest.mark.parametrize("model", COUNTING, ids=repr)
def test_the_cut_does_not_matter_to_arrays_of_objects(model: Any) -> None:
    X = np.array([[0.5, None], [1, None], [0, 0.25], [None, 1], [0.5, 3]], dtype=object)
    for cut in range(1, 5):
        check(clone(model).set_params(bounds=(0, 1)), X, np.array([0, 1, -1, 1, 0]), [cut])


def test_the_cut_does_not_matter_to_frames_of_polars() -> None:
    frame = pl.DataFrame({"x": [0.0, 0.5, 1.0, 0.2], "k": pl.Series([None, None, "a", "b"], dtype=pl.Object)})
    for cut in range(1, 4):
        check(SSLART(0.7, bounds=(0, 1)), frame, np.array([0, 1, -1, 1]), [cut])


def test_an_empty_column_of_any_type_may_become_categories_or_numbers() -> None:
    for values in (["a", "b"], [3.0, 4.0], pd.Series(["a", "b"], dtype="category"), [True, False]):
        model = FuzzyARTMAP(bounds=(0, 1)).partial_fit(pd.DataFrame({"x": [0.1], "k": [None]}), [0])
        assert model.coded_feature_names_ == ["x"]
        later = pd.DataFrame({"x": [0.2, 0.9], "k": values})
        assert model.predict(later).tolist() == [0, 0]
        assert "k" in str(model.explain(later)[0]) or model.n_nodes_ == 1
        model.partial_fit(later, [0, 1])
        assert len(model.coded_feature_names_) == (2 if values[0] == 3.0 else 3)
        assert model.predict(later).tolist() == [0, 1]


def test_the_first_value_decides_in_a_stream_however_it_is_cut() -> None:
    frame = pd.DataFrame({"x": [0.1, 0.2, 0.3], "k": pd.Series([None, 1, "a"], dtype=object)})
    with pytest.raises(ValueError, match="'k' has the number 1 first, and 'a' later"):
        FuzzyART(bounds=(0, 1)).partial_fit(frame)
    for cut in (1, 2):
        model = FuzzyART(bounds=(0, 1)).partial_fit(frame[:cut])
        with pytest.raises(ValueError, match=r"'k' (has the number 1 first|was numeric)"):
            model.partial_fit(frame[cut:])
    assert FuzzyART().fit(frame).coded_feature_names_ == ["x", "k=1", "k=a"]  # fit has all values to decide by


def test_a_column_decided_late_predicts_and_explains_as_one_decided_early(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    X, y = random.rand(40, 3), random.randint(0, 2, 40)
    X[0, 0] = np.nan
    typed = pd.DataFrame(X, columns=["a", "b", "c"])
    early = SSLART(0.8, bounds=(0, 1)).partial_fit(typed, y)
    late = SSLART(0.8, bounds=(0, 1)).partial_fit(typed.astype({"a": object}), y)
    assert early.coded_feature_names_ == late.coded_feature_names_ == ["a", "b", "c"]
    np.testing.assert_array_equal(early.lower_, late.lower_)
    np.testing.assert_array_equal(early.predict_proba(typed), late.predict_proba(typed))
    for reason, other in zip(early.explain(typed), late.explain(typed), strict=True):
        assert (reason.prediction, reason.confidence) == (other.prediction, other.confidence)
    found, expected = (one.counterfactual(typed[3:4], fixed=["b", "c"]) for one in (late, early))
    assert found.to_dict() == expected.to_dict()
    for one in (early, late):
        sslart.save(one, tmp_path / "model.sslart")
        np.testing.assert_array_equal(sslart.load(tmp_path / "model.sslart").predict(typed), early.predict(typed))
