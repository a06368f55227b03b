"""Shapley values of evidence scores: kernel and reference against the definition, sum by sum over all subsets."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_scorer import Case, every_instruction_set, kernel, no_stop, scores_of, using

import sslart._reference
from conftest import needs_kernel
from sslart._mapping.evidence.boxes import PackedBoxes, padded

KINDS = ["boxes", "graph", "linear", "splines"]


def contributions_of(scorer: Any, case: Case, columns: np.ndarray, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
    by_column = np.full((len(case.samples), columns.max() + 1, case.n_classes), np.nan)
    of_graph = np.full((len(case.samples), case.n_classes), np.nan)
    scorer.contributions(case.samples, columns, by_column, of_graph, n_threads, no_stop())
    return by_column, of_graph


def columns_of(seed: int, n_features: int) -> np.ndarray:
    """Return a column for each feature, several features to some columns."""
    random = np.random.RandomState(seed)
    return np.unique(random.randint(0, n_features, n_features), return_inverse=True)[1].astype(np.int64)


def exact_score(case: Case, sample: np.ndarray) -> np.ndarray:
    """Return the score of one sample without the graph, in double precision and straight from the formulas."""
    offsets, values, shares = case.ranks
    score = case.bias.copy()
    for name, (rank_weight, *arguments) in case.terms:
        x = sample.copy()
        for f in range(len(x)):
            own = slice(offsets[f], offsets[f + 1])
            if rank_weight and offsets[f + 1] > offsets[f] and not np.isnan(x[f]):
                x[f] = (1.0 - rank_weight) * x[f] + rank_weight * np.interp(x[f], values[own], shares[own])
        known = ~np.isnan(x)
        if name == "add_boxes":
            features, factors, lower, upper, rate, weights = arguments
            view = (x[features] * factors).astype(np.float32).astype(np.float64)
            low, high = (s.astype(np.float64).transpose(1, 0, 2).reshape(len(features), -1) for s in (lower, upper))
            gaps = np.maximum(np.maximum(low - view[:, None], view[:, None] - high), 0.0)
            distances = np.where(np.isnan(view)[:, None], 0.0, gaps).sum(axis=0)
            for level, of_level in enumerate(weights.astype(np.float64)):
                score += of_level @ np.exp(-float(np.float32(rate)) * 2.0**level * distances)
        elif name == "add_linear":
            centre, slopes = arguments
            score += (x - centre)[known] @ slopes[known]
        elif name == "add_splines":
            (heights,) = arguments
            knots = np.linspace(0.0, 1.0, heights.shape[1])
            for f in np.flatnonzero(known):
                score += [np.interp(x[f], knots, heights[f, :, c]) for c in range(case.n_classes)]
    return score


def shapley_by_subsets(case: Case, sample: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the Shapley values by their definition: the mean change over all orders in which columns become known."""
    n = columns.max() + 1
    worth = {}
    for known in itertools.product([False, True], repeat=n):
        worth[known] = exact_score(case, np.where(np.array(known)[columns], sample, np.nan))
    values = np.zeros((n, case.n_classes))
    for known, before in worth.items():
        size = sum(known)
        for column in np.flatnonzero(~np.array(known)):
            after = worth[(*known[:column], True, *known[column + 1 :])]
            values[column] += (after - before) / (n * math.comb(n - 1, size))
    return values


BACKENDS = [sslart._reference, pytest.param("kernel", marks=needs_kernel)]


@pytest.mark.parametrize("module", BACKENDS, ids=str)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    n_features=st.sampled_from([1, 2, 4, 7]),
    n_classes=st.integers(1, 3),
    kinds=st.lists(st.sampled_from(["boxes", "linear", "splines"]), min_size=1, max_size=3),
)
def test_contributions_are_shapley_values(module: Any, seed: int, n_features: int, n_classes: int, kinds: Any) -> None:
    case = Case(seed, n_features, n_classes, kinds, n_samples=2, n_boxes=20)
    columns = columns_of(seed, n_features)
    scorer = case.scorer(kernel() if module == "kernel" else module)
    by_column, of_graph = contributions_of(scorer, case, columns)
    assert not of_graph.any()
    for sample, found in zip(case.samples, by_column, strict=True):
        np.testing.assert_allclose(found, shapley_by_subsets(case, sample, columns), rtol=0, atol=1e-9 * case.scale)


@pytest.mark.parametrize("module", BACKENDS, ids=str)
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    n_features=st.sampled_from([1, 5, 16, 31]),
    kinds=st.lists(st.sampled_from(KINDS), max_size=5),
)
def test_contributions_add_up_to_the_score(module: Any, seed: int, n_features: int, kinds: Any) -> None:
    case = Case(seed, n_features, 3, kinds, n_samples=5)
    columns = columns_of(seed, n_features)
    scorer = case.scorer(kernel() if module == "kernel" else module)
    by_column, of_graph = contributions_of(scorer, case, columns)
    scores = scores_of(scorer, case.samples, 3)
    case.samples = np.full((1, n_features), np.nan)
    at_nothing, graph_at_nothing = scores_of(scorer, case.samples, 3), contributions_of(scorer, case, columns)[1]
    total = at_nothing + by_column.sum(axis=1) + of_graph - graph_at_nothing
    np.testing.assert_allclose(total, scores, rtol=0, atol=2e-6 * case.scale)


@needs_kernel
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    n_features=st.sampled_from([1, 2, 5, 16, 31, 70]),
    n_classes=st.integers(1, 5),
    kinds=st.lists(st.sampled_from(KINDS), max_size=4),
    n_samples=st.sampled_from([0, 1, 2, 7, 30]),
)
def test_kernel_and_reference_agree_and_all_instruction_sets_and_threads_give_the_same_bits(
    seed: int, n_features: int, n_classes: int, kinds: Any, n_samples: int
) -> None:
    case = Case(seed, n_features, n_classes, kinds, n_samples=n_samples)
    columns = columns_of(seed, n_features)
    expected = contributions_of(case.scorer(sslart._reference), case, columns)
    scorer, found = case.scorer(kernel()), []
    for name in every_instruction_set():
        with using(name):
            found += [contributions_of(scorer, case, columns, n_threads) for n_threads in (1, 3)]
    for own, theirs in zip(found[0], expected, strict=True):
        np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-9 * case.scale)
    assert len({b"".join(array.tobytes() for array in one) for one in found}) == 1


@needs_kernel
@pytest.mark.parametrize("n_features", [3, 8, 17, 40, pytest.param(79, marks=pytest.mark.slow)])
def test_the_number_of_nodes_is_enough_at_every_width_of_the_boxes(n_features: int) -> None:
    case = Case(0, n_features, 2, [], n_samples=3)
    random = np.random.RandomState(n_features)
    lower, upper = np.sort(random.rand(2, 50, n_features), axis=0)
    boxes = PackedBoxes.of(lower, upper)
    weights = padded(np.abs(random.normal(size=(1, 2, 50))))  # errors of one sign would add up
    for rate in np.geomspace(1e-3, 1e3, 50):
        each = np.arange(n_features)
        case.terms = [("add_boxes", (0.0, each, np.ones(n_features), boxes.lower, boxes.upper, rate, weights))]
        found, expected = (contributions_of(case.scorer(m), case, each)[0] for m in (kernel(), sslart._reference))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * weights.sum(axis=2).max())


@needs_kernel
@pytest.mark.parametrize(
    "rate", [pytest.param(1e-3, marks=pytest.mark.slow), 0.1, pytest.param(2.0, marks=pytest.mark.slow)]
)
def test_contributions_add_up_with_many_columns(rate: float) -> None:
    case = Case(0, 400, 2, [], n_samples=3)
    random = np.random.RandomState(0)
    lower, upper = np.sort(random.rand(2, 60, 400), axis=0)
    boxes = PackedBoxes.of(lower, upper)
    weights = padded(random.normal(size=(2, 2, 60)))
    case.terms = [("add_boxes", (0.0, np.arange(400), np.ones(400), boxes.lower, boxes.upper, rate, weights))]
    case.scale += float(np.abs(weights).sum())
    columns = np.arange(400)
    for module in (kernel(), sslart._reference):
        by_column, _ = contributions_of(case.scorer(module), case, columns)
        at_nothing = exact_score(case, np.full(400, np.nan))
        for sample, values in zip(case.samples, by_column, strict=True):
            np.testing.assert_allclose(
                at_nothing + values.sum(axis=0), exact_score(case, sample), rtol=0, atol=1e-6 * case.scale
            )


@pytest.mark.parametrize("module", BACKENDS, ids=str)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"columns": np.array([0, 1])}, "length n_features"),
        ({"columns": np.array([0, 1, 3])}, "from 0 to"),
        ({"by_column": np.empty((2, 3, 1))}, "by_column"),
        ({"of_graph": np.empty((1, 2))}, "of_graph"),
    ],
)
def test_wrong_shapes_are_refused(module: Any, wrong: dict[str, Any], message: str) -> None:
    case = Case(0, 3, 2, ["linear"], n_samples=2)
    arguments = {"columns": np.arange(3), "by_column": np.empty((2, 3, 2)), "of_graph": np.empty((2, 2)), **wrong}
    scorer = case.scorer(kernel() if module == "kernel" else module)
    with pytest.raises(ValueError, match=message):
        scorer.contributions(case.samples, *arguments.values(), 1, no_stop())
