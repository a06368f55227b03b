"""The binary matrices that NORB comes in: little-endian, with a magic number for the type of the values."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.datasets.catalogue import source_of
from reproduction.datasets.files import DataNotFoundError
from reproduction.datasets.read import open_bytes

CAMERAS: dict[str, tuple[str, ...]] = {"both": ("left", "right"), "left": ("left",), "right": ("right",)}

_TYPES: dict[int, np.dtype[Any]] = {0x1E3D4C55: np.dtype("u1"), 0x1E3D4C54: np.dtype("<i4")}
_SIDE = 96
_BLOCK = 256  # pairs of images read at a time


def files_in(folder: Path) -> tuple[Path, ...]:
    """Return the owners' files: images and classes for training, then both for testing."""
    found = []
    for part in ("training-dat", "training-cat", "testing-dat", "testing-cat"):
        matches = sorted([*folder.glob(f"smallnorb-*-{part}.mat"), *folder.glob(f"smallnorb-*-{part}.mat.gz")])
        if not matches:
            raise DataNotFoundError(
                f"There is no smallnorb-*-{part}.mat, zipped or not, in {folder}. Put the owners' files there; or "
                f"{source_of('norb_small').ask}."
            )
        found.append(matches[0])
    return tuple(found)


def read_norb(dat: Path, cat: Path, side: int, camera: str) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return images shrunk to `side` × `side` by averaging, one row per pair, and their classes."""
    with open_bytes(cat) as file:
        dtype, shape = _header(file, cat)
        classes = np.frombuffer(file.read(), dtype=dtype).astype(np.int32)
    if len(shape) != 1 or len(classes) != shape[0] or not np.isin(classes, range(5)).all():
        raise ValueError(f"{cat.name} does not hold {shape[0]} classes of 0 to 4")
    with open_bytes(dat) as file:
        dtype, shape = _header(file, dat)
        if dtype != np.uint8 or shape != (len(classes), 2, _SIDE, _SIDE):
            raise ValueError(f"{dat.name} has the shape {shape} where {(len(classes), 2, _SIDE, _SIDE)} is expected")
        data = np.empty((len(classes), len(CAMERAS[camera]) * side * side))
        for start in range(0, len(data), _BLOCK):
            rows = slice(start, min(start + _BLOCK, len(data)))
            data[rows] = _shrink(_pairs(file, rows.stop - rows.start, dat), side, camera)
    return data, classes


def _header(file: io.BufferedIOBase, path: Path) -> tuple[np.dtype[Any], tuple[int, ...]]:
    magic, n_axes = (int(value) for value in np.frombuffer(_exactly(file, 8, path), dtype="<u4"))
    if magic not in _TYPES or not 1 <= n_axes <= 4:
        raise ValueError(f"{path.name} does not begin like a matrix of bytes or integers")
    # at least three sizes are written, however many axes there are
    sizes = np.frombuffer(_exactly(file, 4 * max(3, n_axes), path), dtype="<i4")
    return _TYPES[magic], tuple(sizes[:n_axes].tolist())


def _pairs(file: io.BufferedIOBase, count: int, path: Path) -> NDArray[np.uint8]:
    values = np.frombuffer(_exactly(file, count * 2 * _SIDE * _SIDE, path), dtype=np.uint8)
    return values.reshape(count, 2, _SIDE, _SIDE)


def _exactly(file: io.BufferedIOBase, size: int, path: Path) -> bytes:
    piece = file.read(size)
    if len(piece) != size:
        raise ValueError(f"{path.name} ends early")
    return piece


def _shrink(pairs: NDArray[np.uint8], side: int, camera: str) -> NDArray[np.float64]:
    chosen = pairs[:, [("left", "right").index(which) for which in CAMERAS[camera]]]
    step = _SIDE // side
    squares = chosen.reshape(len(pairs), chosen.shape[1], side, step, side, step)
    return np.asarray(squares.mean(axis=(3, 5)).reshape(len(pairs), -1))
