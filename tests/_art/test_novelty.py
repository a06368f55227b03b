"""What is novel is what fits the boxes worse than they fit one another."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from test_stream import Interrupting

from conftest import name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART
from sslart._art.backend import use_backend
from sslart._art.novelty import SHARE


def by_hand(model: FuzzyART) -> float:
    """Measure the middle of each box against all the others, one by one."""
    lower, upper = model._network.nodes.boxes()
    fits = []
    for node in range(len(lower)):
        middle = (lower[node] + upper[node]) / 2
        others = np.arange(len(lower)) != node
        sizes = (upper - lower)[others].sum(axis=1)
        away = np.maximum(np.maximum(lower - middle, middle - upper), 0)[others].sum(axis=1)
        norms = lower.shape[1] - sizes
        fits.append(((norms - away) / lower.shape[1])[((norms - away) / (model.choice + norms)).argmax()])
    samples = np.repeat(fits, model.support_)
    usual = np.sort(samples)[int(np.ceil(SHARE * len(samples))) - 1]
    return min(max(usual, 1 - 4 * (1 - model.vigilance), 1e-9), model.vigilance)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.7, 0.9]))
@settings(max_examples=30, deadline=None)
def test_the_threshold_is_what_a_twentieth_of_the_samples_fall_below(seed: int, vigilance: float) -> None:
    X = np.random.RandomState(seed % 2**32).rand(60, 3)
    model = FuzzyART(vigilance).fit(X)
    assert model.novelty_threshold_ == pytest.approx(by_hand(model), abs=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_few_new_samples_are_novel_and_many_of_a_class_never_met(load: object) -> None:
    X, y = load(return_X_y=True)  # type: ignore[operator]
    alarms, found = [], []
    for seed in range(3):
        learn, test, labels, truth = train_test_split(X, y, test_size=0.4, random_state=seed)
        never = seed % len(np.unique(y))
        known = labels != never
        model = SSLART(random_state=seed).fit(learn[known], labels[known])
        novel = model.score_samples(test) < model.novelty_threshold_
        alarms.append(novel[truth != never].mean())
        found.append(novel[truth == never].mean())
    assert np.mean(alarms) < 0.15
    assert np.mean(found) > 3 * np.mean(alarms)


def test_one_box_has_only_its_vigilance_to_go_by() -> None:
    assert FuzzyART(0.6).fit([[0.0]]).novelty_threshold_ == 0.6


def test_boxes_far_from_one_another_do_not_make_everything_usual() -> None:
    model = FuzzyART(0.9).fit([[0.0], [0.1], [9.9], [10.0]])
    assert model.novelty_threshold_ == pytest.approx(0.6)
    assert (model.score_samples([[20.0], [5.0], [0.2]]) < model.novelty_threshold_).tolist() == [True, True, False]
    assert FuzzyART(0.5).fit([[0.0], [10.0]]).novelty_threshold_ > 0


def test_gaps_categories_and_ensembles() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(colour=np.where(np.arange(150) % 2, "red", "blue"))
    X.iloc[::7, 0] = None
    for model in (AutoSSLART(random_state=0), WESSLART(3, random_state=0)):
        model.fit(X, y)
        assert 0 < model.novelty_threshold_ <= model.vigilance
    thresholds = [member.novelty_threshold_ for member in model.estimators_]
    assert model.novelty_threshold_ == pytest.approx(np.mean(thresholds))


@pytest.mark.parametrize(
    "model", [FuzzyART(0.9), SSLART(0.9, random_state=0), WESSLART(2, random_state=0)], ids=name_of
)
def test_the_threshold_follows_what_is_learnt_and_the_parameters(model: Any, blobs: Any) -> None:
    X, y = blobs
    labels = None if isinstance(model, FuzzyART) else y
    model = clone(model).partial_fit(X[:60], labels if labels is None else labels[:60])
    first = model.novelty_threshold_
    copied = pickle.loads(pickle.dumps(model))
    assert (model.novelty_threshold_, copied.novelty_threshold_) == (first, first)
    with use_backend(Interrupting(5)), pytest.raises(KeyboardInterrupt):
        model.partial_fit(X * 1.5, labels)
    assert model.novelty_threshold_ == first
    for one in (model, copied):
        one.partial_fit(X * 1.5, labels)
    assert model.novelty_threshold_ == pickle.loads(pickle.dumps(model)).novelty_threshold_ != first
    assert copied.novelty_threshold_ == model.novelty_threshold_
    later = model.novelty_threshold_
    assert model.set_params(vigilance=0.3).novelty_threshold_ == 0.3
    assert model.set_params(vigilance=0.9).novelty_threshold_ == later
