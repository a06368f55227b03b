"""Packages that only `sslart.datasets` needs, imported when they are."""

from __future__ import annotations

import importlib
from typing import Any


def optional(module: str) -> Any:
    """Import a module, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f'This needs {module.split(".")[0]}, which is not installed: pip install "sslart[data]"'
        ) from error
