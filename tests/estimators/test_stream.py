"""Promises to streams: cut anywhere, widen without loss, grow only in nodes, survive an interrupted call."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import sslart._reference
from conftest import CLASSIFIERS, ESTIMATORS, lattices, name_of, needs_kernel
from sslart import SSLART, WESSLART, FuzzyART
from sslart._art.backend import use_backend

SEMI_SUPERVISED = [
    SSLART(0.7),
    SSLART(0.7, mapping="one-to-one"),
    SSLART(0.7, mapping="one-to-one", half_life=2.5),
    WESSLART(2, vigilance=0.7, random_state=0),
]


def fingerprint(model: Any) -> list[bytes]:
    """All that a model has learnt, bit for bit."""
    arrays = [model.lower_, model.upper_, model.support_]
    if hasattr(model, "classes_"):
        arrays += [model.counts_, model.classes_, np.array([model.n_nodes_stage1_, model.n_labelled_nodes_])]
    if isinstance(model, WESSLART):
        arrays.append(model.class_weights_)
    return [array.tobytes() for array in arrays]


def streamed(model: Any, X: Any, y: np.ndarray, cuts: list[int]) -> Any:
    model = clone(model)
    for start, end in zip([0, *cuts], [*cuts, len(X)], strict=True):
        if end > start:
            model.partial_fit(X[start:end], y[start:end])
    return model


wild = lattices(min_samples=4, max_samples=30, max_features=4).map(lambda samples: samples * 3 - 1)


@pytest.mark.parametrize("model", SEMI_SUPERVISED, ids=name_of)
@given(samples=wild, seed=st.integers(0, 999), data=st.data())
def test_with_bounds_the_cut_does_not_matter(model: Any, samples: np.ndarray, seed: int, data: st.DataObject) -> None:
    y = np.random.RandomState(seed).randint(-1, 3, size=len(samples))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(samples)), max_size=5)))
    model = clone(model).set_params(bounds=(0, 1))
    whole = streamed(model, samples, y, [])
    assert fingerprint(streamed(model, samples, y, cuts)) == fingerprint(whole)
    assert fingerprint(streamed(model, samples, y, list(range(len(samples))))) == fingerprint(whole)


@pytest.mark.parametrize("model", SEMI_SUPERVISED, ids=name_of)
@given(samples=wild, seed=st.integers(0, 999), data=st.data())
def test_without_bounds_only_the_first_cut_matters(
    model: Any, samples: np.ndarray, seed: int, data: st.DataObject
) -> None:
    y = np.random.RandomState(seed).randint(-1, 3, size=len(samples))
    cuts = sorted(data.draw(st.lists(st.integers(2, len(samples)), max_size=5)))
    assert fingerprint(streamed(model, samples, y, [2, *cuts])) == fingerprint(streamed(model, samples, y, [2]))


@pytest.mark.parametrize("vigilance", [0.3, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_categories_met_in_a_stream_do_not_depend_on_the_cut(vigilance: float) -> None:
    random = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "size": random.rand(60),
            "colour": random.choice(["red", "green", "blue", None], 60),
            "shape": random.choice(["round", "square", "long", "flat"], 60),
        }
    )
    y = random.randint(-1, 2, 60)
    model = SSLART(vigilance, bounds=([0, np.nan, np.nan], [1, np.nan, np.nan]))

    def in_pieces(length: int) -> SSLART:
        learner = clone(model)
        for start in range(0, 60, length):
            rows = slice(start, start + length)
            # the first piece settles which columns are categorical
            learner.partial_fit(frame.iloc[rows].astype({"colour": "category"}), y[rows])
        return learner

    whole = in_pieces(60)
    assert fingerprint(in_pieces(7)) == fingerprint(whole)
    assert fingerprint(in_pieces(1)) == fingerprint(whole)
    assert {"size", "colour=red", "colour=green", "colour=blue"} < set(whole.coded_feature_names_)


@given(samples=lattices(min_samples=3, missing=True), rate=st.sampled_from([1.0, 0.5]))
def test_widening_keeps_every_box_where_it_was(samples: np.ndarray, rate: float) -> None:
    model = FuzzyART(0.8, learning_rate=rate).partial_fit(samples)
    lower, upper, n = model.lower_, model.upper_, model.n_nodes_
    names = model.coded_feature_names_
    low, high = np.fmin.reduce(samples, axis=0), np.fmax.reduce(samples, axis=0)
    far = np.where(np.isnan(high), np.nan, high + np.pi * (1 + high - low))
    if np.isnan(far).all():
        return
    model.partial_fit(far[None])
    if not set(names) <= set(model.coded_feature_names_):
        return  # while all features were constant they counted
    places = [model.coded_feature_names_.index(name) for name in names]
    seen = ~np.isnan(lower)
    kept = model.support_[:n] == np.bincount(FuzzyART(0.8, learning_rate=rate).fit(samples).labels_, minlength=n)
    before, after = lower[kept], model.lower_[:n, places][kept]
    assert (after[seen[kept]] <= before[seen[kept]]).all()
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-8)
    before, after = upper[kept], model.upper_[:n, places][kept]
    assert (after[seen[kept]] >= before[seen[kept]]).all()
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-8)


def test_values_outside_the_range_are_clipped_in_predict_and_widen_in_partial_fit() -> None:
    model = SSLART(0.9, random_state=0).fit([[0.0], [1.0]], ["low", "high"])
    before = fingerprint(model)
    assert model.predict([[-50.0], [50.0]]).tolist() == ["low", "high"]
    assert fingerprint(model) == before
    model.partial_fit([[50.0]], ["huge"])
    assert model.predict([[0.0], [1.0], [49.0]]).tolist() == ["low", "high", "huge"]


def test_constant_and_unknown_features_come_alive_when_values_come() -> None:
    model = SSLART(0.9).partial_fit([[1.0, 5.0, np.nan], [2.0, 5.0, np.nan]], ["a", "b"])
    assert model.coded_feature_names_ == ["x0", "x2"]
    assert np.isnan(model.lower_[:, 1]).all()
    model.partial_fit([[1.0, 7.0, 3.0], [1.0, 7.0, 4.0]], ["c", "d"])
    assert model.predict([[1.0, 7.0, 3.0]]).tolist() == ["c"]
    assert model.lower_[2:].tolist() == [[1.0, 7.0, 3.0], [1.0, 7.0, 4.0]]
    np.testing.assert_allclose(model.upper_[:2, 1], 5.0)


def test_classes_may_appear_at_any_time() -> None:
    model = SSLART(0.9, bounds=(0, 9)).partial_fit([[5.0]])
    assert model.partial_fit([[1.0]], ["m"]).classes_.tolist() == ["m"]
    model.partial_fit([[8.0]], ["a"])
    assert model.classes_.tolist() == ["a", "m"]
    assert model.predict_proba([[8.0]]).tolist() == [[1.0, 0.0]]
    assert model.counts_.sum(axis=0).tolist() == [1, 1]


def test_announced_classes_have_a_column_from_the_start() -> None:
    model = SSLART(bounds=(0, 9)).partial_fit([[1.0]], [2], classes=[3, 1, 2])
    assert model.classes_.tolist() == [1, 2, 3]
    assert model.predict_proba([[1.0]]).tolist() == [[0.0, 1.0, 0.0]]
    assert model.predict([[1.0]]) == [2]


def test_minus_one_is_a_class_once_announced() -> None:
    model = SSLART(bounds=(0, 9)).partial_fit([[1.0], [8.0]], [-1, 1], classes=[-1, 1])
    assert model.predict([[1.0], [8.0]]).tolist() == [-1, 1]
    assert model.partial_fit([[5.0]], [-1]).counts_.sum() == 3


@pytest.mark.parametrize("model", ESTIMATORS, ids=name_of)
def test_nothing_grows_with_the_stream_but_the_nodes(model: Any) -> None:
    import pickle

    random = np.random.RandomState(0)
    X, y = random.rand(50, 2), random.randint(0, 2, 50)
    model = clone(model).partial_fit(X, y)
    for _ in range(3):  # until the boxes no longer change
        model.partial_fit(X, y)

    def size_of(model: Any) -> int:
        return len(pickle.dumps(model)) - len(pickle.dumps(model.__sslart_drift__()))  # which has a limit of its own

    n_nodes, size = model.n_nodes_, size_of(model)
    fits = 50 * 8 * (5 + 8 * (model.n_members if isinstance(model, WESSLART) else 0))  # of 50 distinct samples
    for _ in range(20):
        model.partial_fit(X, y)
        assert size_of(model) <= size + fits + 512
    assert model.n_nodes_ == n_nodes


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0, np.inf, 0.0]], [0]),
        ([[0.0, 0.0]], [0]),
        ([[0.0, 0.0, 0.0]], ["other kind"]),
        ([[0.0, 0.0, 0.0]], [0, 1]),
        ([[np.nan, np.nan, np.nan]], [0]),
    ],
)
def test_refused_call_loses_nothing(model: Any, X: Any, y: Any, blobs: Any) -> None:
    model = clone(model).fit(*blobs)
    before, names = fingerprint(model), sorted(vars(model))
    for learn in (model.partial_fit, model.fit):
        if learn == model.fit and y == ["other kind"]:
            continue
        if learn == model.fit and len(X[0]) == 2:
            continue
        with pytest.raises(ValueError):
            learn(X, y)
        assert fingerprint(model) == before
        assert sorted(vars(model)) == names
    assert model.n_features_in_ == 3


class Interrupting:
    """A backend that is interrupted after some samples, in the middle of a sample."""

    __name__ = __name__

    def __init__(self, after: int) -> None:
        self.left = after
        outer = self

        class Tripwire(np.ndarray):
            def __setitem__(self, key: Any, value: Any) -> None:
                super().__setitem__(key, value)
                outer.left -= 1
                if outer.left < 0:
                    raise KeyboardInterrupt

        class Boxes(sslart._reference.Boxes):
            def learn(self, first: int, *, winners: np.ndarray, **rest: Any) -> int:
                return super().learn(first, winners=winners.view(Tripwire), **rest)

        self.Boxes = Boxes

    encode = staticmethod(sslart._reference.encode)
    row_keys = staticmethod(sslart._reference.row_keys)


INTERRUPTED = [
    FuzzyART(0.9),
    SSLART(0.9, half_life=1000),  # few samples change it in place, where nothing fades meanwhile
    *SEMI_SUPERVISED,
    WESSLART(3, n_jobs=2, vigilance=0.9),
]


@pytest.mark.parametrize("after", [0, 1, 5, 25])
@pytest.mark.parametrize("model", INTERRUPTED, ids=name_of)
@pytest.mark.parametrize("kind", ["few", "many", "wider", "new class"])
def test_interrupted_call_leaves_the_model_as_it_was(model: Any, after: int, kind: str) -> None:
    random = np.random.RandomState(0)
    X, y = random.rand(80, 3), random.randint(-1, 2, 80)
    model = clone(model).partial_fit(X, y)
    before = fingerprint(model)
    more, labels = random.rand(150 if kind == "many" else 30, 3), random.randint(-1, 2, 150)
    if kind == "wider":
        more[10] *= 7
    if kind == "new class":
        labels[5] = 4
    labels = labels[: len(more)]
    with use_backend(Interrupting(after)), pytest.raises(KeyboardInterrupt):
        model.partial_fit(more, labels)
    assert fingerprint(model) == before
    with use_backend(Interrupting(after)), pytest.raises(KeyboardInterrupt):
        model.fit(more, np.abs(labels))
    assert fingerprint(model) == before
    again = clone(model).partial_fit(X, y)
    if not hasattr(model, "random_state") or model.random_state is not None or not isinstance(model, WESSLART):
        assert fingerprint(model.partial_fit(more, labels)) == fingerprint(again.partial_fit(more, labels))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("wider", [False, True])
def test_interrupted_member_takes_the_others_back_too(n_jobs: int, wider: bool) -> None:
    random = np.random.RandomState(0)
    X, y = random.rand(80, 3), random.randint(-1, 2, 80)
    model = WESSLART(3, vigilance=0.9, bounds=(0, 1), n_jobs=n_jobs).partial_fit(X, y)
    before = fingerprint(model)
    more = X[:30] * (7 if wider else 0.5)
    with use_backend(Interrupting(after=70)), pytest.raises(KeyboardInterrupt):
        model.partial_fit(more, y[:30])  # 90 samples in all: at least one member has learnt its 30 by then
    assert fingerprint(model) == before


@needs_kernel
@pytest.mark.usefixtures("switching_threads_often")
@pytest.mark.parametrize("seed", range(10))
def test_predicting_while_another_thread_learns_is_safe(seed: int) -> None:
    random = np.random.RandomState(seed)
    X = random.rand(6000, 4)
    model = SSLART(1.0, bounds=(0, 1)).partial_fit(X[:200], np.arange(200) % 2)
    expected = model.predict(X[:200]).tolist()
    found: list[list[int]] = []

    def predict() -> None:
        found.extend(model.predict(X[:200]).tolist() for _ in range(30))

    predicting = threading.Thread(target=predict)
    predicting.start()
    for start in range(200, 6000, 50):
        model.partial_fit(X[start : start + 50])
    predicting.join()
    assert found == [expected] * 30


@pytest.fixture
def handling_ctrl_c() -> Iterator[None]:
    """Handle SIGINT as Python does at a terminal: a process in the background ignores it."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


@needs_kernel
@pytest.mark.usefixtures("handling_ctrl_c")
@pytest.mark.parametrize(
    "model",
    [
        SSLART(0.9),
        WESSLART(2, vigilance=0.9, n_jobs=2),
        pytest.param(FuzzyART(0.9), marks=pytest.mark.slow),
    ],
    ids=name_of,
)
def test_ctrl_c_stops_a_long_fit_promptly(model: Any) -> None:
    X = np.random.RandomState(0).rand(100_000, 16)  # nearly every sample its own box: a fit takes seconds
    y = np.arange(len(X)) % 2
    model = clone(model).fit(X[:50], y[:50])
    before = fingerprint(model)
    for learn in (model.partial_fit, model.fit):
        pressed, stopped = 0.0, 0.0

        def press() -> None:
            nonlocal pressed
            time.sleep(0.1)
            pressed = time.perf_counter()
            os.kill(os.getpid(), signal.SIGINT)

        pressing = threading.Thread(target=press)
        pressing.start()
        try:
            learn(X, y)
            pressing.join()  # were it over by now, no other test may be interrupted in its place
        except KeyboardInterrupt:
            stopped = time.perf_counter()
        with suppress(KeyboardInterrupt):
            pressing.join()
        assert 0.0 < stopped - pressed < 5.0
        assert fingerprint(model) == before
