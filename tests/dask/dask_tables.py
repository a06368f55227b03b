"""Tables of dask, and all that a model has learnt as bytes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

import sslart

N = 240
# evidence mapping with settings that are given, so that a fit takes little time
EVIDENCE: dict[str, Any] = {
    "mapping": "evidence",
    "families": ["box", "linear"],
    "bandwidth": 0.25,
    "ridge": 0.01,
    "rank_weight": 0.5,
    "random_state": 0,
}


def blobs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return samples of three clusters, labels of a quarter of them, and all labels."""
    random = np.random.RandomState(0)
    y = random.permutation(np.repeat([0, 1, 2], N // 3))
    X = random.normal(scale=0.6, size=(N, 3)) + 4 * y[:, None]
    return X, np.where(np.arange(N) % 4 == 0, y, -1), y


def arrays(chunk: int = 60) -> tuple[Any, Any, Any]:
    """Return the blobs as Arrays of dask."""
    return tuple(da.from_array(one, chunks=chunk) for one in blobs())  # type: ignore[return-value]


def frames(n_partitions: int = 4) -> tuple[Any, Any, Any]:
    """Return a table of numbers and categories, labels of a quarter of its rows, and all labels, as frames of dask."""
    X, few, y = blobs()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = pd.Series(np.array(["x", "y", "z"])[y], dtype="category")
    frame["few"] = pd.Series(np.array(["zero", "one", "two", None], dtype=object)[few])
    frame["truth"] = np.array(["zero", "one", "two"], dtype=object)[y]
    table = dd.from_pandas(frame, npartitions=n_partitions)
    return table[["a", "b", "c", "kind"]], table["few"], table["truth"]


def saved(model: Any) -> bytes:
    """Return an ordinary model as the bytes of its file: all that it has learnt, bit for bit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sslart"
        sslart.save(model, path)
        return path.read_bytes()
