"""Models of the user: read from their file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sslart import load
from sslart.estimators._classifier import AbstainingClassifier


def read_model(path: str) -> Any:
    """Return the fitted classifier in a file, or raise an error that says the cure."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {path}: check the name, or make a model with sslart fit.")
    model = load(path)
    if not isinstance(model, AbstainingClassifier):
        raise ValueError(f"{path} holds a {type(model).__name__}, which names no class: make a model with sslart fit.")
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"{path} holds a model that has learnt nothing yet: make one with sslart fit.")
    return model
