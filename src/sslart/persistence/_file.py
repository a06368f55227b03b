r"""The file of a model: arrays and JSON, with a protocol number and a checksum, and nothing executable.

Layout, all numbers little-endian:

====================  =======================================================
8 bytes               ``\x89SSLART\n``
4 bytes               protocol number
8 bytes               length of the header
32 bytes              SHA-256 of all that precedes and follows it
header                JSON: the estimator, its parameters, its state, and the
                      type and shape of each array; spaces up to a multiple of
                      8 bytes
arrays                one after the other, each with zeros up to a multiple of
                      8 bytes
====================  =======================================================

The header has at most `MAX_HEADER` bytes, and the arrays are as long as the rest of the file: reading takes memory in
proportion to the file, whatever it claims. It is read in one pass, and the arrays are views of its bytes. The checksum
finds damage. It does not prove who wrote the file, but loading any file gives either a model that can be or an error.
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

PROTOCOL = 1
MAX_HEADER = 2**28
ALIGNMENT = 8  # of arrays, in bytes

_MAGIC = b"\x89SSLART\n"
_PREFIX = struct.Struct("<8sIQ")
_DIGEST_SIZE = hashlib.sha256().digest_size


def write_file(
    path: Path,
    described: dict[str, Any],
    arrays: list[NDArray[Any]],
    before_replace: Callable[[Path], None] | None = None,
) -> None:
    """Write a header and arrays."""
    write_atomically(path, file_contents(described, arrays), before_replace)


def file_contents(described: dict[str, Any], arrays: list[NDArray[Any]]) -> list[Any]:
    """Return the contents of a file with a header and arrays, as a list of byte chunks."""
    described = {**described, "arrays": [{"dtype": one.dtype.str, "shape": list(one.shape)} for one in arrays]}
    header = json.dumps(described, allow_nan=False).encode()
    header += b" " * (-len(header) % ALIGNMENT)
    if len(header) > MAX_HEADER:
        raise ValueError(
            f"The model has {len(header):,} bytes of names, categories and settings, and a file holds {MAX_HEADER:,}. "
            "Keep fewer labelled samples (max_labels), or leave out columns with very many categories."
        )
    prefix = _PREFIX.pack(_MAGIC, PROTOCOL, len(header))
    contents: list[Any] = [header]
    for array in arrays:
        contents += [array.reshape(-1).view(np.uint8).data, bytes(-array.nbytes % ALIGNMENT)]
    digest = hashlib.sha256(prefix)
    for content in contents:
        digest.update(content)
    return [prefix, digest.digest(), *contents]


def read_header(file: BinaryIO, path: str | os.PathLike[str]) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """Return the header and the bytes of the arrays, both checked; no memory is taken by sizes that the file claims."""
    name = printable(os.fspath(path))
    prefix = file.read(_PREFIX.size)
    if not prefix.startswith(_MAGIC):
        raise ValueError(f"{name} is not a sslart model: its first bytes are wrong. Was it written by sslart.save?")
    digest = file.read(_DIGEST_SIZE)
    truncated = ValueError(f"{name} is damaged: it ends too early. Save the model again, or restore a backup.")
    if len(prefix) < _PREFIX.size or len(digest) < _DIGEST_SIZE:
        raise truncated
    _, protocol, length = _PREFIX.unpack(prefix)
    if protocol != PROTOCOL:
        raise ValueError(
            f"{name} was written by another sslart: it has protocol {protocol}, and sslart {version('sslart')} reads "
            f"protocol {PROTOCOL}. Load it with the sslart that wrote it, or upgrade sslart if that was a newer one."
        )
    if length > MAX_HEADER:
        raise ValueError(
            f"{name} is not a sslart model: its header has {length:,} bytes, that of a model at most {MAX_HEADER:,}."
        )
    if length > _n_bytes_left(file):
        raise truncated
    if length % ALIGNMENT:
        raise ValueError(f"{name} is not a sslart model: the length of its header is no multiple of {ALIGNMENT}.")
    content = np.empty(_n_bytes_left(file), dtype=np.uint8)
    if file.readinto(content.data) != len(content):  # type: ignore[attr-defined]
        raise truncated
    actual = hashlib.sha256(prefix)
    actual.update(content.data)
    if actual.digest() != digest:
        raise ValueError(f"{name} is damaged: its checksum does not fit. Save the model again, or restore a backup.")
    try:
        header = json.loads(content[:length].tobytes(), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{name} is not a sslart model: its header is nested too deep.") from None
    except ValueError as error:
        raise ValueError(f"{name} is not a sslart model: its header is not JSON.") from error
    if not isinstance(header, dict):
        raise ValueError(f"{name} is not a sslart model: its header is not a JSON object.")
    return header, content[length:]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_arrays(content: NDArray[np.uint8], described: list[dict[str, Any]]) -> list[NDArray[Any]]:
    """Return the arrays as views of their bytes, once their sizes are known to add up to these."""
    shapes = [tuple(one["shape"]) for one in described]
    if any(one["dtype"] not in DTYPES for one in described):
        raise ValueError("it has an array of a type that models do not have")
    if any(type(length) is not int or length < 0 for shape in shapes for length in shape):
        raise ValueError("it has an array of impossible shape")
    dtypes = [np.dtype(one["dtype"]) for one in described]
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True)]
    if sum(size + -size % ALIGNMENT for size in sizes) != len(content):
        raise ValueError("the arrays are not as long as the file")
    arrays, start = [], 0
    for shape, dtype, size in zip(shapes, dtypes, sizes, strict=True):
        end = start + size + -size % ALIGNMENT
        if content[start + size : end].any():
            raise ValueError("it has bytes that belong to no array")
        arrays.append(content[start : start + size].view(dtype).reshape(shape))
        start = end
    return arrays


def _n_bytes_left(file: BinaryIO) -> int:
    """Return the number of bytes from the current position to the end of a file."""
    start = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(start)
    return end - start
