"""A random sample of the rows of a file that may be too long for memory: labelled rows first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sslart._tables.cells import labels
from sslart._tables.files import pandas


class Sampled(NamedTuple):
    """The rows that were drawn, in their order, and how many rows there were."""

    frame: Any
    n_rows: int


def sample_rows(pieces: Iterable[Any], label: str | None, most: int, seed: int) -> Sampled:
    """Return at most `most` rows, drawn at random; unlabelled rows only if all labelled ones fit.

    Without a label column all rows are drawn alike.
    """
    random = np.random.default_rng(seed)
    frames: list[Any] = []
    draws: list[Any] = []
    n_rows = 0
    for piece in pieces:
        n_rows += len(piece)
        frames.append(piece)
        later = 0 if label is None else np.array([one is None for one in labels(piece[label])])
        draws.append(random.random(len(piece)) + later)
        if sum(map(len, draws)) > 2 * most:
            frames, draws = _fewer(frames, draws, most)
    if n_rows > most:
        frames, draws = _fewer(frames, draws, most)
    return Sampled(pandas().concat(frames), n_rows)


def _fewer(frames: list[Any], draws: list[Any], most: int) -> tuple[list[Any], list[Any]]:
    drawn = np.concatenate(draws)
    kept = np.sort(np.argsort(drawn, kind="stable")[:most])
    return [pandas().concat(frames).iloc[kept]], [drawn[kept]]
