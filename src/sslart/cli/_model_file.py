"""Models of the user, read from their file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sslart import FuzzyART, load


def read_model(path: str) -> Any:
    """Return the fitted classifier in a file, or raise an error that names the cure."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {path}: check the name, or make a model with sslart fit.")
    model = load(path)
    if isinstance(model, FuzzyART):
        raise ValueError(f"{path} holds a FuzzyART, which predicts no class: make a model with sslart fit.")
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"{path} holds a model that has learnt nothing yet: make one with sslart fit.")
    return model
