r"""The file of a model: arrays and JSON, with a protocol number and a checksum, and nothing executable.

Layout, all numbers little-endian:

====================  =======================================================
8 bytes               ``\x89SSLART\n``
4 bytes               protocol number
8 bytes               length of the header
32 bytes              SHA-256 of all that precedes and follows it
header                JSON: the estimator, its parameters, its state, and the
                      type and shape of each array
arrays                one after the other
====================  =======================================================

The header has at most `MAX_HEADER` bytes, and the arrays are as long as the rest of the file: reading takes memory in
proportion to the file, whatever it claims. The checksum finds damage. It does not prove who wrote the file, but loading
any file gives either a model that can be or an error.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sslart._utils.files import write_atomically
from sslart._utils.text import printable
from sslart.persistence._plain import DTYPES

PROTOCOL = 2
MAX_HEADER = 2**28

_MAGIC = b"\x89SSLART\n"
_PREFIX = struct.Struct("<8sIQ")
_DIGEST_SIZE = hashlib.sha256().digest_size
_CHUNK = 1 << 20


def write_file(
    path: Path,
    described: dict[str, Any],
    arrays: list[NDArray[Any]],
    before_replace: Callable[[Path], None] | None = None,
) -> None:
    """Write a header and arrays."""
    write_atomically(path, file_contents(described, arrays), before_replace)


def file_contents(described: dict[str, Any], arrays: list[NDArray[Any]]) -> list[Any]:
    """Return what a file with a header and arrays holds, in pieces of bytes."""
    described = {**described, "arrays": [{"dtype": one.dtype.str, "shape": list(one.shape)} for one in arrays]}
    header = json.dumps(described, allow_nan=False).encode()
    if len(header) > MAX_HEADER:
        raise ValueError(
            f"The model has {len(header):,} bytes of names, categories and settings, and a file holds {MAX_HEADER:,}. "
            "Keep fewer labelled samples (max_labels), or leave out columns with very many categories."
        )
    prefix = _PREFIX.pack(_MAGIC, PROTOCOL, len(header))
    contents: list[Any] = [header, *(array.reshape(-1).view(np.uint8).data for array in arrays)]
    digest = hashlib.sha256(prefix)
    for content in contents:
        digest.update(content)
    return [prefix, digest.digest(), *contents]


def read_header(file: BinaryIO, path: str | os.PathLike[str]) -> tuple[int, dict[str, Any]]:
    """Return the protocol and the header, both checked; no memory is taken by sizes that the file claims."""
    name = printable(os.fspath(path))
    prefix = file.read(_PREFIX.size)
    if not prefix.startswith(_MAGIC):
        raise ValueError(f"{name} is not a sslart model: its first bytes are wrong. Was it written by sslart.save?")
    digest = file.read(_DIGEST_SIZE)
    truncated = ValueError(f"{name} is damaged: it ends too early. Save the model again, or restore a backup.")
    if len(prefix) < _PREFIX.size or len(digest) < _DIGEST_SIZE:
        raise truncated
    _, protocol, length = _PREFIX.unpack(prefix)
    if protocol > PROTOCOL:
        raise ValueError(
            f"{name} was written by a newer sslart: it has protocol {protocol}, and sslart {version('sslart')} reads "
            f"protocols up to {PROTOCOL}. Upgrade sslart to read it."
        )
    if protocol < 1:
        raise ValueError(f"{name} is not a sslart model: there is no protocol {protocol}.")
    if length > MAX_HEADER:
        raise ValueError(
            f"{name} is not a sslart model: its header has {length:,} bytes, that of a model at most {MAX_HEADER:,}."
        )
    start = file.tell()
    if length > _n_bytes_left(file):
        raise truncated
    actual = hashlib.sha256(prefix)
    while chunk := file.read(_CHUNK):
        actual.update(chunk)
    if actual.digest() != digest:
        raise ValueError(f"{name} is damaged: its checksum does not fit. Save the model again, or restore a backup.")
    file.seek(start)
    try:
        header = json.loads(file.read(length), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{name} is not a sslart model: its header is nested too deep.") from None
    except ValueError as error:
        raise ValueError(f"{name} is not a sslart model: its header is not JSON.") from error
    if not isinstance(header, dict):
        raise ValueError(f"{name} is not a sslart model: its header is not a JSON object.")
    return protocol, header


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_arrays(file: BinaryIO, described: list[dict[str, Any]]) -> list[NDArray[Any]]:
    """Read the arrays, once their sizes are known to add up to what the file holds."""
    shapes = [tuple(one["shape"]) for one in described]
    if any(one["dtype"] not in DTYPES for one in described):
        raise ValueError("it has an array of a type that models do not have")
    if any(type(length) is not int or length < 0 for shape in shapes for length in shape):
        raise ValueError("it has an array of impossible shape")
    dtypes = [np.dtype(one["dtype"]) for one in described]
    n_bytes = sum(math.prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True))
    if n_bytes != _n_bytes_left(file):
        raise ValueError("the arrays are not as long as the file")
    arrays = [np.empty(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    for array in arrays:
        file.readinto(array.reshape(-1).view(np.uint8).data)  # type: ignore[attr-defined]
    return arrays


def _n_bytes_left(file: BinaryIO) -> int:
    """Return how many bytes of a file follow."""
    start = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(start)
    return end - start
