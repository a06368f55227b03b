"""Images of digits and of toys, one row of grey values per image."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.datasets.bunch import to_bunch
from reproduction.datasets.catalogue import source_of
from reproduction.datasets.content import check_content, check_counts, damaged, reading
from reproduction.datasets.files import Place, obtain
from reproduction.datasets.loaders.norb import CAMERAS, files_in, read_norb
from reproduction.datasets.read import open_bytes, read_cells, read_text, to_numbers
from reproduction.datasets.source import Source
from sslart._utils.validation import check_option

_Images = tuple[NDArray[Any], NDArray[Any]]


def _finish(source: Source, place: Place, parts: list[_Images], as_frame: bool, return_X_y: bool) -> Any:
    """Join the owner's training and test part; `subset` has the part of each sample."""
    data = np.concatenate([images for images, _ in parts])
    target = np.concatenate([labels for _, labels in parts]).astype(int).astype(str)
    check_counts(source, data, target, place)
    check_content(source, data, target, place)
    subset = np.repeat(["train", "test"], [len(labels) for _, labels in parts])
    return to_bunch(
        source,
        data.astype(np.float64, copy=False),
        target,
        _pixels(source.n_features),
        place,
        as_frame=as_frame,
        return_X_y=return_X_y,
        extra={"subset": subset},
    )


def _pixels(n_features: int) -> list[str]:
    side = round(n_features**0.5)
    return [f"pixel_{row}_{column}" for row in range(side) for column in range(side)]


def load_optdigits(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the optical digits: 5620 images of 8 × 8 counts, 10 classes.

    `subset` is "train" or "test" for each sample: the owners' parts, written by different people.
    """
    source = source_of("optdigits")
    place = obtain(source)
    with reading(source, place):
        parts = [_label_last(path) for path in place.files]
    return _finish(source, place, parts, as_frame, return_X_y)


def _label_last(path: Path) -> _Images:
    table = to_numbers(read_cells(read_text(path)), 65)
    return table[:, :-1], table[:, -1]


def load_usps(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load the digits of the US Postal Service: 9298 images of 16 × 16 grey values in [-1, 1], 10 classes.

    `subset` is "train" or "test" for each sample.
    """
    source = source_of("usps")
    place = obtain(source)
    with reading(source, place):
        parts = (
            _read_thousandths(place.files[0]) if len(place.files) == 1 else [_label_first(path) for path in place.files]
        )
    return _finish(source, place, parts, as_frame, return_X_y)


def _label_first(path: Path) -> _Images:
    table = to_numbers(read_cells(read_text(path)), 257)
    return table[:, 1:], table[:, 0]


def _read_thousandths(path: Path) -> list[_Images]:
    with np.load(path, allow_pickle=False) as file:
        return [(file[f"X_{part}"] / 1000.0, file[f"y_{part}"]) for part in ("train", "test")]


def load_mnist(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load MNIST: 70000 images of digits, 28 × 28 grey values of 0 to 255, 10 classes; the last 10000 are the test set.

    `subset` is "train" or "test" for each sample.
    """
    source = source_of("mnist")
    place = obtain(source)
    with reading(source, place):
        arrays = [read_idx(path) for path in place.files]
    parts = [
        (images.reshape(len(images), -1), labels) for images, labels in zip(arrays[::2], arrays[1::2], strict=True)
    ]
    return _finish(source, place, parts, as_frame, return_X_y)


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Read an array of bytes in the idx format, zipped or not."""
    with open_bytes(path) as file:
        head = file.read(4)
        if len(head) < 4 or head[:3] != b"\0\0\x08":
            raise ValueError(f"{path.name} is not an idx file of bytes")
        shape = np.frombuffer(file.read(4 * head[3]), dtype=">i4")
        values = np.frombuffer(file.read(), dtype=np.uint8)
    if len(shape) != head[3] or len(values) != np.prod(shape, dtype=np.int64):
        raise ValueError(f"{path.name} ends early or late: {len(values)} bytes for the shape {shape.tolist()}")
    return values.reshape(shape)


def load_norb_small(
    path: str | os.PathLike[str] | None = None,
    *,
    downsample: int = 32,
    camera: str = "both",
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load NORB small: 48600 pairs of images of 50 toys, 5 classes.

    Parameters
    ----------
    path : path, default=None
        A folder with the owners' files, ``smallnorb-*-{training,testing}-{dat,cat}.mat``, zipped or not.
    downsample : int, default=32
        Side of the images in pixels, a divisor of 96: squares of pixels are averaged. 96 leaves them as they are, and
        takes 7 GB.
    camera : {"both", "left", "right"}, default="both"
        Whose images to give; with "both", the left one comes first in each row.

    `subset` is "train" or "test" for each sample; they show different toys.
    """
    check_option("load_norb_small", "camera", camera, tuple(CAMERAS))
    if not isinstance(downsample, int) or downsample < 1 or 96 % downsample:
        raise ValueError(f"downsample of load_norb_small must be a divisor of 96, got {downsample!r}.")
    source = source_of("norb_small")
    place = obtain(source) if path is None else Place(files_in(Path(path)), "path")
    paths = place.files
    with reading(source, place):
        parts = [read_norb(dat, cat, downsample, camera) for dat, cat in zip(paths[::2], paths[1::2], strict=True)]
    data = np.concatenate([images for images, _ in parts])
    target = np.array(source.classes)[np.concatenate([labels for _, labels in parts])]
    if len(data) != source.n_samples:
        raise ValueError(damaged(source, place, f"it has {len(data)} samples where {source.n_samples} are expected"))
    names = [f"{side}_{pixel}" for side in CAMERAS[camera] for pixel in _pixels(downsample**2)]
    subset = np.repeat(["train", "test"], [len(labels) for _, labels in parts])
    return to_bunch(
        source, data, target, names, place, as_frame=as_frame, return_X_y=return_X_y, extra={"subset": subset}
    )
