r"""Save and load models: one file of arrays and JSON, with a protocol number and a checksum, and nothing executable.

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

The header has at most `MAX_HEADER` bytes, and the arrays fill the rest of the file, so reading needs memory in
proportion to the file size, whatever the header claims. The file is read in one pass, and the arrays are views of its
bytes. The checksum detects damage but does not authenticate the author; loading any file gives either a valid model or
an error.
"""

from __future__ import annotations

import hashlib
import io
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
from sslart._utils.validation import check_flag, saved_array, saved_whole
from sslart.estimators import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

__all__ = ["load", "save"]

_ESTIMATORS = {cls.__name__: cls for cls in (FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART, WESSLART)}

Model = FuzzyART | FuzzyARTMAP | SSLART | AutoSSLART | WESSLART


def save(model: Model, path: str | os.PathLike[str], samples: bool = True) -> None:
    """Write a model to one file atomically.

    The file has the fitted weights: a loaded model predicts without fitting, with the same bits.

    Parameters
    ----------
    model : FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART or WESSLART
        Fitted or not. `FuzzyART.labels_`, which belongs to the samples learnt last, is not saved.
    path : str or path
        The file to write. An existing file is replaced atomically.
    samples : bool, default=True
        Whether to save the labelled training samples that evidence mapping stores, in the user's units, for further
        learning. Without them the loaded model predicts, explains and flags novelty with the same bits. Everything that
        needs them raises a ValueError: `partial_fit`, `sslart.merge`, and what shows or weights labelled samples, such
        as queries of active learning. `fit` still fits from scratch.

    Notes
    -----
    A file without samples is not anonymous. It has the boxes, the range of each column (with ``scaling="rank"`` a table
    of its values), and the names of columns, categories and classes. A box of a single sample is that sample: all boxes
    of `support_` 1 can be read as rows, rounded to a grid of 2**32 steps. If that matters, lower the vigilance, so that
    boxes contain several samples. The file has no key or hash of a row, and no drift statistics of a stream. For each
    labelled sample it has the class, the group, and the leave-one-out prediction, which guarantees are based on.

    Examples
    --------
    >>> import tempfile, sslart
    >>> from pathlib import Path
    >>> model = sslart.FuzzyARTMAP().fit([[0], [1]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sslart.save(model, Path(folder) / "model.sslart")
    ...     sslart.load(Path(folder) / "model.sslart").predict([[0.9]])
    array(['yes'], dtype='<U3')
    """
    save_with_notes(model, path, {}, samples=check_flag("sslart.save", "samples", samples))


def save_with_notes(
    model: Model,
    path: str | os.PathLike[str],
    notes: dict[str, Any],
    before_replace: Callable[[Path], None] | None = None,
    *,
    samples: bool = True,
) -> None:
    """Write a model to one file, with additional plain values and arrays that `load` ignores.

    `before_replace` is called with the path of the new file before it replaces the old one, and may raise.
    """
    write_file(Path(path), *_described(model, notes, samples=samples), before_replace)


def model_bytes(model: Model) -> bytes:
    """Return the bytes that `save` writes; equal models have equal bytes."""
    return b"".join(file_contents(*_described(model, {}, samples=True)))


def _described(model: Model, notes: dict[str, Any], *, samples: bool) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Return the header and the arrays of the file of a model."""
    if _ESTIMATORS.get(type(model).__name__) is not type(model):
        cure = " of sslart.dask: save what its to_local() returns" if hasattr(model, "to_local") else ""
        raise TypeError(f"sslart.save takes {', '.join(_ESTIMATORS)}, got {type(model).__name__}{cure}.")
    arrays: list[NDArray[Any]] = []
    described: dict[str, Any] = {
        "estimator": type(model).__name__,
        "parameters": to_plain(model.get_params(deep=False), arrays),
        "state": to_plain(model.__sslart_state__(samples=samples), arrays) if model.__sklearn_is_fitted__() else None,
    }
    if notes:
        described["notes"] = to_plain(notes, arrays)
    return described, arrays


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model written by `save`; it predicts and learns exactly like the saved one.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART or WESSLART

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, has another protocol, or has invalid contents, even with a correct
        checksum: arrays of inconsistent shapes; boxes off the grid, or with the upper corner below the lower one;
        infinite or reversed ranges; numbers of samples that are negative, above 2**53, or lower than those of their
        parts; duplicate classes or classes without samples; members with different columns or classes; weights that
        are not finite, and trees with cycles; a header of more than 2**28 bytes, or nested more than 64 levels deep.

    Notes
    -----
    A loaded model can be saved again. Parameters are validated, as always, when they are used. Nothing is fitted.
    Loading takes memory in proportion to the size of the file, and does not execute its contents. For a file saved
    without samples, methods that need them raise a ValueError.
    """
    return load_with_notes(path)[0]


def load_with_notes(path: str | os.PathLike[str]) -> tuple[Model, dict[str, Any]]:
    """Read a model and the notes that `save_with_notes` wrote with it (an empty dict without notes)."""
    with Path(path).open("rb") as file:
        return _read(file, path)


def model_from_bytes(content: bytes, name: str) -> Model:
    """Load a model from the bytes of `model_bytes` or of a saved file; `name` identifies it in errors."""
    return _read(io.BytesIO(content), name)[0]


def _read(file: BinaryIO, path: str | os.PathLike[str]) -> tuple[Model, dict[str, Any]]:
    header, content = read_header(file, path)
    try:
        reader = PlainReader(read_arrays(content, header["arrays"]))
        cls = _ESTIMATORS[header["estimator"]]
        model: Model = cls(**reader.read(header["parameters"]))
        if header["state"] is not None:
            model.__sslart_restore__(reader.read(header["state"]))
        notes = reader.read(header.get("notes", {}))
        if not isinstance(notes, dict):
            raise ValueError("the notes saved with the model have a wrong type")
        reader.check_all_read()
    except KeyError as error:
        raise ValueError(f"{printable(os.fspath(path))} is not a valid sslart model: it has no {error}.") from error
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(printable(f"{os.fspath(path)} is not a valid sslart model: {error}.")) from error
    return model, notes


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
            f"The model has {len(header):,} bytes of names, categories and settings; the limit is {MAX_HEADER:,}. "
            "Store fewer labelled samples (max_labels), or leave out columns with very many categories."
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
    """Read and validate the header and the bytes of the arrays, without allocating memory by claimed sizes."""
    name = printable(os.fspath(path))
    prefix = file.read(_PREFIX.size)
    if not prefix.startswith(_MAGIC):
        raise ValueError(
            f"{name} is not a sslart model: it does not start with the signature of a file written by sslart.save."
        )
    digest = file.read(_DIGEST_SIZE)
    truncated = ValueError(f"{name} is damaged: it is truncated. Save the model again, or restore a backup.")
    if len(prefix) < _PREFIX.size or len(digest) < _DIGEST_SIZE:
        raise truncated
    _, protocol, length = _PREFIX.unpack(prefix)
    if protocol != PROTOCOL:
        raise ValueError(
            f"{name} was written by another version of sslart: it has protocol {protocol}, but sslart "
            f"{version('sslart')} reads protocol {PROTOCOL}. Use the version that wrote it, or upgrade sslart."
        )
    if length > MAX_HEADER:
        raise ValueError(
            f"{name} is not a sslart model: its header has {length:,} bytes, more than the limit of {MAX_HEADER:,}."
        )
    if length > _n_bytes_left(file):
        raise truncated
    if length % ALIGNMENT:
        raise ValueError(f"{name} is not a sslart model: the length of its header is not a multiple of {ALIGNMENT}.")
    content = np.empty(_n_bytes_left(file), dtype=np.uint8)
    if file.readinto(content.data) != len(content):  # type: ignore[attr-defined]
        raise truncated
    actual = hashlib.sha256(prefix)
    actual.update(content.data)
    if actual.digest() != digest:
        raise ValueError(f"{name} is damaged: its checksum does not match. Save the model again, or restore a backup.")
    try:
        header = json.loads(content[:length].tobytes(), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{name} is not a sslart model: its header is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"{name} is not a sslart model: its header is not JSON.") from error
    if not isinstance(header, dict):
        raise ValueError(f"{name} is not a sslart model: its header is not a JSON object.")
    return header, content[length:]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_arrays(content: NDArray[np.uint8], described: list[dict[str, Any]]) -> list[NDArray[Any]]:
    """Return the arrays as views of the bytes, after validating their sizes."""
    shapes = [tuple(one["shape"]) for one in described]
    if any(one["dtype"] not in DTYPES for one in described):
        raise ValueError("it has an array of a type that models do not have")
    if any(type(length) is not int or length < 0 for shape in shapes for length in shape):
        raise ValueError("it has an array of invalid shape")
    dtypes = [np.dtype(one["dtype"]) for one in described]
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True)]
    if sum(size + -size % ALIGNMENT for size in sizes) != len(content):
        raise ValueError("the sizes of the arrays do not match the file")
    arrays, start = [], 0
    for shape, dtype, size in zip(shapes, dtypes, sizes, strict=True):
        end = start + size + -size % ALIGNMENT
        if content[start + size : end].any():
            raise ValueError("it has bytes outside all arrays")
        arrays.append(content[start : start + size].view(dtype).reshape(shape))
        start = end
    return arrays


def _n_bytes_left(file: BinaryIO) -> int:
    """Return the number of bytes from the current position to the end of a file."""
    start = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(start)
    return end - start


DTYPES = ("<f8", "<i8", "|u1", "<u2", "<u4")
MAX_DEPTH = 64  # of lists in lists

_FLOATS = {repr(value): value for value in (math.nan, math.inf, -math.inf)}


def to_plain(value: Any, arrays: list[NDArray[Any]], depth: int = 0) -> Any:
    """Convert a value for JSON; arrays are appended to the list and replaced by their index."""
    if depth > MAX_DEPTH:
        raise ValueError(f"sslart.save cannot write a value that is nested more than {MAX_DEPTH} levels deep.")

    def inner(one: Any) -> Any:
        return to_plain(one, arrays, depth + 1)

    if isinstance(value, dict):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: inner(one) for key, one in value.items()}
        return {"$dict": [[inner(key), inner(one)] for key, one in value.items()]}
    if isinstance(value, list):
        return [inner(one) for one in value]
    if isinstance(value, tuple):
        return {"$tuple": [inner(one) for one in value]}
    if isinstance(value, np.random.RandomState):
        return {"$random_state": inner(value.get_state(legacy=False))}
    if hasattr(value, "__array__"):
        return _array_to_plain(np.asarray(value), arrays)
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"sslart.save cannot write a {type(value).__name__}: {value!r}.")


def _array_to_plain(array: NDArray[Any], arrays: list[NDArray[Any]]) -> Any:
    if array.ndim == 0:
        return to_plain(array.item(), arrays)
    stored = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if stored.dtype.str not in DTYPES:
        stored = np.ascontiguousarray(array, dtype="<f8")
    arrays.append(stored)
    return {"$array": len(arrays) - 1}


class PlainReader:
    """Reader of the output of `to_plain`; each array is read exactly once.

    Parameters
    ----------
    arrays : list of arrays
    """

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self._left = dict(enumerate(arrays))

    def read(self, value: Any, depth: int = 0) -> Any:
        """Return the value that `to_plain` converted, or raise a ValueError."""
        if depth > MAX_DEPTH:
            raise ValueError(f"it has a value that is nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, list):
            return [self.read(one, depth + 1) for one in value]
        if not isinstance(value, dict):
            return value
        if not any(key.startswith("$") for key in value):
            return {key: self.read(one, depth + 1) for key, one in value.items()}
        match value:
            case {"$tuple": list(ones)} if len(value) == 1:
                return tuple(self.read(ones, depth + 1))
            case {"$dict": list(pairs)} if len(value) == 1:
                return self._dict(self.read(pairs, depth + 1))
            case {"$array": int(number)} if len(value) == 1 and type(number) is int and number in self._left:
                return self._left.pop(number)
            case {"$float": str(text)} if len(value) == 1 and text in _FLOATS:
                return _FLOATS[text]
            case {"$random_state": dict(state)} if len(value) == 1:
                return _random_state(self.read(state, depth + 1))
        raise ValueError(f"it has a value that cannot be read: {value!r:.60}")

    @staticmethod
    def _dict(pairs: list[Any]) -> dict[Any, Any]:
        read = dict(pairs)
        if len(read) < len(pairs):
            raise ValueError("it has a dict with a duplicate key")
        return read

    def check_all_read(self) -> None:
        """Raise a ValueError if an array was not read."""
        if self._left:
            raise ValueError("it has an unused array")


def _random_state(state: dict[str, Any]) -> np.random.RandomState:
    inner = {f"{name} of the random state": value for name, value in state["state"].items()}
    saved_array(inner, "key of the random state", np.uint32, 624)
    saved_whole(inner, "pos of the random state", 0, 624)  # numpy takes any position and reads beyond the key
    saved_whole(state, "has_gauss", 0, 1)
    random_state = np.random.RandomState()
    random_state.set_state(state)
    return random_state
