"""FuzzyART against an independent implementation, and the laws of boxes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from conftest import lattices
from sslart import FuzzyART


def artlib_labels(samples: np.ndarray, vigilance: float) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        artlib = pytest.importorskip("artlib", reason="artlib is the independent fuzzy ART to compare with")
    model = artlib.FuzzyART(rho=vigilance, alpha=1e-3, beta=1.0)
    # prepare_data would scale again: the samples are in [0, 1] already
    return model.fit(np.hstack([samples, 1.0 - samples])).labels_


@pytest.mark.parametrize("vigilance", [pytest.param(0.5, marks=pytest.mark.slow), 0.7, 0.9])
def test_agrees_with_artlib_on_digits(vigilance: float) -> None:
    X = load_digits().data[:900] / 16.0
    model = FuzzyART(vigilance, bounds=(0, 1)).fit(X)
    np.testing.assert_array_equal(model.labels_, artlib_labels(X, vigilance))
    assert model.n_nodes_ == model.labels_.max() + 1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("vigilance", [0.4, 0.8])
def test_agrees_with_artlib_on_random_grid_data(seed: int, vigilance: float) -> None:
    random = np.random.RandomState(seed)
    X = random.randint(0, 2**10 + 1, size=(150, 1 + seed)) / 2**10
    model = FuzzyART(vigilance, bounds=(0, 1)).fit(X)
    np.testing.assert_array_equal(model.labels_, artlib_labels(X, vigilance))


@given(samples=lattices(), vigilance=st.sampled_from([0.0, 0.5, 0.8, 1.0]))
def test_sample_lies_in_the_box_of_its_winner(samples: np.ndarray, vigilance: float) -> None:
    model = FuzzyART(vigilance, bounds=(0, 1)).fit(samples)
    lower, upper = model.lower_[model.labels_], model.upper_[model.labels_]
    has = ~np.isnan(samples)
    assert (lower[has] <= samples[has] + 2.0**-32).all()
    assert (samples[has] <= upper[has] + 2.0**-32).all()


@given(samples=lattices(), rate=st.sampled_from([1.0, 0.4]))
def test_boxes_only_grow(samples: np.ndarray, rate: float) -> None:
    model = FuzzyART(0.6, learning_rate=rate, bounds=(0, 1))
    before = None
    for sample in samples:
        model.partial_fit(sample[None])
        if before is not None:
            n = len(before[0])
            assert not (model.lower_[:n] > before[0]).any()
            assert not (model.upper_[:n] < before[1]).any()
        before = model.lower_, model.upper_


@given(samples=lattices(min_samples=2))
def test_prefix_of_the_stream_gives_a_prefix_of_the_history(samples: np.ndarray) -> None:
    half = len(samples) // 2
    whole = FuzzyART(0.7, bounds=(0, 1)).fit(samples)
    part = FuzzyART(0.7, bounds=(0, 1)).fit(samples[:half])
    np.testing.assert_array_equal(whole.labels_[:half], part.labels_)


def test_box_is_no_larger_than_vigilance_allows() -> None:
    X = np.random.RandomState(0).rand(500, 4)
    model = FuzzyART(0.8).fit(X)
    span = X.max(axis=0) - X.min(axis=0)
    sizes = ((model.upper_ - model.lower_) / span).sum(axis=1)
    assert sizes.max() <= 4 * (1 - 0.8) + 1e-9


def test_low_score_means_novel() -> None:
    model = FuzzyART(0.9, bounds=(0, 1)).fit(np.random.RandomState(0).uniform(0.4, 0.6, size=(100, 3)))
    known, novel = model.score_samples([[0.5, 0.5, 0.5], [0.0, 1.0, 0.0]])
    assert novel < 0.7 < known


def test_shuffle_takes_another_order_and_keeps_labels_with_their_samples() -> None:
    X = np.random.RandomState(0).rand(60, 2)
    given_order, first, again, other = (
        FuzzyART(0.9, shuffle=shuffle, random_state=seed).fit(X) for shuffle, seed in ((0, 0), (1, 0), (1, 0), (1, 1))
    )
    np.testing.assert_array_equal(first.labels_, again.labels_)
    assert not np.array_equal(first.lower_, other.lower_)
    assert not np.array_equal(first.lower_, given_order.lower_)
    assert (first.lower_[first.labels_] <= X + 1e-9).all()
    assert (first.upper_[first.labels_] + 1e-9 >= X).all()


def test_support_counts_samples() -> None:
    model = FuzzyART(0.5).fit([[0], [0], [10]])
    assert model.support_.tolist() == [2, 1]
