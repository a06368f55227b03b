"""Which of the twins does the work: the compiled kernel, or the NumPy reference where there is no kernel."""

from __future__ import annotations

import functools
import importlib
import os
import types
import warnings

import sslart._art.reference as _reference

ENVIRONMENT_VARIABLE = "SSLART_KERNEL"
INSTRUCTION_SETS = ("avx512", "avx2", "portable")
NAMES = ("auto", *INSTRUCTION_SETS, "reference")


@functools.cache
def engine() -> types.ModuleType:
    """Return the module that learns and ranks: `sslart._kernel` or `sslart._reference`."""
    wanted = os.environ.get(ENVIRONMENT_VARIABLE, "auto")
    if wanted not in NAMES:
        raise ValueError(f"{ENVIRONMENT_VARIABLE} must be one of {', '.join(NAMES)}, got {wanted!r}.")
    if wanted == "reference":
        return _reference
    try:
        kernel = importlib.import_module("sslart._kernel")
    except ImportError as error:
        cure = (
            "Install a wheel of sslart for this platform, or a C++17 compiler (g++, clang++ or MSVC) and then "
            "`pip install --force-reinstall --no-binary sslart sslart`."
        )
        if wanted in INSTRUCTION_SETS:
            raise ImportError(f"sslart has no compiled kernel here. {cure}") from error
        warnings.warn(
            f"sslart has no compiled kernel here and runs on its NumPy reference: same results, much slower. {cure}",
            RuntimeWarning,
            stacklevel=2,
        )
        return _reference
    if wanted in INSTRUCTION_SETS:
        kernel.use_instruction_set(wanted)
    return kernel


def describe() -> str:
    """Say which engine is in use, and its instruction set."""
    module = engine()
    return "reference (NumPy)" if module is _reference else f"compiled ({module.instruction_set()})"
