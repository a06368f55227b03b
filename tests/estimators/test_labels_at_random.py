"""Labels of chosen samples are learnt, but only those of samples drawn at random measure the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris

import sslart
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.model_view import view_of
from sslart.active import select_queries

X, Y = load_iris(return_X_y=True)
FEW = np.where(np.arange(len(Y)) % 4 == 0, Y, -1)
DRAWN = np.arange(len(Y)) % 8 == 0
EVIDENCE = SSLART(mapping="evidence", random_state=0)


@pytest.fixture(scope="module")
def model() -> Any:
    return AutoSSLART(random_state=0).fit(X, FEW, at_random=DRAWN)


def test_the_model_is_the_same_and_only_the_statement_differs(model: Any) -> None:
    others = AutoSSLART(random_state=0).fit(X, FEW)
    np.testing.assert_array_equal(model.predict_proba(X), others.predict_proba(X))
    left_out = view_of(others).left_out
    assert left_out is not None
    counted = DRAWN[FEW >= 0][left_out.rows]
    assert model.quality_.accuracy.value == pytest.approx(left_out.right[counted].mean())
    assert (model.quality_.n_labels, model.quality_.n_chosen) == (counted.sum(), (~counted).sum())
    assert (others.quality_.n_labels, others.quality_.n_chosen) == (len(counted), 0)


def test_the_statement_names_its_samples(model: Any) -> None:
    text = str(model.quality_)
    assert f"leave-one-out of {model.quality_.n_labels} samples drawn at random" in text
    assert "from which labelled rows were drawn at random" in model.quality_.assumes


def test_sets_and_limits_rest_on_samples_drawn_at_random(model: Any) -> None:
    assert view_of(model).promises.n_labels == model.quality_.n_labels
    assert model.predict_set(X[:5], coverage=0.8).shape == (5, 3)


@pytest.mark.parametrize("estimator", [EVIDENCE, WESSLART(2, mapping="evidence", random_state=0)], ids=["one", "many"])
def test_it_is_saved_and_continued(estimator: Any, tmp_path: Path) -> None:
    half = len(X) // 2
    order = np.random.default_rng(0).permutation(len(X))
    first, last = order[:half], order[half:]
    taught = clone(estimator).fit(X[first], FEW[first], at_random=DRAWN[first])
    sslart.save(taught, tmp_path / "model.sslart")
    loaded = sslart.load(tmp_path / "model.sslart")
    assert loaded.quality_ == taught.quality_
    for one in (taught, loaded):
        one.partial_fit(X[last], FEW[last], at_random=DRAWN[last])
    assert loaded.quality_ == taught.quality_
    assert taught.quality_.n_labels == (DRAWN & (FEW >= 0)).sum()
    assert taught.quality_.n_chosen == (~DRAWN & (FEW >= 0)).sum()


def test_a_copy_without_samples_states_the_same(tmp_path: Path, model: Any) -> None:
    sslart.save(model, tmp_path / "model.sslart", samples=False)
    loaded = sslart.load(tmp_path / "model.sslart")
    assert loaded.quality_ == model.quality_


def test_without_a_sample_drawn_at_random_nothing_is_claimed() -> None:
    model = AutoSSLART(random_state=0).fit(X, FEW, at_random=np.zeros(len(X), dtype=bool))
    assert model.quality_.accuracy is None
    assert model.quality_.why_not == "no labelled sample was drawn at random"
    assert "no labelled sample was drawn at random" in str(model.summary())
    assert model.predict(X).shape == Y.shape
    with pytest.warns(UserWarning, match="max_error"):
        assert set(model.set_params(max_error=0.1).predict(X)) == {-1}
    with pytest.warns(UserWarning, match="there are 0 labels of samples drawn at random"):
        assert model.predict_set(X[:4], coverage=0.9).all()


def test_labels_of_one_answer_are_left_out_together_also_where_groups_are_given() -> None:
    names = [f"answer {row // 5}" if FEW[row] >= 0 and row % 3 else None for row in range(len(X))]
    answers = np.array(names, dtype=object)
    groups = np.arange(len(X)) // 3
    model = AutoSSLART(random_state=0).fit(X, FEW, answers=answers, groups=groups)
    left_out = view_of(model).left_out
    assert left_out is not None
    labelled = np.flatnonzero(FEW >= 0)[left_out.rows]
    for keys in (answers[labelled], groups[labelled]):
        for key in {one for one in keys.tolist() if one is not None}:
            assert len(set(left_out.groups[keys == key].tolist())) == 1
    assert model.quality_.n_labels < len(np.unique(groups[labelled]))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.booleans(), min_size=len(Y), max_size=len(Y)))
def test_every_label_is_either_counted_or_chosen(drawn: list[bool]) -> None:
    model = SSLART(mapping="evidence", families=["linear"], ridge=0.01, random_state=0)
    quality = model.fit(X, FEW, at_random=drawn).quality_
    is_drawn = np.array(drawn)
    assert quality.n_chosen == (~is_drawn & (FEW >= 0)).sum()
    assert quality.n_labels == (is_drawn & (FEW >= 0)).sum()
    if quality.accuracy is not None:
        assert quality.accuracy.low <= quality.accuracy.value <= quality.accuracy.high


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["yes"] * len(Y), "at_random"),
        ([True] * 3, "at_random"),
        (np.full(len(Y), np.nan), "at_random"),
    ],
    ids=["text", "length", "missing"],
)
def test_a_wrong_mask_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AutoSSLART(random_state=0).fit(X, FEW, at_random=wrong)


def test_a_third_of_the_queries_is_drawn_at_random_from_a_reserve() -> None:
    model = AutoSSLART(random_state=0).partial_fit(X)
    rows, at_random = select_queries(model, X, 30, return_at_random=True)
    assert at_random.sum() == 10
    again = AutoSSLART(random_state=0).partial_fit(X).partial_fit(X[rows], Y[rows], at_random=at_random)
    assert (again.quality_.n_labels, again.quality_.n_chosen) == (10, 20)
