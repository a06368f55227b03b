"""One row of a table as a model takes it."""

from __future__ import annotations

from typing import Any

from sslart._tables.columns import samples_for
from sslart._tables.files import read_pieces


def sample_of_row(model: Any, data: str, row: int, encoding: str | None = None) -> Any:
    """Return a row of a table, counted from 1 below the header, with the columns that a model has learnt from."""
    return samples_for(model, frame_of_row(data, row, encoding), data)


def frame_of_row(data: str, row: int, encoding: str | None = None) -> Any:
    """Return a row of a table, counted from 1 below the header, as a frame with all columns."""
    n_rows = 0
    for frame in read_pieces(data, encoding):
        n_rows += len(frame)
        if row <= n_rows:
            return frame.loc[row - 1 : row - 1]
    raise ValueError(f"{data} has {n_rows} rows, so there is no row {row}: give --row from 1 to {n_rows}.")
