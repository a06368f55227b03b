"""A random table of any length as Parquet files, each determined by the seed and its number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

N_FEATURES = 10
N_CLASSES = 5
N_CLUSTERS = 30
WIDTHS = 0.15, 0.3
HELD_OUT = 20_000
FEATURES = [f"sensor {number}" for number in range(N_FEATURES)]
LABEL = "state"
_HELD_OUT_PART = -1


@dataclass(frozen=True)
class Table:
    """A table in files: their places and contents.

    Attributes
    ----------
    folder : Path
        `rows/part-*.parquet` has the features and the label, null where it is not known; `classes/part-*.parquet` has
        the true class of each row; `held_out.parquet` has rows that no model learns, with their class.
    n_rows, rows_per_part : int
    n_labels : int
        How many rows have a label, in the mean over seeds.
    seed : int
    """

    folder: Path
    n_rows: int
    rows_per_part: int
    n_labels: int
    seed: int = 0

    @property
    def sizes(self) -> list[int]:
        """Rows of each part."""
        whole, rest = divmod(self.n_rows, self.rows_per_part)
        return [self.rows_per_part] * whole + [rest] * (rest > 0)

    def first(self, n_parts: int) -> Table:
        """Return the first parts of this table, which are written already, as a table."""
        return replace(self, n_rows=sum(self.sizes[:n_parts]))

    @property
    def parts(self) -> list[Path]:
        return [self.folder / "rows" / f"part-{number:05d}.parquet" for number in range(len(self.sizes))]

    @property
    def classes(self) -> list[Path]:
        return [self.folder / "classes" / path.name for path in self.parts]

    @property
    def bytes_in_memory(self) -> int:
        """Bytes of the features alone."""
        return self.n_rows * N_FEATURES * np.dtype(np.float32).itemsize

    def clusters(self) -> tuple[np.ndarray, np.ndarray]:
        """Return centre and standard deviation of each cluster; its number modulo that of classes is its class."""
        random = np.random.default_rng(self.seed)
        return random.random((N_CLUSTERS, N_FEATURES)), random.uniform(*WIDTHS, N_CLUSTERS)

    def draw(self, part: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows of a part, their classes, and which of them have a label.

        Classes are mixtures of normal distributions whose centres are uniform in the cube.
        """
        centres, widths = self.clusters()
        random = np.random.default_rng([self.seed + 1, part + 1])
        clusters = random.integers(0, len(centres), size)
        X = random.standard_normal((size, N_FEATURES), np.float32)
        X *= widths[clusters, None].astype(np.float32)
        X += centres[clusters].astype(np.float32)
        return X, clusters % N_CLASSES, random.random(size) < self.n_labels / self.n_rows

    def write(self) -> None:
        """Write all parts and the rows held out."""
        for path in (self.folder / "rows", self.folder / "classes"):
            path.mkdir(parents=True, exist_ok=True)
        for part, (size, path, true) in enumerate(zip(self.sizes, self.parts, self.classes, strict=True)):
            X, y, has_label = self.draw(part, size)
            labels = pa.array(names_of(y), mask=~has_label)
            pq.write_table(_frame(X).append_column(LABEL, labels), path, use_dictionary=[LABEL])
            pq.write_table(pa.table({LABEL: names_of(y)}), true)
        X, y, _ = self.draw(_HELD_OUT_PART, HELD_OUT)
        pq.write_table(_frame(X).append_column(LABEL, pa.array(names_of(y))), self.folder / "held_out.parquet")

    def best_accuracy(self) -> float:
        """Return the accuracy on the rows held out of a model that knows all centres and widths."""
        rows, y = self.held_out()
        X = rows.to_numpy()
        centres, widths = self.clusters()
        squares = (X**2).sum(axis=1)[:, None] - 2 * X @ centres.T + (centres**2).sum(axis=1)
        densities = np.exp(-squares / (2 * widths**2)) / widths**N_FEATURES
        of_class = densities.reshape(len(X), -1, N_CLASSES).sum(axis=1)
        return float(np.mean(names_of(of_class.argmax(axis=1)) == y))

    def held_out(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Return the rows that no model learns, and their classes."""
        found = pq.read_table(self.folder / "held_out.parquet").to_pandas()
        return found[FEATURES], found[LABEL].to_numpy(object)


def names_of(classes: np.ndarray) -> np.ndarray:
    """Return the names of classes."""
    return np.array([f"state {number}" for number in range(N_CLASSES)], object)[classes]


def _frame(X: np.ndarray) -> pa.Table:
    return pa.table({name: np.ascontiguousarray(X[:, column]) for column, name in enumerate(FEATURES)})
