"""Models of the user, and the rows that they have learnt, read from their file and written to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sslart import FuzzyART
from sslart.cli._learnt_rows import LearntRows
from sslart.persistence._models import load_with_notes, save_with_notes


def read_model(path: str) -> Any:
    """Return the fitted classifier in a file, or raise an error that names the cure."""
    return read_model_and_rows(path)[0]


def read_model_and_rows(path: str) -> tuple[Any, LearntRows]:
    """Return the fitted classifier in a file, and which rows it has learnt."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {path}: check the name, or make a model with sslart fit.")
    model, notes = load_with_notes(path)
    if isinstance(model, FuzzyART):
        raise ValueError(f"{path} holds a FuzzyART, which predicts no class: make a model with sslart fit.")
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"{path} holds a model that has learnt nothing yet: make one with sslart fit.")
    try:
        return model, LearntRows.from_notes(notes)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ValueError(f"{path} is not a valid sslart model: {error}.") from error


def save_model(model: Any, path: str, rows: LearntRows) -> None:
    """Write a model and which rows it has learnt to a file, whole or not at all."""
    save_with_notes(model, path, rows.to_notes())
