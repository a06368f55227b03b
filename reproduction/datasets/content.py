"""Digest of parsed data, independent of the file format, and checks against the catalogue."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from reproduction.datasets.files import Place
from reproduction.datasets.source import Source

# what readers raise for a file that is not what its name implies; no permission or no such file is another matter
UNREADABLE = (ValueError, KeyError, EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError, zipfile.BadZipFile)
_ROWS = 4096


def digest(data: Any, target: Any) -> str:
    r"""Return the SHA-256 of a parsed data set.

    Hashed are, one after the other: the shape as ``b"n_samples n_features\n"``; the numbers, row by row, as
    little-endian float64 with one NaN and one zero (or, for a frame, column by column: numbers like that, everything
    else as UTF-8 with ``\n`` between values); the targets as UTF-8 with ``\n`` between them.

    Examples
    --------
    >>> from reproduction.datasets.content import digest
    >>> digest([[1, float("nan")]], ["a"])[:16] == digest([[1.0, float("-nan")]], ["a"])[:16]
    True
    """
    sha = hashlib.sha256()
    if hasattr(data, "columns"):
        sha.update(f"{len(data)} {len(data.columns)}\n".encode())
        for name in data.columns:
            column = data[name].to_numpy()
            if column.dtype.kind in "biuf":
                sha.update(_bytes(column))
            else:
                sha.update("\n".join(map(str, column)).encode())
    else:
        table = np.asarray(data)
        sha.update(f"{len(table)} {table.shape[1]}\n".encode())
        for start in range(0, len(table), _ROWS):
            sha.update(_bytes(table[start : start + _ROWS]))
    sha.update("\n".join(map(str, target)).encode())
    return sha.hexdigest()


def _bytes(numbers: Any) -> bytes:
    values = numbers.astype("<f8") + 0.0  # one zero
    values[np.isnan(values)] = np.nan  # one NaN
    return bytes(values.tobytes())


def check_content(source: Source, data: Any, target: Any, place: Place) -> None:
    """Raise a ValueError if what was parsed is not what the catalogue has."""
    if source.content is None or digest(data, target) == source.content:
        return
    if place.found_in == "scikit-learn":
        raise ValueError(
            f"The data set {source.name!r} that this scikit-learn ships is not the one that sslart knows. "
            "Use load functions of sklearn.datasets to have it nevertheless."
        )
    raise ValueError(damaged(source, place, "its content is not what it should be"))


def check_counts(source: Source, data: Any, target: Any, place: Place) -> None:
    """Raise a ValueError if the numbers of samples, features and classes are not those of the catalogue."""
    found = (*data.shape, len(set(target.tolist())))
    wanted = (source.n_samples, source.n_features, source.n_classes)
    if found != wanted or not set(target.tolist()) <= set(source.classes):
        raise ValueError(
            damaged(source, place, f"it has {found} samples, features and classes where {wanted} are expected")
        )


def damaged(source: Source, place: Place, why: str) -> str:
    """Return a message with what is wrong with the files, and the remedy."""
    return (
        f"Data set {source.name!r} at {place} is damaged or another version: {why}. Delete it and fetch it anew: "
        f"python -m reproduction data fetch {source.name}"
    )


@contextmanager
def reading(source: Source, place: Place) -> Iterator[None]:
    """Raise a ValueError with the remedies where the files of a data set cannot be read."""
    try:
        yield
    except UNREADABLE as error:
        raise ValueError(damaged(source, place, str(error))) from error
