"""Repeated measurements of one item among the labels are found, and nothing is found in ordinary tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine, make_blobs

from sslart._mapping.evidence.design import near_copies

ORDINARY = [load_iris, load_wine, load_breast_cancer, load_diabetes, load_digits]


def unit_cube(samples: np.ndarray) -> np.ndarray:
    low, high = samples.min(axis=0), samples.max(axis=0)
    return np.asarray((samples - low)[:, high > low] / (high - low)[high > low])


def items_of(samples: np.ndarray, classes: Any = None) -> np.ndarray:
    classes = np.arange(len(samples)) % 2 if classes is None else classes
    return near_copies(samples, classes, np.zeros(samples.shape[1], dtype=bool))


def n_items(items: np.ndarray) -> int:
    return len(np.unique(items))


def same(items: np.ndarray) -> np.ndarray:
    """Mask of pairs of the same item."""
    return np.asarray((items[:, None] == items)[np.triu_indices(len(items), 1)])


def draw(load: Any, n: int, random: np.random.RandomState) -> np.ndarray:
    samples = unit_cube(load(return_X_y=True)[0])
    return samples[random.permutation(len(samples))[:n]]


@pytest.mark.parametrize("noise", [0.01, 0.02, 0.03])
@pytest.mark.parametrize("times", [2, 5])
@pytest.mark.parametrize("load", [load_wine, load_diabetes, load_digits])
def test_noisy_readings_of_one_item_are_found(load: Any, times: int, noise: float) -> None:
    random = np.random.RandomState(0)
    truth = np.repeat(np.arange(100 // times), times)
    readings = draw(load, 100 // times, random)[truth]
    readings = readings + noise * random.standard_normal(readings.shape)
    order = random.permutation(len(readings))
    found = same(items_of(readings[order], truth[order] % 3))
    right = same(truth[order])
    assert (found & right).sum() >= 0.7 * right.sum()
    assert (found & right).sum() >= 0.9 * found.sum()


def test_rounded_values_and_changes_in_few_columns_do_not_hide_a_copy() -> None:
    random = np.random.RandomState(0)
    once = draw(load_wine, 50, random)
    rounded = np.vstack([once, (once + 0.01 * random.standard_normal(once.shape)).round(2)])
    shifted = np.vstack([once, once])
    shifted[50:, :2] += 0.03 * random.standard_normal((50, 2))
    truth = np.tile(np.arange(50), 2)
    for samples in (rounded, shifted):
        assert (same(items_of(samples, truth % 3)) == same(truth)).mean() > 0.999


def test_copies_are_found_where_values_are_missing() -> None:
    random = np.random.RandomState(0)
    truth = np.tile(np.arange(50), 2)
    samples = draw(load_wine, 50, random)[truth] + 0.005 * random.standard_normal((100, 13))
    samples[random.rand(100, 13) < 0.1] = np.nan
    found, right = same(items_of(samples, truth % 3)), same(truth)
    assert (found & right).sum() >= 0.7 * right.sum()


def test_exact_copies_belong_to_the_item_of_their_near_copies() -> None:
    random = np.random.RandomState(0)
    once = draw(load_wine, 40, random)
    samples = np.vstack([once, once + 0.005 * random.standard_normal(once.shape), once])
    items = items_of(samples, np.tile(np.arange(40) % 3, 3))
    assert n_items(items) == 40
    assert (items.reshape(3, 40) == items[:40]).all()


@pytest.mark.parametrize("load", ORDINARY)
@pytest.mark.parametrize("n", [20, 50, 140])
def test_in_ordinary_tables_every_sample_is_an_item_of_its_own(load: Any, n: int) -> None:
    random = np.random.RandomState(1)
    for _ in range(5):
        samples = draw(load, n, random)
        assert items_of(samples).tolist() == list(range(len(samples)))


@pytest.mark.parametrize("n_centres", [3, 10, 40])
@pytest.mark.parametrize("n_features", [2, 5, 10])
def test_compact_classes_are_no_items(n_centres: int, n_features: int) -> None:
    for seed in range(5):
        samples, classes = make_blobs(100, n_features, centers=n_centres, cluster_std=0.2, random_state=seed)
        assert n_items(items_of(unit_cube(samples), classes)) == 100


def test_tables_of_categories_or_few_values_have_no_near_copies() -> None:
    random = np.random.RandomState(0)
    few = random.randint(3, size=(150, 8)) / 2.0
    assert n_items(items_of(few)) == len(few)
    codes = random.randint(5, size=(150, 6))
    coded = np.hstack([(codes[:, [place]] == np.arange(5)).astype(float) for place in range(6)])
    assert n_items(near_copies(coded, np.arange(150) % 2, np.ones(30, dtype=bool))) == 150
    mixed = np.hstack([coded[:, :20], random.rand(150, 3)])
    assert n_items(near_copies(mixed, np.arange(150) % 2, np.arange(23) < 20)) == 150


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 120), st.integers(2, 12), st.floats(0.5, 3.0))
def test_independent_samples_are_items_of_their_own(seed: int, n: int, n_features: int, power: float) -> None:
    samples = np.random.RandomState(seed).rand(n, n_features) ** power
    assert n_items(items_of(samples)) == n


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31))
def test_the_items_do_not_depend_on_the_order_of_the_samples(seed: int) -> None:
    random = np.random.RandomState(seed)
    truth = np.repeat(np.arange(30), 2)
    samples = random.rand(30, 6)[truth] + 0.01 * random.standard_normal((60, 6))
    classes, order = truth % 3, random.permutation(60)
    pairs = items_of(samples, classes)[:, None] == items_of(samples, classes)
    moved = items_of(samples[order], classes[order])
    assert (pairs[np.ix_(order, order)] == (moved[:, None] == moved)).all()
