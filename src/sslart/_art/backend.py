"""The numerical backend (compiled kernel or NumPy reference): selection, sample encoding, hashing, linear algebra.

Linear algebra is reproducible: the bits of a result depend on the input alone. BLAS sums in an order that depends on
the number of threads, the processor and the memory alignment. Here every sum adds its products one after another, in
the order of the loops in `sslart._reference.algebra`.
"""

from __future__ import annotations

import functools
import importlib
import math
import os
import platform
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property, lru_cache
from importlib.metadata import version
from zlib import crc32

import numpy as np

from sslart._data.encoder import Encoder
from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray, KeyArray, keys_of_numbers, mixed, mixed_number
from sslart._utils.resources import stop_flag

ENVIRONMENT_VARIABLE = "SSLART_KERNEL"
INSTRUCTION_SETS = ("avx512", "avx2", "portable")
NAMES = ("auto", *INSTRUCTION_SETS, "reference")


REFERENCE = "sslart._reference"  # imported only where it is used, so that importing sslart stays quick

_forced: list[types.ModuleType] = []


def backend() -> types.ModuleType:
    """Return the module that learns, ranks and scores: `sslart._kernel` or `sslart._reference`."""
    return _forced[-1] if _forced else _default_backend()


@contextmanager
def use_backend(module: types.ModuleType) -> Iterator[None]:
    """Context manager: use another backend in all threads, so that tests can compare the two."""
    _forced.append(module)
    try:
        yield
    finally:
        _forced.pop()


@functools.cache
def _default_backend() -> types.ModuleType:
    wanted = os.environ.get(ENVIRONMENT_VARIABLE, "auto")
    if wanted not in NAMES:
        raise ValueError(f"{ENVIRONMENT_VARIABLE} must be one of {', '.join(NAMES)}, got {wanted!r}.")
    if wanted == "reference":
        return importlib.import_module(REFERENCE)
    try:
        kernel = importlib.import_module("sslart._kernel")
    except ImportError as error:
        cure = (
            "Install a C++17 compiler (g++, clang++ or MSVC), and then sslart again from where you have it: in its "
            "folder, `pip install --force-reinstall --no-deps .`"
        )
        if wanted in INSTRUCTION_SETS:
            raise ImportError(f"sslart has no compiled kernel here. {cure}") from error
        warnings.warn(
            f"sslart has no compiled kernel here and runs on its NumPy reference: same results, much slower. {cure}",
            RuntimeWarning,
            stacklevel=2,
        )
        return importlib.import_module(REFERENCE)
    if wanted in INSTRUCTION_SETS:
        kernel.use_instruction_set(wanted)
    return kernel


def encode(encoder: Encoder, matrix: FloatArray) -> tuple[FloatArray, bool]:
    """Scale a matrix in the user's units to the unit cube; also return True if any value is out of range."""
    scaled = np.ascontiguousarray(encoder.on_scale(matrix))
    coded = np.empty_like(scaled)
    beyond = backend().encode(scaled, *encoder.ends, coded)
    if encoder.ranks is not None:  # a value slightly out of range may have a position within it
        beyond = bool(((matrix < encoder.lower) | (matrix > encoder.upper)).any())
    return coded, beyond


def describe() -> str:
    """Return the name of the active backend and, for the kernel, its instruction set."""
    module = backend()
    return "reference (NumPy)" if module.__name__ == REFERENCE else f"compiled ({module.instruction_set()})"


def row_keys(table: Table) -> KeyArray:
    """Return a 64-bit hash of each sample, the same for equal samples in every table and session.

    A missing value hashes alike whether its column is known to be categorical or not.
    """
    values = np.ascontiguousarray(table.values)
    keys = np.empty(len(values), dtype=np.uint64)
    backend().row_keys(values, row_factors(values.shape[1]), keys)
    if len(keys) == 1:
        return _with_categories(keys, table)
    for column, categories in table.categories.items():
        known = np.array([category is not None for category in categories], dtype=bool)
        codes = {category: _code(column, category) for category in {*categories[known]}}
        own = np.array([codes[category] for category in categories[known]], dtype=np.uint64)
        keys[known] = mixed(keys[known] ^ own)
    return keys


def _with_categories(keys: KeyArray, table: Table) -> KeyArray:
    """Add the categories of a single sample to its hash, in plain integers, which cost less than arrays."""
    for column, (category,) in table.categories.items():
        if category is not None:
            keys[0] = mixed_number(keys.item(0) ^ _code(column, category))
    return keys


@lru_cache(maxsize=4096)
def _code(column: int, category: str | bool | float) -> int:
    if category in (0, 1):  # equal categories have the same key: True, 1 and 1.0 are one
        category = bool(category)
    elif isinstance(category, float) and category.is_integer():
        category = int(category)
    return mixed_number(crc32(f"{column} {category!r}".encode()))


@cache
def row_factors(n_columns: int) -> KeyArray:
    """Return an odd multiplier for each column, used to hash rows."""
    return keys_of_numbers(np.arange(n_columns), 1) | np.uint64(1)


def show_versions() -> None:
    """Print the versions of sslart, its kernel, Python, and its dependencies.

    Examples
    --------
    >>> import sslart
    >>> sslart.show_versions()  # doctest: +ELLIPSIS
    sslart: ...
    kernel: ...
    """
    print(f"sslart: {version('sslart')}")
    print(f"kernel: {describe()}")
    print(f"python: {platform.python_version()} on {platform.system()} {platform.machine()}")
    for package in ("numpy", "scipy", "scikit-learn"):
        print(f"{package}: {version(package)}")


EPSILON = float(np.finfo(np.float64).eps)


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the matrix product of stacks of shapes (..., m, k) and (..., k, n) with equal leading axes."""
    (left, is_left_turned), (right, is_right_turned) = _as_stack(a), _as_stack(b)
    out = np.empty((len(left), a.shape[-2], b.shape[-1]))
    backend().multiply(left, right, out, is_left_turned, is_right_turned, stop_flag())
    return out.reshape(*a.shape[:-1], b.shape[-1])


def gram_matrix(matrix: FloatArray) -> FloatArray:
    """Return AA' of a matrix A."""
    values, is_turned = _as_stack(matrix)
    out = np.empty((len(matrix), len(matrix)))
    backend().gram(values[0], out, is_turned, stop_flag())
    return out


class Cholesky:
    """Cholesky factors L of a stack of positive definite matrices (LL' = A), with solves and inverses.

    Squared diagonal entries of L are at least `floors`, of shape (..., n). If A is a positive semidefinite matrix plus
    `floors` on its diagonal, this only corrects rounding. None: the diagonal of A times the machine epsilon. With
    `overwrite`, the input may be overwritten.
    """

    def __init__(self, matrices: FloatArray, floors: FloatArray | None = None, *, overwrite: bool = False) -> None:
        n = matrices.shape[-1]
        if floors is None:
            floors = EPSILON * np.abs(np.diagonal(matrices, axis1=-2, axis2=-1))
        given = np.asarray(matrices, dtype=np.float64)
        stack = np.ascontiguousarray(given).reshape(-1, n, n)
        if not overwrite and np.shares_memory(stack, given):
            stack = stack.copy()
        backend().factorise(stack, np.ascontiguousarray(floors, dtype=np.float64).reshape(-1, n), stop_flag())
        self._stack, self._shape = stack, matrices.shape

    @property
    def lower(self) -> FloatArray:
        """L, with zeros above the diagonal."""
        return self._stack.reshape(self._shape)

    def solve(self, right_sides: FloatArray) -> FloatArray:
        """Return A⁻¹B of arrays of shape (..., n, n_columns)."""
        stack = np.array(right_sides, dtype=np.float64, order="C").reshape(len(self._stack), *right_sides.shape[-2:])
        backend().solve(self._stack, stack, stop_flag())
        return stack.reshape(right_sides.shape)

    @cached_property
    def inverse(self) -> FloatArray:
        """A⁻¹."""
        out = np.empty(self._stack.shape)
        backend().invert(self._stack, out, stop_flag())
        return out.reshape(self._shape)

    def inverse_diagonal(self) -> FloatArray:
        """Return the diagonal of A⁻¹, shape (..., n)."""
        out = np.empty(self._stack.shape[:2])
        backend().inverse_diagonals(self._stack, out, stop_flag())
        return out.reshape(self._shape[:-1])


def _as_stack(matrix: FloatArray) -> tuple[FloatArray, bool]:
    """Return matrices as a contiguous stack, and True if each is stored transposed."""
    matrix = np.asarray(matrix, dtype=np.float64)
    turned = matrix.swapaxes(-1, -2)
    is_turned = turned.flags.c_contiguous and not matrix.flags.c_contiguous
    rows = turned if is_turned else np.ascontiguousarray(matrix)
    return rows.reshape(math.prod(rows.shape[:-2]), *rows.shape[-2:]), is_turned
