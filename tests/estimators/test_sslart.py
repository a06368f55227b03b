"""SSLART: stages, mappings, abstention, labels of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from conftest import CLASSIFIERS, EVIDENCE, lattices, name_of
from sslart import SSLART, WESSLART, FuzzyART
from sslart._mapping.model_view import view_of

SEMI_SUPERVISED = [SSLART(random_state=0), WESSLART(3, random_state=0), EVIDENCE[0]]


def test_stage_one_learns_what_fuzzy_art_learns(few_labels: Any) -> None:
    X, y = few_labels
    bounds = X.min(axis=0), X.max(axis=0)
    unlabelled = FuzzyART(0.8, bounds=bounds).fit(X[y == -1])
    model = SSLART(0.8, bounds=bounds, shuffle=False).fit(X, y)
    assert model.n_nodes_stage1_ == unlabelled.n_nodes_
    assert (model.support_ - model.counts_.sum(axis=1)).sum() == (y == -1).sum()


def test_stage_two_counts_every_labelled_sample(few_labels: Any) -> None:
    X, y = few_labels
    model = SSLART(0.8, random_state=0).fit(X, y)
    assert model.counts_.sum(axis=0).tolist() == np.bincount(y[y >= 0]).tolist()
    assert model.n_labelled_nodes_ == (model.counts_.sum(axis=1) > 0).sum() == (model.node_labels_ >= 0).sum()


def test_the_papers_example_takes_the_majority_of_a_box() -> None:
    # an unlabelled box W, then a noisy sample of class 1 and two of class 2: W is labelled 2 and stays one box
    X, y = [[0.4], [0.6], [0.5], [0.45], [0.55]], [-1, -1, 1, 2, 2]
    many = SSLART(0.5, bounds=(0, 1), shuffle=False).fit(X, y)
    assert many.n_nodes_ == 1
    assert many.counts_.tolist() == [[1, 2]]
    assert many.node_labels_.tolist() == [2]
    np.testing.assert_allclose(many.predict_proba([[0.5]]), [[1 / 3, 2 / 3]])
    one = SSLART(0.5, mapping="one-to-one", bounds=(0, 1), shuffle=False).fit(X, y)
    assert one.n_nodes_ > 1
    assert ((one.counts_ > 0).sum(axis=1) <= 1).all()


def test_ties_of_counts_go_to_the_class_seen_first() -> None:
    for y in ([1, 0], [0, 1]):
        model = SSLART(0.0, shuffle=False).fit([[0.5], [0.5]], y)
        assert model.node_labels_.tolist() == [y[0]]


@given(samples=lattices(min_samples=6), seed=st.integers(0, 99))
def test_one_to_one_never_mixes_classes(samples: np.ndarray, seed: int) -> None:
    y = np.random.RandomState(seed).randint(-1, 3, len(samples))
    y[0] = 0
    model = SSLART(0.5, mapping="one-to-one", random_state=0).fit(samples, y)
    assert ((model.counts_ > 0).sum(axis=1) <= 1).all()


@given(samples=lattices(min_samples=6, max_samples=30), seed=st.integers(0, 99), depth=st.integers(1, 6))
def test_depth_limits_the_search(samples: np.ndarray, seed: int, depth: int) -> None:
    y = np.where(np.random.RandomState(seed).rand(len(samples)) < 0.2, 1, -2)
    y = np.where(y == -2, -1, np.arange(len(y)) % 3)
    y[0] = 0
    model = SSLART(0.9, search_depth=depth, random_state=0).fit(samples, y)
    free = clone(model).set_params(search_depth=None).fit(samples, y)
    nodes, all_nodes = model.apply(samples), free.apply(samples)
    predicted = nodes >= 0
    np.testing.assert_array_equal(nodes[predicted], all_nodes[predicted])
    np.testing.assert_array_equal(model.predict(samples) == -1, ~predicted)
    np.testing.assert_array_equal(model.predict_proba(samples), free.predict_proba(samples))
    view = view_of(model)
    ranked = view.members[0].network.rank(view.read(samples), 1e-3, depth=depth)[0]
    reachable = [any(n >= 0 and model.node_labels_[n] != -1 for n in row) for row in ranked]
    np.testing.assert_array_equal(predicted, reachable)


def test_abstention_is_minus_one_for_integers_and_none_for_others() -> None:
    X = [[0.0], [0.5], [1.0]]
    for labels, nothing in (([7, -1, -1], -1), (["a", None, None], None), ([True, None, None], None)):
        model = SSLART(1.0, search_depth=1, shuffle=False).fit(X, labels)
        assert model.predict(X).tolist() == [labels[0], nothing, nothing]
        assert model.node_labels_.tolist() == [nothing, nothing, labels[0]]
        assert model.score(X, [labels[0]] * 3) == pytest.approx(1 / 3)
        assert model.set_params(search_depth=None).predict(X).tolist() == [labels[0]] * 3


GAPS = {
    "minus one": ([0, -1, 1, -1], [0, 1]),
    "none": ([0, None, 1, None], [0, 1]),
    "nan": ([0.0, np.nan, 1.0, np.nan], [0, 1]),
    "nan beside minus one": ([0.0, -1.0, 1.0, np.nan], [0, 1]),
    "strings": (["a", None, "b", None], ["a", "b"]),
    "strings and nan": (["a", np.nan, "b", np.nan], ["a", "b"]),
    "booleans": ([True, None, False, None], [False, True]),
    "pandas integers": (pd.Series([0, None, 1, None], dtype="Int64"), [0, 1]),
    "pandas booleans": (pd.Series([True, None, False, None], dtype="boolean"), [False, True]),
    "pandas strings": (pd.Series(["a", None, "b", pd.NA], dtype="string"), ["a", "b"]),
    "pandas categories": (pd.Series(["a", None, "b", None], dtype="category"), ["a", "b"]),
    "pandas na": (np.array(["a", pd.NA, "b", pd.NaT], dtype=object), ["a", "b"]),
    "negative integers": ([-5, -1, 3, -1], [-5, 3]),
    "unsigned": (np.array([0, 0, 1, 1], dtype=np.uint8), [0, 1]),
}


@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.parametrize("model", SEMI_SUPERVISED, ids=name_of)
def test_labels_of_every_kind_may_have_gaps(model: Any, kind: str) -> None:
    labels, classes = GAPS[kind]
    X = [[0.0], [0.1], [1.0], [0.9]]
    model = clone(model).fit(X, labels)
    assert model.classes_.tolist() == classes
    assert set(model.predict(X).tolist()) == set(classes)
    n_labelled = 4 if kind == "unsigned" else 2
    assert model.counts_.sum() == n_labelled * (3 if isinstance(model, WESSLART) else 1)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
@pytest.mark.parametrize(
    ("y", "cause"),
    [
        ([-1, -1, -1], "no labelled sample|unlabelled"),
        ([None, None, None], "no labelled sample|unlabelled"),
        (["a", 1, "b"], "several kinds"),
        ([0.5, 1.5, 2.0], "Unknown label type"),
        ([np.inf, 0, 1], "infinity"),
        ([2**70, 2**71, 5], "beyond 64 bits"),
        ([1e300, 1e250, 5], "beyond 64 bits"),
        (np.array([2**63 + 1, 2**63 + 2, 1], dtype=np.uint64), "beyond 64 bits"),
        ([0, 1], "inconsistent numbers of samples"),
        ([[0, 1], [1, 0], [0, 0]], "1d array"),
        ([1j, 2j, 1j], "Unknown label type"),
        (None, "requires y"),
    ],
)
def test_bad_labels_are_refused(model: Any, y: Any, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        clone(model).fit([[0.0], [1.0], [2.0]], y)


@pytest.mark.parametrize("model", SEMI_SUPERVISED, ids=name_of)
def test_minus_one_and_one_alone_are_two_classes(model: Any) -> None:
    X = [[0.0], [0.1], [1.0], [0.9]]
    with pytest.warns(UserWarning, match="two classes"):
        model = clone(model).fit(X, [-1, -1, 1, 1])
    assert model.predict(X).tolist() == [-1, -1, 1, 1]
    assert model.score(X, [-1, -1, 1, 1]) == 1.0
    assert clone(model).fit(X, [None, None, 1, 1]).classes_.tolist() == [1]


@pytest.mark.parametrize("model", SEMI_SUPERVISED, ids=name_of)
def test_predicting_before_any_label_is_refused(model: Any) -> None:
    model = clone(model).partial_fit([[0.0], [1.0]])
    for method in (model.predict, model.predict_proba, model.apply):
        with pytest.raises(NotFittedError, match="partial_fit"):
            method([[0.0]])
    assert model.score_samples([[0.0]]) == [1.0]
    assert model.n_labelled_nodes_ == 0
    assert model.node_labels_.tolist() == [-1] * model.n_nodes_
    assert len(model.classes_) == 0


def test_score_leaves_unlabelled_samples_out() -> None:
    model = SSLART(random_state=0).fit([[0.0], [1.0]], [0, 1])
    assert model.score([[0.0], [1.0], [1.0]], [0, 0, -1]) == 0.5
    assert model.score([[0.0], [1.0]], [0, 0], sample_weight=[3, 1]) == 0.75
    with pytest.raises(ValueError, match="no labelled sample"):
        model.score([[0.0]], [-1])


def test_probabilities_are_the_counts_of_the_node_that_predicts(few_labels: Any) -> None:
    X, y = few_labels
    model = SSLART(0.6, random_state=0).fit(X, y)
    counts = model.counts_[model.apply(X)]
    np.testing.assert_allclose(model.predict_proba(X), counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_seed_settles_the_order() -> None:
    X, y = np.random.RandomState(0).rand(80, 3), np.arange(80) % 4 - 1
    lower = [SSLART(0.8, random_state=seed).fit(X, y).lower_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(lower[0], lower[1])
    assert lower[0].shape != lower[2].shape or (lower[0] != lower[2]).any()


def test_unlabelled_samples_help(blobs: Any) -> None:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    random = np.random.RandomState(0)
    labelled = random.rand(len(y)) < 0.05
    with_unlabelled = SSLART(0.75, random_state=0).fit(X, np.where(labelled, y, -1)).score(X, y)
    without = SSLART(0.75, random_state=0).fit(X[labelled], y[labelled]).score(X, y)
    assert with_unlabelled > without


def test_large_integer_classes_stay_apart() -> None:
    model = SSLART(1.0, shuffle=False).fit([[0], [1], [2]], pd.array([2**53, 2**53 + 1, None], dtype="Int64"))
    assert model.classes_.tolist() == [2**53, 2**53 + 1]


def test_no_node_has_the_label_minus_one_before_a_label_came() -> None:
    model = SSLART().partial_fit([[0.0], [1.0]], None, classes=[-1, 1])
    assert model.node_labels_.tolist() == [None] * model.n_nodes_
    assert model.partial_fit([[0.0]], [-1]).score([[0.0]], [-1]) == 1.0


@pytest.mark.parametrize("classes", [[0, 1], ["a", "b"]])
def test_abstaining_after_a_stream_reads_no_node_that_is_not_there(classes: list[int] | list[str]) -> None:
    for junk in range(20):
        filled = [np.full(64, 2**60 + junk) for _ in range(50)]  # what a new array may find in its memory
        del filled
        model = SSLART(1.0, search_depth=1).partial_fit([[0.0], [9.0], [5.0]], [*classes, None])
        assert model.predict([[5.0]]).tolist() == [-1 if classes == [0, 1] else None]
        assert model.predict([[0.0]]).tolist() == classes[:1]
