"""A fair sample of the rows of a file that may be too long to hold: all its labelled rows first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sslart.cli.input import cells as _cells
from sslart.cli.input.files import pandas


class Kept(NamedTuple):
    """The rows that were kept, in their order, and how many there were."""

    frame: Any
    n_rows: int


def keep(pieces: Iterable[Any], label: str, most: int, seed: int) -> Kept:
    """Return at most so many rows: labelled before unlabelled ones, and of the last that fit in a fair draw."""
    random = np.random.default_rng(seed)
    frames: list[Any] = []
    lots: list[Any] = []
    n_rows = 0
    for piece in pieces:
        n_rows += len(piece)
        frames.append(piece)
        lots.append(random.random(len(piece)) + np.array([one is None for one in _cells.labels(piece[label])]))
        if sum(map(len, lots)) > 2 * most:
            frames, lots = _fewer(frames, lots, most)
    if n_rows > most:
        frames, lots = _fewer(frames, lots, most)
    return Kept(pandas().concat(frames), n_rows)


def _fewer(frames: list[Any], lots: list[Any], most: int) -> tuple[list[Any], list[Any]]:
    drawn = np.concatenate(lots)
    kept = np.sort(np.argsort(drawn, kind="stable")[:most])
    return [pandas().concat(frames).iloc[kept]], [drawn[kept]]
