"""Linear algebra: it is right, and the compiled kernel has the bits of the textbook on every instruction set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sslart._reference as reference
from conftest import kernel
from sslart._art.backend import Cholesky, gram_matrix, multiply, use_backend


def positive_definite(n: int, seed: int = 0, n_matrices: int = 1) -> np.ndarray:
    half = np.random.RandomState(seed).normal(size=(n_matrices, n, n))
    return half @ half.swapaxes(1, 2) / n + 0.1 * np.eye(n)


def all_of(matrices: np.ndarray, right_sides: np.ndarray) -> list[bytes]:
    """Everything that follows from positive definite matrices, bit for bit."""
    factors = Cholesky(matrices)
    found = [factors.lower, factors.solve(right_sides), factors.inverse, factors.inverse_diagonal()]
    return [one.tobytes() for one in (*found, multiply(matrices, right_sides), gram_matrix(right_sides[0]))]


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33, 48, 49, 100, 150])
def test_the_kernel_has_the_bits_of_the_textbook(n: int, instruction_set: str) -> None:
    matrices = positive_definite(n, n_matrices=2)
    right_sides = np.random.RandomState(1).normal(size=(2, n, n % 7 + 1))
    found = all_of(matrices, right_sides)
    with use_backend(reference):
        assert found == all_of(matrices, right_sides)


@settings(max_examples=40)
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(0, 40), st.integers(1, 40)),
    turned=st.tuples(st.booleans(), st.booleans()),
    seed=st.integers(0, 99),
)
def test_products_have_the_bits_of_the_textbook(
    shape: tuple[int, int, int], turned: tuple[bool, bool], seed: int
) -> None:
    m, depth, n = shape
    random = np.random.RandomState(seed)
    a, b = random.normal(size=(m, depth)), random.normal(size=(depth, n))
    a, b = (np.asfortranarray(one) if is_turned else one for one, is_turned in zip((a, b), turned, strict=True))
    found, square = multiply(a, b), gram_matrix(a)
    np.testing.assert_allclose(found, a @ b, atol=1e-12)
    np.testing.assert_allclose(square, a @ a.T, atol=1e-12)
    with use_backend(reference):
        np.testing.assert_array_equal(found, multiply(a, b))
        np.testing.assert_array_equal(square, gram_matrix(a))


def test_products_longer_than_a_block_have_the_bits_of_the_textbook(instruction_set: str) -> None:
    random = np.random.RandomState(0)
    a, b = random.normal(size=(100, 600)), random.normal(size=(600, 530))
    found, square = multiply(a, b), gram_matrix(b.T[:110])
    with use_backend(reference):
        np.testing.assert_array_equal(found, multiply(a, b))
        np.testing.assert_array_equal(square, gram_matrix(b.T[:110]))


def test_a_row_of_a_product_does_not_depend_on_the_rows_beside_it() -> None:
    random = np.random.RandomState(0)
    a, b = random.normal(size=(37, 300)), random.normal(size=(300, 5))
    together = multiply(a, b)
    np.testing.assert_array_equal(together, np.vstack([multiply(row[None], b) for row in a]))


@pytest.mark.parametrize("n", [1, 16, 40, 130])
def test_solutions_and_inverses_are_right(n: int) -> None:
    matrices = positive_definite(n, seed=n, n_matrices=3)
    before = matrices.copy()
    factors = Cholesky(matrices)
    np.testing.assert_array_equal(matrices, before)
    np.testing.assert_allclose(factors.lower, np.linalg.cholesky(matrices), atol=1e-10)
    np.testing.assert_allclose(factors.inverse, np.linalg.inv(matrices), atol=1e-9)
    right_sides = np.random.RandomState(0).normal(size=(3, n, 4))
    np.testing.assert_allclose(matrices @ factors.solve(right_sides), right_sides, atol=1e-9)
    diagonal = np.diagonal(factors.inverse, axis1=1, axis2=2)
    np.testing.assert_array_equal(factors.inverse_diagonal(), diagonal)


def test_rounding_never_makes_a_diagonal_smaller_than_its_floor() -> None:
    rows = np.repeat(np.random.RandomState(0).normal(size=(1, 30)) * 1e6, 40, axis=0)  # forty copies of one sample
    floors = np.full(40, 1e-6)
    factors = Cholesky(rows @ rows.T + np.diag(floors), floors)
    assert (np.diagonal(factors.lower) ** 2 >= floors * (1 - 1e-12)).all()
    assert np.isfinite(factors.inverse).all()


@pytest.mark.parametrize("module", ["kernel", "reference"])
def test_shapes_that_do_not_fit_are_refused(module: str) -> None:
    backend, stop = (kernel() if module == "kernel" else reference), np.zeros(1, dtype=np.uint8)
    square, table, one = np.eye(3)[None], np.ones((1, 2, 3)), np.ones((1, 1, 1))
    with pytest.raises(ValueError, match="shapes do not fit"):
        backend.multiply(table, table, square.copy(), False, False, stop)
    with pytest.raises(ValueError, match="floors"):
        backend.factorise(square.copy(), np.ones((1, 2)), stop)
    with pytest.raises(ValueError, match="right_sides"):
        backend.solve(square, one, stop)
    with pytest.raises(ValueError, match="out must"):
        backend.invert(square, one, stop)
    with pytest.raises(ValueError, match="out must"):
        backend.inverse_diagonals(square, np.ones((1, 2)), stop)
