"""Randomised trees: the kernel grows those of the reference, every leaf is a box, and Shapley values are exact."""

from __future__ import annotations

from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sslart._reference as reference
from sslart._art.backend import use_backend
from sslart._art.trees import LEAF, Forest
from sslart._utils.arrays import keys_of_numbers

kernel = pytest.importorskip("sslart._kernel", reason="sslart was installed without a compiler")
NO_STOP = np.zeros(1, dtype=np.uint8)


def problem(seed: int, n: int = 60, n_features: int = 5, missing: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    X = np.round(random.rand(n, n_features), random.randint(0, 4))
    X[random.rand(n, n_features) < missing] = np.nan
    return X, random.randint(3, size=n)


def grown(
    X: np.ndarray,
    y: np.ndarray,
    seed: int = 0,
    n_trees: int = 4,
    n_tried: int = 2,
    least: float = 1e-9,
    column_of: np.ndarray | None = None,
) -> Forest:
    weights = np.random.RandomState(seed).choice([0.0, 1.0, 2.5], size=(n_trees, len(y)))
    weights[:, 0] = 1.0
    return Forest.grown(X, y, 3, weights, keys_of_numbers(np.arange(n_trees), seed), n_tried, least, column_of)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 999),
    n=st.integers(1, 80),
    n_tried=st.integers(1, 5),
    least=st.sampled_from([1e-9, 1.0, 4.0]),
    missing=st.sampled_from([0.0, 0.2, 1.0]),
    column_of=st.none() | st.lists(st.integers(0, 3), min_size=5, max_size=5).map(np.array),
)
def test_the_kernel_grows_the_trees_of_the_reference(
    seed: int, n: int, n_tried: int, least: float, missing: float, column_of: np.ndarray | None
) -> None:
    X, y = problem(seed, n, missing=missing)
    by_backend = []
    for module in (kernel, reference):
        with use_backend(module):
            forest = grown(X, y, seed, n_tried=n_tried, least=least, column_of=column_of)
            by_backend.append((*forest.arrays, forest.scores_by_tree(X)))
    for found, expected in zip(*by_backend, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_sample_reaches_the_leaf_whose_sides_hold_it() -> None:
    X, y = problem(3, missing=0.0)
    forest = grown(X, y)
    by_tree = forest.scores_by_tree(X)
    for tree, root in enumerate(forest.roots.tolist()):
        parts: list[tuple[int, np.ndarray, np.ndarray]] = [(root, np.full(5, -np.inf), np.full(5, np.inf))]
        while parts:
            node, lower, upper = parts.pop()
            if forest.features[node] == LEAF:
                inside = ((lower < X) & (upper >= X)).all(axis=1)
                np.testing.assert_array_equal(
                    by_tree[tree, inside], np.tile(forest.values[forest.left[node]], (inside.sum(), 1))
                )
                continue
            below, above = upper.copy(), lower.copy()
            below[forest.features[node]] = above[forest.features[node]] = forest.thresholds[node]
            parts += [(int(forest.left[node]), lower, below), (int(forest.left[node]) + 1, above, upper)]


def test_leaves_hold_the_shares_of_the_classes_and_no_less_than_the_least_weight() -> None:
    X, y = problem(1, missing=0.0)
    weights = np.ones((1, len(y)))
    forest = Forest.grown(X, y, 3, weights, keys_of_numbers(np.arange(1), 0), 2, 5.0)
    predicted = forest.scores_by_tree(X)[0]
    leaves, leaf_of, sizes = np.unique(predicted, axis=0, return_inverse=True, return_counts=True)
    assert sizes.min() >= 5
    for number, leaf in enumerate(leaves):
        np.testing.assert_allclose(np.bincount(y[leaf_of.reshape(-1) == number], minlength=3) / sizes[number], leaf)


def test_trees_follow_labels_that_a_feature_explains() -> None:
    random = np.random.RandomState(0)
    X = random.rand(300, 6)
    y = (X[:, 2] > 0.4).astype(np.int64)
    forest = Forest.grown(X[:200], y[:200], 2, np.ones((50, 200)), keys_of_numbers(np.arange(50), 1), 3, 1e-9)
    assert (forest.scores_by_tree(X[200:]).mean(axis=0).argmax(axis=1) == y[200:]).mean() > 0.95


def test_a_column_of_many_categories_is_tried_no_more_often_than_another() -> None:
    random = np.random.RandomState(0)
    X = np.column_stack([np.eye(12)[random.randint(12, size=300)], random.rand(300)])
    y = random.randint(2, size=300)
    seeds, weights = keys_of_numbers(np.arange(200), 0), np.ones((200, 300))
    alone = Forest.grown(X, y, 2, weights, seeds, 1, 1e-9)
    together = Forest.grown(X, y, 2, weights, seeds, 1, 1e-9, np.append(np.zeros(12, dtype=np.int64), 1))
    first = [(forest.features[forest.roots] == 12).mean() for forest in (alone, together)]
    assert first[0] == pytest.approx(1 / 13, abs=0.06)
    assert first[1] == pytest.approx(1 / 2, abs=0.12)


@pytest.mark.parametrize("module", [kernel, reference], ids=["kernel", "reference"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_shapley_values_are_those_of_the_definition(module: Any, missing: float) -> None:
    X, y = problem(5, missing=missing)
    forest, columns = grown(X, y, n_trees=3, n_tried=3), np.array([0, 1, 1, 2, 3])
    scorer = module.Scorer(np.zeros(3))
    scorer.add_trees(0.0, *forest.arrays)

    def score(sample: np.ndarray, known: tuple[int, ...]) -> np.ndarray:
        out = np.empty((1, 3))
        scorer.scores(np.where(np.isin(columns, known), sample, np.nan)[None], out, 1, NO_STOP)
        return out[0]

    found, of_graph = np.empty((4, 4, 3)), np.empty((4, 3))
    scorer.contributions(np.ascontiguousarray(X[:4]), columns, found, of_graph, 1, NO_STOP)
    assert not of_graph.any()
    for row in range(4):
        for column in range(4):
            others = [one for one in range(4) if one != column]
            expected = np.zeros(3)
            for size in range(4):
                for known in combinations(others, size):
                    weight = factorial(size) * factorial(3 - size) / factorial(4)
                    expected += weight * (score(X[row], (*known, column)) - score(X[row], known))
            np.testing.assert_allclose(found[row, column], expected, atol=1e-12)


@pytest.mark.parametrize("module", [kernel, reference], ids=["kernel", "reference"])
@pytest.mark.parametrize("change", ["left", "roots", "features", "values"])
def test_arrays_that_are_no_trees_are_refused(module: Any, change: str) -> None:
    forest = dict(
        zip(("roots", "features", "thresholds", "left", "shares", "values"), grown(*problem(0)).arrays, strict=True)
    )
    if change == "values":
        forest["values"] = np.zeros((len(forest["values"]), 2))
    else:
        forest[change] = forest[change].copy()
        forest[change][0] = -7
    with pytest.raises(ValueError, match=change if change != "features" else "left"):
        module.Scorer(np.zeros(3)).add_trees(0.0, *forest.values())


def test_joined_forests_predict_what_each_does() -> None:
    X, y = problem(2)
    one, other = grown(X, y, 1), grown(X, y, 2)
    expected = np.concatenate([one.scores_by_tree(X), other.scores_by_tree(X)])
    np.testing.assert_array_equal(Forest.joined([one, other]).scores_by_tree(X), expected)
