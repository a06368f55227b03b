"""One model is one state: whatever is read of it agrees, after every step, and what is saved is what predicts."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import sslart
from conftest import name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART
from sslart._mapping.model_view import view_of
from sslart.persistence import model_bytes, model_from_bytes

QUERIES = np.random.RandomState(5).rand(6, 2) * 1.5
QUICK: dict[str, Any] = {"families": ["box", "linear"], "bandwidth": 0.25, "ridge": 0.01, "rank_weight": 0.5}
MODELS = [
    SSLART(0.8, random_state=0),
    SSLART(0.8, half_life=20, mapping="one-to-one", random_state=0),
    SSLART(0.85, mapping="evidence", max_nodes=30, random_state=0, **QUICK),
    SSLART(0.85, mapping="evidence", half_life=30, random_state=0, **QUICK),
    AutoSSLART(0.85, half_life="auto", random_state=0),
    WESSLART(2, vigilance=0.8, mapping="evidence", random_state=0, **QUICK),
]


def samples_of(seed: int, n: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    X = random.rand(n, 2) * reach
    y = (X[:, 0] > X[:, 1]).astype(int) + (random.rand(n) < 0.1)
    return X, np.where(random.rand(n) < 0.4, y, -1)


def fit(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    return model.fit(X, np.where(np.arange(len(y)) < 6, np.arange(len(y)) % 2, y))


def one_by_one(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    for row in range(min(len(X), 12)):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    return model


def merged(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    return sslart.merge([model, fit(clone(model), X, y)])


STEPS: dict[str, Callable[[Any, np.ndarray, np.ndarray], Any]] = {
    "fit": fit,
    "partial_fit": lambda model, X, y: model.partial_fit(X, y),
    "one by one": one_by_one,
    "merge": merged,
    "save and load": lambda model, X, y: model_from_bytes(model_bytes(model), "bytes"),
    "pickle": lambda model, X, y: pickle.loads(pickle.dumps(model)),
}
steps = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 99), st.integers(7, 40), st.sampled_from([0.5, 1.0, 3.0])),
    min_size=1,
    max_size=5,
)


def check_that_all_agrees(model: Any, learnt: np.ndarray) -> None:
    view, proba, predicted = view_of(model), model.predict_proba(QUERIES), model.predict(QUERIES)
    table = view.read(QUERIES)
    np.testing.assert_array_equal(view.predict_proba(table), proba)
    of_predicted = proba[np.arange(len(proba)), np.searchsorted(model.classes_, predicted)]
    np.testing.assert_array_equal(of_predicted, proba.max(axis=1))  # of a tie, the class seen first
    familiarity, is_novel, threshold = model.score_samples(QUERIES), model.is_novel(QUERIES), model.novelty_threshold_
    np.testing.assert_array_equal(is_novel, familiarity < threshold)
    matches = view.best_match(table)
    for row, explanation in enumerate(model.explain(QUERIES)):
        assert explanation.prediction == predicted[row]
        assert explanation.confidence == proba[row].max()
        found = explanation.novelty
        expected = matches[row] < view.params.vigilance or familiarity[row] < threshold or familiarity[row] == 0
        assert (found is not None) == expected
        if found is not None:
            shown = (found.familiarity, found.match, found.threshold)
            assert shown == (familiarity[row], matches[row], threshold)
        for box in explanation.similar_boxes:
            member = view.members[box.member or 0]
            assert box.support == member.support[box.node]
    if view.uses_evidence:
        parts = model.contributions(QUERIES)
        np.testing.assert_array_equal(parts.scores.argmax(axis=1), proba.argmax(axis=1))
        np.testing.assert_allclose(parts.base + parts.values.sum(axis=1) + parts.graph, parts.scores, atol=1e-4)
    n_boxes = sum(member.n_nodes for member in view.members)
    assert model.n_nodes_ == len(model.lower_) == len(model.support_) == len(model.counts_) == n_boxes
    assert model.summary().n_boxes == n_boxes
    for member in view.members:  # what was learnt lies within the range that is shown
        assert (member.encoder.lower <= learnt.min(axis=0)).all()
        assert (learnt.max(axis=0) <= member.encoder.upper).all()
    assert model.drift_ == list(model.__sslart_drift__().events)


@settings(max_examples=8)
@given(steps=steps)
@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_all_surfaces_agree_after_every_step(model: Any, steps: list[tuple[str, int, int, float]]) -> None:
    learnt, _ = first = samples_of(0, 40, 1.0)
    model = fit(clone(model), *first)
    for name, seed, n, reach in steps:
        X, y = samples_of(seed, n, reach)
        if isinstance(model, SSLART) and name == "merge" and isinstance(model.half_life, str):
            continue  # what competes cannot be merged
        model = STEPS[name](model, X, y)
        if name == "fit":
            learnt = X
        elif name in ("partial_fit", "merge"):
            learnt = np.concatenate([learnt, X])
        elif name == "one by one":
            learnt = np.concatenate([learnt, X[:12]])
        check_that_all_agrees(model, learnt)


class State(NamedTuple):
    """One state of a model as readers see it: the bytes of its file, probabilities, and explanations."""

    file: bytes
    proba: bytes
    explained: str


class Circuit:
    """A `fit` and a few batches of 50 rows, learnt in the same order again and again: the states come back.

    Those of a model that learns alone are what readers may see. The model stays small, however long it learns. Around
    the corner 0 there is a sample in every batch, so that what is read there tells all states apart.
    """

    def __init__(self, n_batches: int = 8) -> None:
        random = np.random.default_rng(0)
        tables = [random.random((size, 20)) for size in [400, *[50] * n_batches]]
        for X in tables:
            X[0] *= 0.01
        self.model = SSLART(0.5, bounds=(0, 1), random_state=0)
        self.batches = [(X, np.where(np.arange(len(X)) % 3 == 0, X[:, 0] > X[:, 1], -1)) for X in tables]
        self.queries = np.concatenate([np.zeros((1, 20)), random.random((7, 20))])
        self.states = self.of_one_that_learns_alone()
        assert self.states == self.of_one_that_learns_alone()
        for seen in zip(*self.states, strict=True):
            assert len(set(seen)) == len(self.states)

    def of_one_that_learns_alone(self) -> list[State]:
        alone, states = clone(self.model), list[State]()
        for step in range(len(self.batches)):
            self.learn(alone, step)
            states.append(State(model_bytes(alone), self.proba(alone), self.explained(alone)))
        return states

    def learn(self, model: Any, step: int) -> None:
        place = step % len(self.batches)
        (model.partial_fit if place else model.fit)(*self.batches[place])

    def proba(self, model: Any) -> bytes:
        return bytes(model.predict_proba(self.queries).tobytes())

    def explained(self, model: Any) -> str:
        return str(model.explain(self.queries[:1])[0])


class Learner(threading.Thread):
    """Learns a circuit without pause until it is stopped; `begun` and `done` are the numbers of the last steps."""

    def __init__(self, circuit: Circuit) -> None:
        super().__init__(daemon=True)
        self.circuit, self.model = circuit, clone(circuit.model)
        self.begun = self.done = -1
        self.first_round, self.stopped, self.errors = threading.Event(), threading.Event(), list[BaseException]()

    def run(self) -> None:
        try:
            while not self.stopped.is_set():
                self.begun += 1
                self.circuit.learn(self.model, self.begun)
                self.done = self.begun
                if self.done == len(self.circuit.states):
                    self.first_round.set()
        except BaseException as error:
            self.errors.append(error)
            self.stopped.set()
            self.first_round.set()


class Reader(threading.Thread):
    """Reads a model while it learns, in so many of its steps, and each time sees a state it had during the call, whole.

    A further reading within the same step is checked too, but does not count.
    """

    def __init__(self, learner: Learner, read: Callable[[Learner], Any], kind: str, n_steps: int) -> None:
        super().__init__(daemon=True)
        self.learner, self.read, self.kind, self.n_steps = learner, read, kind, n_steps
        self.expected = [getattr(state, kind) for state in learner.circuit.states]
        self.seen, self.n_read, self.n_counted, self.n_replaced, self._last = set[int](), 0, 0, 0, -1

    def run(self) -> None:
        try:
            while self.n_counted < self.n_steps and not self.learner.stopped.is_set():
                self.once()
        except BaseException as error:
            self.learner.errors.append(error)
            self.learner.stopped.set()

    def once(self) -> None:
        oldest = self.learner.done
        read = self.read(self.learner)
        done, newest = self.learner.done, self.learner.begun
        possible = {step % len(self.expected) for step in range(oldest, newest + 1)}
        places = [place for place in possible if self.expected[place] == read]
        assert places, f"what is read is none of the states from step {oldest} to {newest}"
        self.seen.update(places)
        self.n_read += 1
        self.n_replaced += done > oldest
        if newest > max(oldest, self._last):  # a step was under way, and another one than last time
            self.n_counted += 1
            self._last = newest


def check_while_learning(n_times: int, folder: Path) -> list[Reader]:
    """Save, predict and explain so many times while a thread learns, two threads each: nothing else is ever seen."""

    def saved(learner: Learner) -> bytes:
        path = folder / f"{threading.get_ident()}.sslart"
        sslart.save(learner.model, path)
        content = path.read_bytes()
        probas = [state.proba for state in circuit.states if state.file == content]
        assert [circuit.proba(sslart.load(path))] == probas, "the file is not that of one state, or predicts otherwise"
        return content

    circuit = Circuit()
    learner = Learner(circuit)
    ways: dict[str, Callable[[Learner], Any]] = {
        "file": saved,
        "proba": lambda learner: circuit.proba(learner.model),
        "explained": lambda learner: circuit.explained(learner.model),
    }
    readers = [Reader(learner, read, kind, n_times // 2) for kind, read in ways.items() for _ in range(2)]
    learner.start()
    learner.first_round.wait()
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    learner.stopped.set()
    learner.join()
    if learner.errors:
        raise learner.errors[0]
    assert [reader.n_counted for reader in readers] == [n_times // 2] * len(readers)
    print(f"{learner.done + 1} steps learnt")
    return readers


@pytest.mark.usefixtures("switching_threads_often")
def test_nothing_is_damaged_while_a_thread_learns(tmp_path: Path) -> None:
    check_while_learning(12, tmp_path)


@pytest.mark.stress
@pytest.mark.usefixtures("switching_threads_often")
def test_nothing_is_damaged_ten_thousand_times(tmp_path: Path) -> None:
    for reader in check_while_learning(10_000, tmp_path):
        print(f"{reader.kind}: {reader.n_read} readings, {reader.n_counted} steps, {reader.n_replaced} states replaced")
        assert reader.seen == set(range(len(reader.expected)))


def test_a_published_model_cannot_be_changed() -> None:
    model = FuzzyART(0.8).fit(QUERIES)
    with pytest.raises(AttributeError):
        model._model.members = ()
    with pytest.raises(AttributeError):
        model.n_features_in_ = 3
    boxes = model._model.network.nodes.backend_boxes
    with pytest.raises(ValueError, match="make a draft"):
        boxes.add()


def test_parameters_of_learning_are_checked_where_samples_are_learnt_and_not_in_predictions() -> None:
    X, y = samples_of(0, 40, 1.0)
    model = fit(SSLART(0.8, random_state=0), X, y)
    before = model.predict(QUERIES)
    model.set_params(vigilance=5)
    np.testing.assert_array_equal(model.predict(QUERIES), before)
    with pytest.raises(ValueError, match="vigilance"):
        model.partial_fit(X, y)
    model.set_params(vigilance=0.8, abstain_below=7)
    with pytest.raises(ValueError, match="abstain_below"):
        model.predict(QUERIES)


def test_no_array_that_is_handed_out_changes_the_model() -> None:
    X, y = samples_of(0, 40, 1.0)
    model = fit(SSLART(0.8, random_state=0), X, y)
    before = model_bytes(model), model.predict(QUERIES).tolist()
    copied = copy.deepcopy(model)
    for array in (copied.classes_, copied.support_, copied.counts_, copied.lower_, copied.node_labels_):
        array[:] = 1
    assert (model_bytes(copied), copied.predict(QUERIES).tolist()) == before
    assert (model_bytes(model), model.predict(QUERIES).tolist()) == before


def test_a_call_in_the_midst_of_another_loses_no_sample() -> None:
    X, _ = samples_of(0, 40, 1.0)
    model = FuzzyART(0.8, bounds=(0, 1)).partial_fit(X)

    class Learning:
        def __array__(self, *_: Any, **__: Any) -> np.ndarray:
            model.partial_fit(X[:5])
            inner.append(5)
            return X[:3]

    inner = list[int]()

    with pytest.raises(RuntimeError, match="this one has changed nothing"):
        model.partial_fit(Learning())
    assert model.support_.sum() == 40 + sum(inner)


@pytest.mark.parametrize("model", [FuzzyART(0.8), SSLART(0.8, random_state=0), AutoSSLART(random_state=0)], ids=name_of)
def test_where_the_last_step_of_a_fit_fails_the_estimator_is_as_before(model: Any) -> None:
    X, y = samples_of(0, 40, 1.0)
    failing = mock.patch("sslart.estimators._fitted.SampleReader", side_effect=MemoryError)
    new, known = clone(model), fit(clone(model), X, y)
    before = model_bytes(known)
    for one in (new, known):
        with failing, pytest.raises(MemoryError):
            one.fit(2.0 * X, y)
    assert not hasattr(new, "n_nodes_")
    assert model_bytes(known) == before
    fit(new, X, y)
    assert new.predict(QUERIES).tolist() == known.predict(QUERIES).tolist()


def test_equal_parameters_of_another_type_are_checked_too() -> None:
    X, y = samples_of(0, 40, 1.0)
    model = fit(SSLART(0.8, search_depth=1, random_state=0), X, y)
    model.predict(QUERIES)
    with pytest.raises(ValueError, match="search_depth"):
        model.set_params(search_depth=True).predict(QUERIES)


def test_a_parameter_that_changes_in_place_is_checked_again() -> None:
    X, y = samples_of(0, 40, 1.0)
    model = fit(SSLART(0.8, mapping="evidence", random_state=0, **{**QUICK, "families": ["box", "linear"]}), X, y)
    model.families[0] = "nonsense"
    with pytest.raises(ValueError, match="families"):
        model.partial_fit(X, y)


def test_a_score_is_that_of_one_state(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    model = SSLART(0.99, random_state=0).fit(X, y)
    view = model.__sslart_view__()
    monkeypatch.setattr(SSLART, "__sslart_view__", lambda self: (self.fit(X, y.astype(str)), view)[1])
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("scaling", ["range", "rank"])
@pytest.mark.parametrize("half_life", [None, 25])
@pytest.mark.parametrize("constant", [False, True])
def test_single_rows_are_learnt_as_others_are(scaling: str, half_life: int | None, constant: bool) -> None:
    random = np.random.RandomState(0)
    X = np.exp(2 * random.randn(260, 3))
    if constant:
        X = np.asfortranarray(np.insert(X, [0, 2], 2.0, axis=1))
        X[220:, 0] = 3.0  # the other column never varies
    X[random.rand(*X.shape) < 0.05] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.1
    y = np.where(random.rand(260) < 0.2, X[:, 0] > 1, -1)
    how = {"scaling": scaling, "half_life": half_life, "max_nodes": 40, "random_state": 0}
    first = SSLART(0.8, **how).partial_fit(X[:100], y[:100])
    short, long, whole = first, copy.deepcopy(first), copy.deepcopy(first)
    n_short = 0
    for row in range(100, 260):  # an array takes the short way, a list does not
        with mock.patch.object(SSLART, "_learn_stream", wraps=short._learn_stream) as table:
            short.partial_fit(X[row : row + 1], y[row : row + 1])
        n_short += not table.called
        long.partial_fit(X[row : row + 1].tolist(), y[row : row + 1].tolist())
    whole.partial_fit(X[100:], y[100:])
    assert model_bytes(short) == model_bytes(long) == model_bytes(whole)
    assert n_short > 50  # of 128 without a label: a row beyond the range, or at which samples fade, goes the long way


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (SSLART(0.8, mapping="one-to-one", bounds=(0, 1)), int),
        (SSLART(0.8, mapping="one-to-one", bounds=(0, 1)), str),
        (AutoSSLART(), int),
        (AutoSSLART(half_life="auto"), int),
        (AutoSSLART(half_life=90), str),
    ],
    ids=["one-to-one", "one-to-one, text", "evidence", "auto", "half-life, text"],
)
def test_a_single_label_is_learnt_as_others_are(model: Any, kind: type) -> None:
    random = np.random.RandomState(3)
    X = random.rand(210, 4)
    y = (X[:, 0] > X[:, 1]).astype(kind).astype(object)
    y[random.rand(210) < 0.4] = None
    first = clone(model).set_params(random_state=0).partial_fit(X[:150], y[:150])
    short, long = first, copy.deepcopy(first)
    n_short = 0
    for row in range(150, 210):
        label = y[row : row + 1].tolist()
        with mock.patch.object(SSLART, "_learn_stream", wraps=short._learn_stream) as table:
            short.partial_fit(X[row : row + 1], label if label[0] is None else np.array(label))
        n_short += not table.called
        long.partial_fit(X[row : row + 1].tolist(), label)
    assert model_bytes(short) == model_bytes(long)
    assert short.drift_ == long.drift_
    assert n_short > 45
