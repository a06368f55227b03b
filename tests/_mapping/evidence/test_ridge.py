"""Ridge: leave-one-out is what leaving one out gives, and the primal gives what the dual gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge

from sslart._mapping.evidence import basis
from sslart._mapping.evidence.basis import DualRidge
from sslart._mapping.evidence.design import LabelGroups

EXACT = 1e-8


def problem(seed: int, n: int = 12, n_terms: int = 7, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    return random.normal(size=(n, n_terms)), np.eye(n_classes)[random.randint(n_classes, size=n)]


@settings(max_examples=20)
@given(seed=st.integers(0, 999), n=st.integers(2, 15), ridge=st.sampled_from([1e-3, 0.1, 10.0]))
def test_left_out_is_what_the_others_alone_predict(seed: int, n: int, ridge: float) -> None:
    matrix, targets = problem(seed, n)
    gram = matrix @ matrix.T
    fit = next(DualRidge(gram.copy(), targets).fits([ridge]))
    for one in range(n):
        others = np.delete(np.arange(n), one)
        without = KernelRidge(alpha=ridge, kernel="precomputed").fit(gram[np.ix_(others, others)], targets[others])
        np.testing.assert_allclose(fit.left_out[one], without.predict(gram[[one]][:, others])[0], atol=EXACT)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 999),
    n=st.integers(4, 15),
    n_groups=st.integers(2, 15),
    ridge=st.sampled_from([1e-3, 0.1, 10.0]),
)
def test_a_group_is_left_out_as_a_whole(seed: int, n: int, n_groups: int, ridge: float) -> None:
    matrix, targets = problem(seed, n)
    matrix[n // 2] = matrix[0]  # a copy
    group_of = np.random.RandomState(seed).randint(n_groups, size=n)
    gram = matrix @ matrix.T
    fit = next(DualRidge(gram.copy(), targets, groups=LabelGroups(group_of).several).fits([ridge]))
    for one in range(n):
        others = np.flatnonzero(group_of != group_of[one])
        expected = np.zeros(3)
        if others.size:
            without = KernelRidge(alpha=ridge, kernel="precomputed").fit(gram[np.ix_(others, others)], targets[others])
            expected = without.predict(gram[[one]][:, others])[0]
        np.testing.assert_allclose(fit.left_out[one], expected, atol=EXACT)


@settings(max_examples=20)
@given(seed=st.integers(0, 999), ridge=st.sampled_from([1e-3, 0.1, 10.0]))
def test_coefficients_solve_the_dual(seed: int, ridge: float) -> None:
    matrix, targets = problem(seed)
    gram = matrix @ matrix.T
    fit = next(DualRidge(gram.copy(), targets).fits([ridge]))
    assert fit.ridge == ridge
    np.testing.assert_allclose((gram + ridge * np.eye(len(gram))) @ fit.coefficients, targets, atol=EXACT)


def test_many_ridges_give_what_each_gives_alone() -> None:
    matrix, targets = problem(0)
    gram = matrix @ matrix.T
    ridges = [1e-3, 0.1, 10.0]
    once = DualRidge(gram.copy(), targets)
    for ridge, fit in zip(ridges, once.fits(ridges), strict=True):
        alone = next(DualRidge(gram.copy(), targets).fits([ridge]))
        assert fit.ridge == ridge
        np.testing.assert_array_equal(fit.left_out, alone.left_out)
    for coefficients, fit in zip(once.coefficients(ridges), once.fits(ridges), strict=True):
        np.testing.assert_array_equal(coefficients, fit.coefficients)


@pytest.mark.parametrize("n_blocks", [0, 3])
def test_how_many_ridges_are_taken_at_once_does_not_matter(monkeypatch: pytest.MonkeyPatch, n_blocks: int) -> None:
    matrix, targets = problem(0)
    blocks = [np.arange(12)[place::n_blocks] for place in range(n_blocks)]
    found = []
    for most in (1, 300, 400_000):  # one by one, two, all
        monkeypatch.setattr(basis, "MAX_AT_ONCE", most)
        found.append(list(DualRidge(matrix @ matrix.T, targets).fits([1e-3, 0.1, 10.0], blocks)))
    for fits in found:
        assert [fit.ridge for fit in fits] == [1e-3, 0.1, 10.0]
        for fit, other in zip(fits, found[0], strict=True):
            np.testing.assert_array_equal(fit.left_out, other.left_out)
            assert (fit.without is None) == (n_blocks == 0)


def test_duplicates_and_samples_without_activation_do_no_harm() -> None:
    matrix, targets = problem(0)
    matrix[3], matrix[5:8] = 0.0, matrix[5]
    fit = next(DualRidge(matrix @ matrix.T, targets).fits([1e-3]))
    assert np.isfinite(fit.left_out).all()
    np.testing.assert_allclose(fit.left_out[3], 0.0, atol=EXACT)  # no other sample contributes to it


@settings(max_examples=30)
@given(
    seed=st.integers(0, 999),
    n=st.integers(4, 14),
    n_groups=st.integers(3, 14),
    n_blocks=st.integers(2, 5),
    ridge=st.sampled_from([1e-3, 0.1, 10.0]),
    weighted=st.booleans(),
)
def test_without_a_block_is_what_the_others_outside_the_block_predict(
    seed: int, n: int, n_groups: int, n_blocks: int, ridge: float, weighted: bool
) -> None:
    matrix, targets = problem(seed, n)
    random = np.random.RandomState(seed)
    group_of = random.randint(n_groups, size=n)
    block_of = group_of % n_blocks
    weights = random.uniform(0.2, 3.0, n) if weighted else None
    gram = matrix @ matrix.T
    groups = LabelGroups(group_of).several
    regression = DualRidge(gram.copy(), targets, weights, groups)
    blocks = [np.flatnonzero(block_of == block) for block in np.unique(block_of)]
    first, other = regression.fits([ridge, 2 * ridge], blocks)
    (alone,) = DualRidge(gram.copy(), targets, weights, groups).fits([2 * ridge], blocks)
    assert first.without is not None
    assert other.without is not None
    np.testing.assert_allclose(other.without, alone.without, atol=1e-6)
    for plain, fit in zip(regression.fits([ridge, 2 * ridge]), (first, other), strict=True):
        assert plain.without is None
        np.testing.assert_allclose(fit.left_out, plain.left_out, atol=1e-6)
    for own, rows in zip(first.without, blocks, strict=True):
        for one in np.setdiff1d(np.arange(n), rows):
            others = np.flatnonzero((group_of != group_of[one]) & ~np.isin(np.arange(n), rows))
            expected = np.zeros(3)
            if others.size:
                model = KernelRidge(alpha=ridge, kernel="precomputed")
                model.fit(gram[np.ix_(others, others)], targets[others], None if weights is None else weights[others])
                expected = model.predict(gram[[one]][:, others])[0]
            np.testing.assert_allclose(own[one], expected, atol=1e-6)


@settings(max_examples=20)
@given(seed=st.integers(0, 999), ridge=st.sampled_from([1e-3, 0.1, 10.0]))
def test_a_weight_of_two_is_the_sample_twice(seed: int, ridge: float) -> None:
    matrix, targets = problem(seed)
    weights = np.random.RandomState(seed).randint(1, 4, len(matrix))
    rows = np.repeat(np.arange(len(matrix)), weights)
    once = next(DualRidge(matrix @ matrix.T, targets, weights.astype(float)).fits([ridge]))
    again = next(
        DualRidge(matrix[rows] @ matrix[rows].T, targets[rows], groups=LabelGroups(rows).several).fits([ridge])
    )
    np.testing.assert_allclose(matrix.T @ once.coefficients, matrix[rows].T @ again.coefficients, atol=1e-6)
    np.testing.assert_allclose(once.left_out[rows], again.left_out, atol=1e-6)


def test_without_blocks_is_found_where_it_is_wanted() -> None:
    matrix, targets = problem(0)
    blocks, seen = [np.arange(3), np.arange(3, 12)], []

    def is_wanted(left_out: np.ndarray) -> bool:
        seen.append(left_out)
        return len(seen) != 2

    fits = list(DualRidge(matrix @ matrix.T, targets).fits([1e-3, 0.1, 10.0], blocks, is_wanted))
    assert [fit.without is None for fit in fits] == [False, True, False]
    np.testing.assert_array_equal(seen, [fit.left_out for fit in fits])
