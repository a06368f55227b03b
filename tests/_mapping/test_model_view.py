"""The view of a model: reading changes nothing, scores every sample once, and packs the boxes once."""

from __future__ import annotations

import copy
import pickle
import threading
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from test_stream import fingerprint

from conftest import CLASSIFIERS, EVIDENCE, name_of
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._art.backend import backend, use_backend
from sslart._mapping.model_view import view_of

VOTERS = WESSLART(3, mapping="evidence", families=["box"], bandwidth=0.25, ridge=0.01, random_state=0)
EVERY = [*CLASSIFIERS, *EVIDENCE, VOTERS]
READING = ("predict", "predict_proba", "apply", "score_samples", "explain")
LIMITS = [{}, {"abstain_below": 0.7}, {"search_depth": 1}, {"search_depth": 2, "abstain_below": 0.7}]


def members_of(model: Any) -> list[Any]:
    return list(getattr(model, "estimators_", [model]))


def attributes_of(model: Any) -> list[dict[str, int]]:
    """Identities of all attributes of a model, of its fitted value, and of its members."""
    parts = [model, *model._model.members, *(one.network.nodes for one in model._model.members)]
    return [{name: id(value) for name, value in vars(one).items()} for one in parts]


class CountingBackend(ModuleType):
    """The backend in use, with a count of the scorers that it makes and of the samples that they score."""

    def __init__(self) -> None:
        super().__init__("counting")
        self.inner = backend()
        self.n_scorers = self.n_scored = self.n_calls = 0
        outer = self

        class Scorer(self.inner.Scorer):  # type: ignore[misc, name-defined]
            def __init__(self, bias: Any) -> None:
                super().__init__(bias)
                outer.n_scorers += 1

            def scores(self, coded: Any, *rest: Any) -> None:
                outer.n_scored += len(coded)
                outer.n_calls += 1
                super().scores(coded, *rest)

        self.Scorer = Scorer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize("streamed", [False, True], ids=["fit", "partial_fit"])
@pytest.mark.parametrize("model", EVERY, ids=name_of)
def test_reading_writes_nothing_into_a_model_or_its_members(model: Any, streamed: bool, blobs: Any) -> None:
    X, y = blobs
    model = clone(model).fit(X[:90], y[:90])
    if streamed:  # the regression of evidence is solved when it is first needed
        model.partial_fit(X[90:93], y[90:93])
    known, learnt = model.get_params(), fingerprint(model)
    for limits in LIMITS:
        again = copy.deepcopy(model)
        again.set_params(**{name: value for name, value in limits.items() if name in known})
        before = attributes_of(again)
        for method in READING:
            getattr(again, method)(X[:60])
            assert attributes_of(again) == before, (method, limits)
        again.rules(kind="boxes")
        view = view_of(again)
        view.predict(view.read(X))
        assert (view.novelty_threshold, view.vote_weights is not None) == (again.novelty_threshold_, view.is_ensemble)
        assert attributes_of(again) == before, limits
        assert fingerprint(again) == learnt, limits


def test_parameters_of_learning_hold_from_the_next_call_that_learns(few_labels: Any) -> None:
    X, y = few_labels
    model = WESSLART(3, vigilance=0.95, random_state=0).fit(X, y)
    assert (model.set_params(search_depth=1, choice=0.5).predict(X) == -1).any()
    assert [member.params.choice for member in view_of(model).members] == [1e-3] * 3
    model.partial_fit(X[:1])
    assert [member.params.choice for member in view_of(model).members] == [0.5] * 3


@pytest.mark.parametrize(
    "model",
    [pytest.param(one, marks=pytest.mark.slow if one is EVIDENCE[1] else ()) for one in EVERY],
    ids=name_of,
)
def test_threads_that_predict_at_once_get_the_same_results(model: Any, blobs: Any) -> None:
    X, y = blobs
    model = clone(model).fit(X[:90], y[:90]).partial_fit(X[90:95], y[90:95])
    many = np.vstack([X] * 10)
    stored = pickle.dumps(model)
    expected = [pickle.loads(stored).predict(many).tobytes(), pickle.loads(stored).predict_proba(many).tobytes()]
    for _ in range(3):
        fresh: Any = pickle.loads(stored)  # nothing is packed or solved yet when the threads start
        start, found = threading.Barrier(4), []

        def predict(fresh: Any = fresh, start: Any = start, found: Any = found) -> None:
            start.wait()
            found.extend([fresh.predict(many).tobytes(), fresh.predict_proba(many).tobytes()] for _ in range(3))

        threads = [threading.Thread(target=predict) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [expected] * 12


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("model", [*EVIDENCE, VOTERS], ids=name_of)
def test_every_sample_is_scored_once(model: Any, limits: dict[str, Any], few_labels: Any) -> None:
    X, y = few_labels
    model = clone(model).set_params(**limits).fit(X, y)
    n_members = len(members_of(model))
    for method, given in (("predict", (X,)), ("predict_proba", (X,)), ("score", (X, y))):
        with use_backend(CountingBackend()):
            counted: Any = backend()
            getattr(copy.deepcopy(model), method)(*given)
            assert (counted.n_scored, counted.n_calls) == (n_members * len(X), n_members), method


@pytest.mark.parametrize("model", [*EVIDENCE, VOTERS], ids=name_of)
def test_boxes_are_packed_once_per_fitted_model(model: Any, few_labels: Any) -> None:
    X, y = few_labels
    model = clone(model)
    with use_backend(CountingBackend()):
        counted: Any = backend()
        model.fit(X, y)
        for n_learnt in range(1, 4):
            for _ in range(3):
                model.predict(X[:1])
                model.set_params(abstain_below=0.5).predict_proba(X)
                model.set_params(search_depth=3, n_jobs=2).predict(X)
                model.explain(X[:2])
                model.set_params(abstain_below=None, search_depth=None, n_jobs=None)
            assert counted.n_scorers == n_learnt * len(members_of(model))
            model.partial_fit(X[:3], y[:3])


def test_a_copy_packs_its_boxes_anew_and_predicts_the_same(few_labels: Any) -> None:
    X, y = few_labels
    model = clone(EVIDENCE[1]).fit(X, y)
    unused = len(pickle.dumps(model))
    expected = model.predict_proba(X)
    model.explain(X[:3])
    stored = pickle.dumps(model)
    assert len(stored) < unused + 1000  # what is packed is not stored
    with use_backend(CountingBackend()):
        counted: Any = backend()
        np.testing.assert_array_equal(pickle.loads(stored).predict_proba(X), expected)
        assert counted.n_scorers == 1


def test_a_prediction_at_several_depths_searches_on_where_it_stopped(few_labels: Any) -> None:
    X, y = few_labels
    model = SSLART(0.95, random_state=0).fit(X, y)
    view = view_of(model.set_params(search_depth=1, abstain_below=0.6))
    table = view.read(X)
    found = view.predict(table, want_proba=True)
    np.testing.assert_array_equal(view.labels_of(found.indices), model.predict(X))
    np.testing.assert_array_equal(found.proba, model.predict_proba(X))
    assert 0 < (found.indices == -1).sum() < len(X)


def test_the_repr_of_a_view_names_the_columns() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    view = view_of(AutoSSLART(random_state=0).fit(X, y))
    assert repr(view).startswith("ModelView(name='AutoSSLART'")
    assert "n_features=4" in repr(view.reader)
