"""Samples, labels and tables of the user as requests carry them."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

MAX_ROWS = 1000  # in one request

Row = dict[str, Any]


def rows_of(X: Any) -> list[Row]:
    """Return samples as rows by the names of their columns.

    Parameters
    ----------
    X : list of dicts, pandas or polars DataFrame, or array of shape (n_samples, n_features)
        The columns of an array are called x0, x1 and so on, as the library calls features that have no names.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart.client._rows import rows_of
    >>> rows_of(np.array([[0.5, np.nan]]))
    [{'x0': 0.5, 'x1': None}]
    """
    if hasattr(X, "to_dicts"):
        return _cleaned(X.to_dicts())
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        if len(set(names)) < len(names):
            raise ValueError("The frame has two columns of the same name: rename one.")
        columns = [X.iloc[:, place].tolist() for place in range(len(names))]
        return _cleaned(dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise ValueError(f"The array has {X.ndim} dimensions: give one of shape (n_samples, n_features).")
        return _cleaned({f"x{place}": cell for place, cell in enumerate(cells)} for cells in X.tolist())
    if isinstance(X, Mapping | str | bytes) or not all(isinstance(row, Mapping) for row in X):
        raise TypeError("Samples are a list of dicts, a DataFrame, or an array of shape (n_samples, n_features).")
    return _cleaned(X)


def _cleaned(rows: Iterable[Mapping[Any, Any]]) -> list[Row]:
    found = []
    for number, row in enumerate(rows):
        cells = {str(name): plain(cell) for name, cell in row.items()}
        for name, cell in cells.items():
            if isinstance(cell, float) and math.isinf(cell):
                raise ValueError(
                    f"Row {number} holds infinity in {name!r}: give None where the value is not known, or a finite "
                    "limit where it is very large."
                )
        found.append(cells)
    if not found:
        raise ValueError("There are no rows: give at least one.")
    return found


def plain(value: Any) -> Any:
    """Return a cell or label as a JSON value: None where missing, and text for types that JSON lacks."""
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return value if isinstance(value, str | bool | int) else str(value)


def labels_of(y: Any) -> list[Any]:
    """Return labels as JSON has them, None where a sample has none."""
    return [plain(one) for one in (y.tolist() if hasattr(y, "tolist") else y)]


def batches(*columns: Sequence[Any] | None, size: int = MAX_ROWS) -> Iterator[tuple[Any, ...]]:
    """Yield some rows at a time of lists that belong together; a list that is None stays so."""
    first = columns[0]
    assert first is not None
    for start in range(0, len(first), size):
        yield tuple(None if one is None else one[start : start + size] for one in columns)


def table_content(table: Any) -> bytes | Path:
    """Return the content of a table to upload: bytes and files unchanged, a pandas DataFrame as CSV."""
    if isinstance(table, bytes | bytearray):
        return bytes(table)
    if isinstance(table, str | os.PathLike):
        path = Path(table)
        if not path.is_file():
            raise FileNotFoundError(f"There is no file {path}: check the name.")
        return path
    if hasattr(table, "to_csv"):
        narrow = {name: "float64" for name, kind in table.dtypes.items() if str(kind) in ("float16", "float32")}
        text = io.StringIO()  # of narrow floats, CSV would have fewer digits than their value has
        table.astype(narrow).to_csv(text, index=False)
        return text.getvalue().encode()
    raise TypeError("A table is a pandas DataFrame, the path of a file, or the bytes of one.")
