"""Samples worth a label: boxes without one first, each asked about by the sample in its middle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.active import MAX_UNSURE, QueryPool, select_queries

X, Y = load_iris(return_X_y=True)
FEW = np.where(np.arange(150) % 25 == 0, Y, -1)


def fitted(model: Any) -> Any:
    return clone(model).fit(X, FEW)


@pytest.mark.parametrize(
    "model", [AutoSSLART(random_state=0), SSLART(0.8, random_state=0), WESSLART(3, vigilance=0.8, random_state=0)]
)
def test_boxes_without_a_label_come_first_and_one_answer_labels_the_box(model: Any) -> None:
    model = fitted(model)
    member = getattr(model, "estimators_", [model])[0]
    shortlist = QueryPool(model)
    shortlist.look_at(X)
    questions = shortlist.best(400)
    new = [question.new for question in questions]
    assert new == sorted(new, reverse=True)
    assert sum(new) == sum(label == -1 for label in member.node_labels_)
    first = questions[0]
    assert member.node_labels_[first.node] == -1
    model.partial_fit(X[[first.row]], Y[[first.row]])
    assert member.node_labels_[first.node] == Y[first.row]
    assert not any(question.node == first.node and question.new for question in shortlist.best(400))


def test_where_the_model_is_always_sure_the_largest_box_comes_first() -> None:
    model = fitted(SSLART(0.8, random_state=0))
    assert set(model.predict_proba(X).max(axis=1)) == {1.0}
    shortlist = QueryPool(model)
    shortlist.look_at(X)
    sizes = [question.n_samples for question in shortlist.best(400) if question.new]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_counts_are_of_the_samples_whose_best_box_it_is() -> None:
    model = fitted(SSLART(0.8, random_state=0))
    shortlist = QueryPool(model)
    shortlist.look_at(X)
    best = model._network.rank(model._read(X), model.choice, depth=1)[0][:, 0]
    questions = shortlist.best(400)
    assert len({question.row for question in questions}) == len(questions)
    for question in questions:
        assert best[question.row] == question.node
        assert question.n_samples == (best == question.node).sum()
    labelled = model.node_labels_ != -1
    assert shortlist.share_labelled() == pytest.approx(labelled[best].mean())


@given(st.lists(st.integers(1, 149), max_size=4, unique=True))
@settings(max_examples=20, deadline=None)
def test_the_list_does_not_depend_on_how_the_samples_come(cuts: list[int]) -> None:
    model = fitted(SSLART(0.8, random_state=0))
    whole, pieces = QueryPool(model), QueryPool(model)
    whole.look_at(X)
    for piece in np.split(X, sorted(cuts)):
        pieces.look_at(piece)
    assert whole.best(400) == pieces.best(400)
    for question in whole.best(400):
        assert (whole.sample(question) == pieces.sample(question)).all()
        assert (whole.sample(question)[0] == X[question.row]).all()


def test_memory_is_for_boxes_not_for_samples() -> None:
    model = fitted(AutoSSLART(0.6, random_state=0))
    shortlist = QueryPool(model)
    for _ in range(40):
        shortlist.look_at(X)
    assert shortlist.n_samples == 6000
    assert len(shortlist.rows()) <= model.n_nodes_ + MAX_UNSURE


def test_known_samples_are_not_asked_about_and_answered_ones_not_again() -> None:
    model = fitted(AutoSSLART(random_state=0))
    shortlist = QueryPool(model)
    known = np.arange(150) % 2 == 0
    shortlist.look_at(X, known)
    questions = shortlist.best(400)
    assert questions
    assert not any(known[question.row] for question in questions)
    for question in questions:
        shortlist.done(question)
    assert shortlist.best() == []


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_stay_frames(frame: type) -> None:
    table = frame({"size": [1.0, 1.1, 5.0, 5.1, None], "colour": ["red", "red", "blue", "blue", "blue"]})
    model = AutoSSLART(random_state=0).fit(table, ["a", None, None, None, None])
    shortlist = QueryPool(model)
    shortlist.look_at(table)
    question = shortlist.best()[0]
    sample = shortlist.sample(question)
    assert isinstance(sample, frame)
    assert question.row in (2, 3, 4)
    assert select_queries(model, table, 2)[0] == question.row


def test_a_model_without_any_label_can_ask() -> None:
    model = SSLART(0.8).partial_fit(X)
    rows = select_queries(model, X, 5)
    assert len(rows) == 5
    assert model.partial_fit(X[rows], Y[rows]).n_labelled_nodes_ == 5


def test_answers_help_more_than_labels_of_any_samples() -> None:
    """Mean over splits of breast cancer: 8 questions against 8 samples drawn at random."""
    data, classes = load_breast_cancer(return_X_y=True)
    asked, drawn = [], []
    for seed in range(4):
        learn, test, truth, expected = train_test_split(data, classes, test_size=0.5, random_state=seed)
        start = [int(np.flatnonzero(truth == label)[0]) for label in (0, 1)]
        few = np.full(len(truth), None)
        few[start] = truth[start]
        models = [AutoSSLART(random_state=seed).fit(learn, few) for _ in range(2)]
        shortlist = QueryPool(models[0])
        shortlist.look_at(learn)
        for _ in range(8):
            question = shortlist.best()[0]
            shortlist.done(question)
            models[0].partial_fit(learn[[question.row]], truth[[question.row]])
        rows = np.random.RandomState(seed).permutation(len(learn))[:8]
        models[1].partial_fit(learn[rows], truth[rows])
        asked.append(models[0].score(test, expected))
        drawn.append(models[1].score(test, expected))
    assert np.mean(asked) > np.mean(drawn)
    assert np.mean(asked) > 0.9


def test_what_cannot_ask_is_refused() -> None:
    with pytest.raises(TypeError, match="FuzzyART"):
        QueryPool(FuzzyART().fit(X))
    with pytest.raises(ValueError, match="not fitted"):
        QueryPool(SSLART())
    with pytest.raises(ValueError, match="n of best"):
        select_queries(FuzzyARTMAP().fit(X, Y), X, 0)
