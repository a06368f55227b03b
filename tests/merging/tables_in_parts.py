"""Tables in parts whose ranges, categories and classes differ, and what a merged model holds of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import sslart
from sslart._utils.arrays import BoolArray

STEP = 2.0**-32
ROUNDED = 64 * STEP  # what rounding outward adds to a side, several times over


def parts_of(seed: int, sizes: list[int], *, columns: str = "mixed") -> list[tuple[Any, Any]]:
    """Return samples and labels in parts: each with a range, categories and classes of its own, and gaps.

    Parameters
    ----------
    columns : {"mixed", "numbers"}
        Frames with a categorical column and one that is constant in each part, or plain arrays.
    """
    parts = []
    for number, size in enumerate(sizes):
        random = np.random.default_rng((seed, number))
        start, width = random.integers(-3, 4), random.choice([0.5, 1.0, 3.0])
        X = np.round(start + width * random.random((size, 3)), 2)
        X[random.random(X.shape) < 0.1] = np.nan
        X[:, 0] = np.where(np.isnan(X).all(axis=1), float(start), X[:, 0])
        y = random.integers(0, 3, size) + random.integers(0, 2)
        y = np.where(random.random(size) < 0.5, y.astype(object), None)
        y[0] = 1
        if columns == "numbers":
            parts.append((X, y))
            continue
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        names = random.choice(["red", "blue", "green", "grey"], 2)
        frame["colour"] = pd.Series(random.choice([*names, None], size), dtype="category")
        frame["site"] = float(random.integers(0, 2))
        parts.append((frame, y))
    return parts


def fitted(model: Any, parts: list[tuple[Any, Any]]) -> list[Any]:
    """Return a copy of a model for each part, fitted to it."""
    models = []
    for X, y in parts:
        if isinstance(model, sslart.FuzzyART):
            models.append(clone(model).fit(X))
        else:
            known = np.array([not isinstance(model, sslart.FuzzyARTMAP) or label not in (None, -1) for label in y])
            models.append(clone(model).fit(X[known], y[known]))
    return models


def file_of(model: Any) -> bytes:
    """Return the bytes that a model is saved as."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        sslart.save(model, path)
        return path.read_bytes()


def excess(model: Any) -> float:
    """Return by how much the largest box of a model exceeds what its vigilance allows; 0 or less: by nothing."""
    worst = -np.inf
    for member in model.__sslart_view__().members:
        lower, upper = member.network.nodes.boxes()
        reached = lower <= upper
        extents = np.where(reached, upper - lower, 0.0).sum(axis=1)
        vigilance = min(model.vigilance, member.network.nodes.vigilance)
        allowed = (1.0 - vigilance) * reached.sum(axis=1) + ROUNDED * lower.shape[1]
        worst = max(worst, float((extents - allowed).max()))
    return worst


def are_covered(model: Any, X: Any, slack: float = ROUNDED) -> BoolArray:
    """Return True for each sample that lies in a box of every member, in all the features that it has."""
    view = model.__sslart_view__()
    covered = np.ones(len(X), dtype=bool)
    for member in view.members:
        lower, upper = member.network.nodes.boxes()
        coded = member.encode(view.read(X))
        missing = np.isnan(coded)[:, None]
        inside = missing | ((coded[:, None] >= lower - slack) & (coded[:, None] <= upper + slack) & (lower <= upper))
        covered &= inside.all(axis=2).any(axis=1)
    return covered
