"""Labels over partitions: learnt with the boxes of all, a fair sample of many, and those that count less with age."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from dask_tables import EVIDENCE, N, arrays, blobs, saved
from sklearn.base import clone

import sslart
from sslart.dask import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.merging.partitions import Summary, finish, fit_part, join_parts, start_of, summary_of, wanted_of

COUNTING = [SSLART(random_state=0), SSLART(mapping="one-to-one", random_state=0)]


@pytest.fixture(autouse=True)
def in_this_process() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("model", COUNTING, ids=repr)
def test_partitions_learn_the_same_boxes_whatever_the_labels(model: Any) -> None:
    model = sslart.SSLART(**model.get_params())
    X, few, _ = blobs()
    made = []
    for labels in (few, np.where(few >= 0, 2 - few, -1)):
        pieces = list(zip(np.split(X, 4), np.split(labels, 4), strict=True))
        wanted = wanted_of(model)
        found = [summary_of(model, *piece, number=number, wanted=wanted) for number, piece in enumerate(pieces)]
        start = start_of(model, Summary.joined(found))
        parts = [fit_part(model, *piece, start, number=number) for number, piece in enumerate(pieces)]
        made.append(join_parts(model, parts))
    one, other = made
    assert one is not None
    assert other is not None
    nodes = one.members[0].network.nodes
    assert np.array_equal(nodes.weights, other.members[0].network.nodes.weights)
    assert nodes.n_samples == N - (few >= 0).sum()
    fitted = [finish(model, parts) for parts in (one, other)]
    assert [model.counts_.sum() for model in fitted] == [(few >= 0).sum()] * 2
    assert np.array_equal(fitted[0].predict(X), 2 - fitted[1].predict(X))
    assert saved(finish(model, one)) == saved(fitted[0])


@pytest.mark.parametrize("model", COUNTING, ids=repr)
def test_where_all_rows_have_labels_and_all_are_gathered_the_model_is_the_ordinary_one(model: Any) -> None:
    X, _, y = blobs()
    ordinary = sslart.SSLART(**{**model.get_params(), "shuffle": False}).fit(X, y)
    found = clone(model).set_params(shuffle=False).fit(*(da.from_array(one, chunks=60) for one in (X, y)))
    assert np.array_equal(found.lower_, ordinary.lower_)
    assert np.array_equal(found.counts_, ordinary.counts_)


@pytest.mark.parametrize("model", [*COUNTING, WESSLART(2, random_state=0)], ids=repr)
def test_of_many_labels_a_fair_sample_with_every_class_is_learnt_and_other_rows_as_unlabelled(model: Any) -> None:
    X, _, y = blobs()
    names = np.array(["zero", "one", "two"], dtype=object)[y]
    names[130] = "rare"
    table = [da.from_array(one, chunks=60) for one in (X, names)]
    found = clone(model).set_params(max_labels=60).fit(*table)
    n_networks = len(getattr(found, "estimators_", [found]))
    assert found.support_.sum() == N * n_networks
    counts = found.counts_.sum(axis=0) / n_networks
    assert dict(zip(found.classes_.tolist(), counts.tolist(), strict=True))["rare"] == 1
    assert 40 <= counts.sum() <= 80
    assert np.delete(counts, found.classes_.tolist().index("rare")).min() >= 10
    assert saved(found.to_local()) == saved(clone(model).set_params(max_labels=60).fit(*table).to_local())


def test_an_ensemble_holds_out_a_share_of_the_labels_of_all_partitions() -> None:
    X, few, _ = arrays()
    model = WESSLART(2, validation=0.3, random_state=0).fit(X, few)
    n_held_out = N - model.support_.sum() / 2
    assert n_held_out == 18  # three in ten of twenty labels of each of three classes
    assert model.counts_.sum() == 2 * (60 - n_held_out)
    assert model.class_weights_.shape == (2, 3)
    with pytest.raises(ValueError, match=r"validation=0\.01 cannot hold out samples"):
        WESSLART(2, validation=0.01, random_state=0).fit(X, few)


def turned(n: int = 400) -> tuple[tuple[Any, Any], tuple[Any, Any], tuple[Any, Any]]:
    """Return a table, another in which classes have changed places, and samples of the other as arrays."""
    random = np.random.default_rng(0)
    X = random.random((3 * n, 2))
    y = (X[:, 0] > 0.5).astype(int)
    y[n:] = 1 - y[n:]
    first, second = (
        (da.from_array(X[r], chunks=100), da.from_array(y[r], chunks=100)) for r in (slice(n), slice(n, 2 * n))
    )
    return first, second, (X[2 * n :], y[2 * n :])


@pytest.mark.parametrize(
    "model",
    [*COUNTING, SSLART(**EVIDENCE), WESSLART(2, random_state=0), FuzzyARTMAP(), FuzzyART()],
    ids=repr,
)
def test_what_was_learnt_before_a_further_collection_counts_less_with_a_half_life(model: Any) -> None:
    first, second, new = turned()
    short = clone(model).set_params(half_life=20).partial_fit(*first).partial_fit(*second)
    long = clone(model).set_params(half_life=400).partial_fit(*first).partial_fit(*second)
    n_networks = len(getattr(short, "estimators_", [short]))
    assert long.support_.sum() == pytest.approx(600 * n_networks)
    assert short.support_.sum() == pytest.approx(400 * n_networks, abs=1)
    assert short.n_nodes_ < long.n_nodes_
    if not isinstance(model, FuzzyART):
        assert short.score(*new) > 0.9
    assert short.to_local().partial_fit(*(one[:5] for one in new)).n_nodes_ >= 2


def test_half_life_auto_is_refused_for_a_further_collection() -> None:
    first, second, _ = turned()
    model = AutoSSLART(half_life="auto", random_state=0).fit(*first)
    before = saved(model.to_local())
    with pytest.raises(ValueError, match=r"half_life='auto' is chosen by the labels of a stream.*give a number"):
        model.partial_fit(*second)
    assert saved(model.to_local()) == before
