"""Models fitted to dask collections: any scheduler, any kind of partitions, and mistakes with their cures."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask_tables import EVIDENCE, N, arrays, blobs, frames, saved
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import sslart
import sslart.dask
from sslart._mapping.model_view import view_of
from sslart.dask import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

MODELS = [
    FuzzyART(random_state=0),
    FuzzyARTMAP(random_state=0),
    SSLART(random_state=0),
    SSLART(mapping="one-to-one", random_state=0),
    SSLART(**EVIDENCE),
    WESSLART(2, random_state=0),
]
SYNCHRONOUS = {"scheduler": "synchronous"}


@pytest.fixture(autouse=True)
def in_this_process() -> Iterator[None]:
    with dask.config.set(SYNCHRONOUS):
        yield


def fitted(model: Any, X: Any, few: Any, y: Any) -> Any:
    model = clone(model)
    if isinstance(model, FuzzyART):
        return model.fit(X)
    return model.fit(X, y if isinstance(model, FuzzyARTMAP) else few)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_estimator_learns_all_partitions(model: Any) -> None:
    found = fitted(model, *arrays())
    n_networks = len(getattr(found, "estimators_", [found]))
    assert found.support_.sum() == N * n_networks
    assert (found.score_samples(blobs()[0]) >= found.vigilance - 1e-9).all()
    if not isinstance(model, FuzzyART):
        assert found.score(blobs()[0], blobs()[2]) > 0.97


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_threads_make_the_same_bits(model: Any) -> None:
    one = fitted(model, *frames())
    with dask.config.set(scheduler="threads", num_workers=4):
        other = fitted(model, *frames())
    assert saved(one.to_local()) == saved(other.to_local())


def test_one_partition_makes_the_ordinary_model() -> None:
    X, few, _ = blobs()
    table = [da.from_array(one, chunks=N) for one in (X, few)]
    ordinary, found = sslart.SSLART(shuffle=False).fit(X, few), SSLART(shuffle=False).fit(*table)
    assert np.array_equal(found.lower_, ordinary.lower_)
    assert np.array_equal(found.counts_, ordinary.counts_)
    assert found.novelty_threshold_ == pytest.approx(ordinary.novelty_threshold_, abs=0.01)


def test_frames_series_and_arrays_go_together() -> None:
    X, few, _ = arrays()
    unknown = X[X[:, 0] > -100], few[X[:, 0] > -100]
    assert np.isnan(unknown[0].shape[0])
    by_columns = X.rechunk((60, 2))
    frame = dd.from_dask_array(X, columns=["a", "b", "c"])
    models = [
        SSLART(random_state=0).fit(*table) for table in ((X, few), unknown, (by_columns, few), (X, few.rechunk(100)))
    ]
    assert len({saved(model.to_local()) for model in models}) == 1
    named = [SSLART(random_state=0).fit(frame, labels) for labels in (few, dd.from_dask_array(few))]
    assert saved(named[0].to_local()) == saved(named[1].to_local())
    assert (named[0].lower_ == models[0].lower_).all()


def test_partitions_may_be_empty_or_without_labels_and_have_classes_and_categories_of_their_own() -> None:
    n = 40
    random = np.random.default_rng(0)
    pieces, labels = [], []
    for number, category in enumerate(["red", "green", None, "blue"]):
        rows = 0 if category is None else n
        pieces.append(
            pd.DataFrame(
                {
                    "size": number + random.random(rows),
                    "colour": pd.Series([category] * rows, dtype="category"),
                    "constant here": np.full(rows, float(number)),
                    "constant": np.ones(rows),
                }
            )
        )
        names = [f"class {number}"] * 5 + [None] * (n - 5) if number != 1 else [None] * n
        labels.append(pd.Series(names[:rows], dtype=object))
    X = dd.from_delayed([dask.delayed(one) for one in pieces], meta=pieces[0][:0], verify_meta=False)
    y = dd.from_delayed([dask.delayed(one) for one in labels], meta=labels[0][:0])
    model = SSLART(**EVIDENCE).fit(X, y)
    assert model.classes_.tolist() == ["class 0", "class 3"]
    assert model.coded_feature_names_ == ["size", "constant here", "colour=blue", "colour=green", "colour=red"]
    assert model.support_.sum() == 3 * n
    predicted = model.predict(X).compute()
    assert predicted.iloc[:n].eq("class 0").all()
    assert predicted.iloc[-n:].eq("class 3").all()


@pytest.mark.parametrize("missing", [-1, None, np.nan])
def test_unlabelled_is_minus_one_none_or_nan(missing: Any) -> None:
    X, few, _ = blobs()
    given = pd.Series(few) if missing == -1 else pd.Series(few).astype(object).where(few >= 0, missing)
    if missing is not None and missing != -1:
        given = given.astype(float)
    with dask.config.set({"dataframe.convert-string": False}):
        y = dd.from_pandas(given, npartitions=4)
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=4)
    model = SSLART(random_state=0).fit(frame, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.counts_.sum() == N // 4


def test_a_table_with_labels_of_plus_and_minus_one_has_two_classes() -> None:
    X, _, y = blobs()
    signs = da.from_array(np.where(y > 0, 1, -1), chunks=60)
    with pytest.warns(UserWarning, match="y holds -1 and 1 only"):
        model = SSLART(random_state=0).fit(da.from_array(X, chunks=60), signs)
    assert model.classes_.tolist() == [-1, 1]
    assert model.counts_.sum() == N


def test_of_many_labels_a_fair_sample_is_gathered() -> None:
    X, _, y = arrays()
    model = SSLART(max_labels=50, **EVIDENCE).fit(X, y)
    kept = view_of(model).members[0].mapping.kept_labels
    assert kept is not None
    assert len(kept[1]) == 50
    assert np.bincount(kept[1]).min() >= 8


def test_weights_and_groups_come_beside_the_labels() -> None:
    X, few, _ = arrays()
    twice = da.from_array(np.full(N, 2.0), chunks=60)
    groups = da.from_array(np.arange(N) // 20, chunks=60)
    model = SSLART(random_state=0).fit(X, few, sample_weight=twice)
    assert model.support_.sum() == 2 * N
    summary = SSLART(**EVIDENCE).fit(X, few, groups=groups).summary()
    assert summary.quality.together is not None


def test_a_fitted_model_learns_further_tables_by_merging() -> None:
    X, few, y = arrays()
    model = SSLART(**EVIDENCE).partial_fit(X[:120], few[:120])
    model.partial_fit(X[120:180], few[120:180]).partial_fit(X[180:])
    assert model.support_.sum() == N
    assert sum(one.n_labels for one in model.summary().classes) == 45
    assert model.score(X, y) > 0.97
    art = FuzzyART().partial_fit(X[:120]).partial_fit(X[120:])
    assert art.support_.sum() == N
    supervised = FuzzyARTMAP().partial_fit(X[:120], y[:120]).partial_fit(X[120:], y[120:])
    assert supervised.counts_.sum() == N


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_other_samples_are_learnt_as_usual(model: Any) -> None:
    X, few, y = blobs()
    labels = y if isinstance(model, FuzzyARTMAP) else few
    ordinary = getattr(sslart, type(model).__name__)(**model.get_params())
    assert saved(clone(model).fit(X, labels).to_local()) == saved(ordinary.fit(X, labels))


def test_is_an_estimator_of_scikit_learn() -> None:
    model = SSLART(vigilance=0.7, random_state=3)
    assert model.get_params() == sslart.SSLART(vigilance=0.7, random_state=3).get_params()
    assert clone(model).set_params(vigilance=0.8).vigilance == 0.8
    assert repr(model) == "SSLART(random_state=3, vigilance=0.7)"


def test_mistakes_are_named_with_their_cure() -> None:
    X, few, _ = arrays()
    with pytest.raises(TypeError, match="y must be a Series or an Array of dask"):
        SSLART().fit(X, blobs()[1])
    with pytest.raises(TypeError, match="X must be a DataFrame or an Array of dask, got a Series"):
        SSLART().fit(frames()[1], few)
    with pytest.raises(ValueError, match="y has 2 partitions and X has 4"):
        SSLART().fit(frames()[0], few.rechunk(120))
    pieces = [dask.delayed(pd.Series(np.zeros(one))) for one in (60, 59, 60, 61)]
    with pytest.raises(ValueError, match="Partition 1, counted from 0: Found input variables with inconsistent"):
        SSLART().fit(frames()[0], dd.from_delayed(pieces, meta=pd.Series(dtype=float)))
    with pytest.raises(ValueError, match="y has no labelled sample"):
        SSLART().fit(X, da.full(N, -1, chunks=60))
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        SSLART().fit(X[:, 0], few)
    with pytest.raises(ValueError, match=r"validation=0\.2 holds out a"):
        WESSLART().fit(X, few, (blobs()[0], blobs()[2]))
    with pytest.raises(ValueError, match="vigilance of SSLART must be"):
        SSLART(vigilance=2).fit(X, few)
    with pytest.raises(ValueError, match="classes is not supported for dask collections"):
        SSLART().partial_fit(X, few, classes=[0, 1])
    model = SSLART(random_state=0).fit(X, few)
    before = saved(model.to_local())
    with pytest.raises(ValueError, match="Partition 3"):
        model.fit(X, da.concatenate([few[:180], da.from_array(np.full(60, 0.5), chunks=60)]))
    assert saved(model.to_local()) == before


def test_without_dask_the_error_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "dask"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in [name for name in sys.modules if name.startswith("sslart.dask")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r'pip install "dask>='):
        importlib.import_module("sslart.dask")


@pytest.mark.slow
@pytest.mark.parametrize("model", [FuzzyART(), FuzzyARTMAP(), SSLART(), AutoSSLART(), WESSLART(2)], ids=repr)
def test_passes_the_checks_of_scikit_learn(model: Any) -> None:
    check_estimator(model, on_skip=None)
