"""A user's own table in place of the data sets of an experiment."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from sslart._tables.training_table import ColumnRoles, TrainingTable, read_training_table

MIN_PER_CLASS = 5  # a class needs rows for the test, with a label and without
_MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class OwnTable:
    """A file with a class for each row, read as `sslart fit` reads it; a changed file is another table.

    Attributes
    ----------
    path, label : str
        The file, and its column with the classes.
    ignore, use : tuple of str
        Columns that are left out; columns that are used though they name rows or are free text.
    positive : str or None
        The class that counts as positive where there are two.
    sha256 : str
        Of the file.
    """

    path: str
    label: str
    ignore: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    positive: str | None = None
    sha256: str = ""

    @classmethod
    def of(
        cls, path: Path, label: str, ignore: Sequence[str] = (), use: Sequence[str] = (), positive: str | None = None
    ) -> OwnTable:
        """Return a table that was read and found fit, or raise an error that names the remedy.

        Where no class is named as positive, it is the rarer one of two.
        """
        if not path.is_file():
            raise FileNotFoundError(f"There is no file {path}: --data names a CSV, TSV, Parquet, Arrow or Excel file.")
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        table = _read(str(path.resolve()), label, tuple(ignore), tuple(use), sha256)
        counts = Counter(name for name in table.labels if name is not None)
        if len(counts) < 2:
            raise ValueError(f"Column {label!r} of {path} has one class only: experiments need rows of two or more.")
        few = [f"{name!r} ({count})" for name, count in counts.items() if count < MIN_PER_CLASS]
        if few:
            raise ValueError(
                f"{path} has fewer than {MIN_PER_CLASS} rows of the classes {', '.join(few)}, too few to divide into "
                "labelled, unlabelled and test samples: add rows, join classes, or leave these rows out."
            )
        if positive is not None and (len(counts) > 2 or positive not in counts):
            raise ValueError(
                f"--positive names one of two classes, and {path} has {', '.join(map(repr, sorted(counts)))}: "
                + ("give one of these." if len(counts) == 2 else "leave it out.")
            )
        if positive is None and len(counts) == 2:
            positive = min(sorted(counts), key=lambda name: counts[name])
        return cls(str(path.resolve()), label, tuple(ignore), tuple(use), positive, sha256)

    @property
    def name(self) -> str:
        """The name of the data set in records and tables."""
        return Path(self.path).name

    def load(self) -> Any:
        """Return the rows that have a class: an array where all columns are numbers, else a frame with categories."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # notes on columns were shown by `of`
            table = _read(self.path, self.label, self.ignore, self.use, self.sha256)
        rows = np.flatnonzero([name is not None for name in table.labels])
        data = table.samples.iloc[rows].reset_index(drop=True)
        names = list(data.columns)
        if all(kind.kind in "biuf" for kind in data.dtypes):
            data = data.to_numpy(dtype=np.float64)
        return Bunch(data=data, target=np.array([table.labels[row] for row in rows]), feature_names=names)


@lru_cache(maxsize=1)
def _read(path: str, label: str, ignore: tuple[str, ...], use: tuple[str, ...], _: str) -> TrainingTable:
    return read_training_table(path, ColumnRoles(label, ignore=ignore, use=use), _MOST_ROWS, 0, progress=False)
