"""Selection of the backend: the compiled kernel, or the NumPy reference if the kernel is missing."""

from __future__ import annotations

import functools
import importlib
import os
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from sslart._data.encoder import Encoder
from sslart._utils.arrays import FloatArray

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
    """Use another backend in all threads for a while, so that tests can compare the two."""
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
    """Return a matrix in the user's units as coded values, NaN where missing, and whether any lies beyond the range."""
    scaled = np.ascontiguousarray(encoder.on_scale(matrix))
    coded = np.empty_like(scaled)
    beyond = backend().encode(scaled, *encoder.ends, coded)
    if encoder.ranks is not None:  # a value may lie so little beyond the range that its position does not
        beyond = bool(((matrix < encoder.lower) | (matrix > encoder.upper)).any())
    return coded, beyond


def describe() -> str:
    """Return the name of the active backend and, for the kernel, its instruction set."""
    module = backend()
    return "reference (NumPy)" if module.__name__ == REFERENCE else f"compiled ({module.instruction_set()})"
