"""Predictions for dask collections: lazy, of known types, and what the ordinary model predicts."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from dask_tables import EVIDENCE, N, arrays, blobs, frames, saved
from sklearn.exceptions import NotFittedError

import sslart
from sslart.dask import SSLART, WESSLART, FuzzyART
from sslart.explain import Explanation
from sslart.merging import merge

METHODS = [
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "predict_set",
    "score_samples",
    "novelty_pvalues",
    "is_novel",
    "apply",
]


@pytest.fixture(autouse=True)
def in_this_process() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def model() -> Any:
    with dask.config.set(scheduler="synchronous"):
        return SSLART(**EVIDENCE).fit(*arrays()[:2])


@pytest.fixture(scope="module")
def of_frames() -> Any:
    with dask.config.set(scheduler="synchronous"):
        return SSLART(**EVIDENCE).fit(*frames()[:2])


@pytest.mark.parametrize("method", METHODS)
def test_arrays_give_what_the_ordinary_model_gives(model: Any, method: str) -> None:
    found = getattr(model, method)(arrays()[0])
    expected = getattr(model.to_local(), method)(blobs()[0])
    assert isinstance(found, da.Array)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert np.array_equal(found.compute(), expected)


@pytest.mark.parametrize("method", METHODS)
def test_frames_give_the_same_with_their_index(of_frames: Any, method: str) -> None:
    X = frames()[0]
    X.index = X.index + 1000
    found, expected = getattr(of_frames, method)(X), getattr(of_frames.to_local(), method)(X.compute())
    computed = found.compute()
    assert np.array_equal(computed.to_numpy(), expected)
    assert computed.index.tolist() == list(range(1000, 1000 + N))
    if expected.ndim == 2:
        assert isinstance(found, dd.DataFrame)
        assert found.columns.tolist() == of_frames.classes_.tolist() == computed.columns.tolist()
        assert found.dtypes.tolist() == computed.dtypes.tolist()
    else:
        assert isinstance(found, dd.Series)
        assert (found.dtype, found.name) == (computed.dtype, computed.name)


def test_predictions_become_a_column_of_the_table(of_frames: Any) -> None:
    X = frames()[0]
    with_classes = X.assign(predicted=of_frames.predict(X)).compute()
    assert with_classes["predicted"].tolist() == of_frames.to_local().predict(X.compute()).tolist()


def test_explanations_are_made_one_partition_at_a_time(model: Any, of_frames: Any) -> None:
    first = model.explain(arrays()[0]).blocks[0][:2].compute()
    assert [type(one) for one in first] == [Explanation] * 2
    assert str(first[1]) == str(model.to_local().explain(blobs()[0][:2])[1])
    series = of_frames.explain(frames()[0]).partitions[1].compute()
    assert str(series.iloc[0]) == str(of_frames.to_local().explain(frames()[0].partitions[1].compute()[:1])[0])


def test_nothing_is_computed_before_it_is_needed(model: Any) -> None:
    def fails(block: Any) -> Any:
        raise RuntimeError

    X = arrays()[0].map_blocks(fails, dtype=float, meta=np.empty((0, 0)))
    lazy = model.predict(X)
    with pytest.raises(RuntimeError):
        lazy.compute()


def test_predictions_made_before_a_model_learns_on_are_those_of_then(model: Any) -> None:
    X, few, _ = blobs()
    own = SSLART(random_state=0).fit(X[:100], few[:100])
    expected = own.predict(X).tolist()
    lazy = own.predict(arrays()[0])
    own.partial_fit(X[100:101], [7])
    own.partial_fit(X[101:], np.full(N - 101, 7))
    assert lazy.compute().tolist() == expected
    assert 7 in own.predict(arrays()[0]).compute()


def test_ensembles_and_clusters_have_their_own_shapes() -> None:
    X, few, _ = arrays()
    ensemble = WESSLART(2, random_state=0).fit(X, few)
    assert ensemble.apply(X).compute().shape == (N, 2)
    art = FuzzyART()
    assert art.fit_predict(X).compute().tolist() == art.to_local().predict(blobs()[0]).tolist()
    assert (art.fit_predict(blobs()[0]) == art.labels_).all()


def test_unknown_lengths_and_empty_partitions_are_no_matter(model: Any, of_frames: Any) -> None:
    X = arrays()[0]
    found = model.predict_proba(X[X[:, 0] > 5])
    assert found.compute().shape == (int((blobs()[0][:, 0] > 5).sum()), 3)
    some = frames()[0]
    assert len(of_frames.predict(some[some["a"] > 1e9]).compute()) == 0
    assert of_frames.predict_proba(some[some["a"] > 1e9]).compute().shape == (0, 3)


def test_abstention_has_one_type_in_all_partitions() -> None:
    X, few, _ = frames()
    model = SSLART(0.98, search_depth=1, random_state=0).fit(X, few)
    found = model.predict(X)
    assert found.dtype == object
    computed = found.compute()
    assert None in computed.tolist()
    assert computed.tolist() == model.to_local().predict(X.compute()).tolist()


def test_scores_are_those_of_the_ordinary_model(model: Any) -> None:
    X, few, y = arrays()
    assert model.score(X, y) == pytest.approx(model.score(*(blobs()[0], blobs()[2])), abs=1e-12)
    assert model.score(X, few) == pytest.approx(model.score(*blobs()[:2]), abs=1e-12)
    weights = np.arange(N) % 5
    expected = model.score(blobs()[0], blobs()[2], weights)
    assert model.score(X, y, da.from_array(weights, chunks=60)) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="no labelled sample to score against"):
        model.score(X, da.full(N, -1, chunks=60))


def test_the_ordinary_model_saves_explains_and_exports(model: Any, tmp_path: Any) -> None:
    local = model.to_local()
    assert type(local) is sslart.SSLART
    sslart.save(local, tmp_path / "model.sslart")
    again = sslart.load(tmp_path / "model.sslart")
    X = blobs()[0]
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert "SSLART" in str(local.summary())
    assert len(sslart.to_onnx(local).SerializeToString()) > 1000
    assert merge([local, local]).support_.sum() == 2 * N
    for refused in (lambda: sslart.save(model, tmp_path / "other.sslart"), lambda: merge([model, model])):
        with pytest.raises(TypeError, match=r"SSLART of sslart\.dask: .* what its to_local\(\) returns"):
            refused()


def test_a_fitted_model_pickles_after_it_was_sent(model: Any) -> None:
    model.predict(arrays()[0])
    assert saved(pickle.loads(pickle.dumps(model)).to_local()) == saved(model.to_local())


def test_a_model_that_has_learnt_nothing_refuses_at_once() -> None:
    X = arrays()[0]
    for method in ("predict", "predict_proba", "explain", "apply", "score_samples", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(SSLART(), method)(X)
    with pytest.raises(NotFittedError):
        SSLART().to_local()
