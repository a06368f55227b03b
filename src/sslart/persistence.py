r"""Save and load models: one file of arrays and JSON, with a protocol number and a checksum, and nothing executable.

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

The checksum finds damage. It does not prove who wrote the file; but whoever wrote it, a file can only become a model
whose arrays fit together, or an error.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sslart.estimators._auto import AutoSSLART
from sslart.estimators._fuzzy_art import FuzzyART
from sslart.estimators._fuzzy_artmap import FuzzyARTMAP
from sslart.estimators._sslart import SSLART
from sslart.estimators._wesslart import WESSLART

PROTOCOL = 1

_MAGIC = b"\x89SSLART\n"
_PREFIX = struct.Struct("<8sIQ")
_DIGEST_SIZE = hashlib.sha256().digest_size
_CHUNK = 1 << 20
_DTYPES = ("<f8", "<i8", "|u1", "<u4")
_ESTIMATORS = {cls.__name__: cls for cls in (FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART, WESSLART)}

Model = FuzzyART | FuzzyARTMAP | SSLART | AutoSSLART | WESSLART


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to one file, whole or not at all.

    Parameters
    ----------
    model : FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART or WESSLART
        Fitted or not. `FuzzyART.labels_`, which belongs to the samples last learnt, is not saved.
    path : str or path
        An older file there is replaced only when the new one is complete.

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
    if _ESTIMATORS.get(type(model).__name__) is not type(model):
        raise TypeError(f"sslart.save takes {', '.join(_ESTIMATORS)}, got {type(model).__name__}.")
    arrays: list[NDArray[Any]] = []
    described: dict[str, Any] = {
        "estimator": type(model).__name__,
        "parameters": _to_plain(model.get_params(deep=False), arrays),  # type: ignore[no-untyped-call]
        "state": _to_plain(model._get_state(), arrays) if model.__sklearn_is_fitted__() else None,
    }
    described["arrays"] = [{"dtype": array.dtype.str, "shape": list(array.shape)} for array in arrays]
    header = json.dumps(described, allow_nan=False).encode()
    prefix = _PREFIX.pack(_MAGIC, PROTOCOL, len(header))
    contents: list[Any] = [header, *(array.reshape(-1).view(np.uint8).data for array in arrays)]
    digest = hashlib.sha256(prefix)
    for content in contents:
        digest.update(content)
    _write_atomically(Path(path), [prefix, digest.digest(), *contents])


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `save` wrote. Predicting or learning on gives what the saved model would have given.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART or WESSLART

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, or was written by a newer sslart.
    """
    with Path(path).open("rb") as file:
        header = _read_header(file, path)
        try:
            arrays = _read_arrays(file, header["arrays"])
            cls = _ESTIMATORS[header["estimator"]]
            model: Model = cls(**_from_plain(header["parameters"], arrays))
            if header["state"] is not None:
                model._set_state(_from_plain(header["state"], arrays))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(f"{os.fspath(path)} is not a sslart model that makes sense: {error}.") from error
    return model


def _read_header(file: BinaryIO, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header after checking magic, protocol and checksum; nothing is sized by what the file claims."""
    name = os.fspath(path)
    prefix = file.read(_PREFIX.size)
    if not prefix.startswith(_MAGIC):
        raise ValueError(f"{name} is not a sslart model: it does not start as one. Was it written by sslart.save?")
    digest = file.read(_DIGEST_SIZE)
    truncated = ValueError(f"{name} is damaged: it ends too early. Save the model again, or restore a backup.")
    if len(prefix) < _PREFIX.size or len(digest) < _DIGEST_SIZE:
        raise truncated
    _, protocol, length = _PREFIX.unpack(prefix)
    if protocol > PROTOCOL:
        raise ValueError(
            f"{name} has protocol {protocol}, this sslart reads up to {PROTOCOL}: upgrade sslart to read it."
        )
    start = file.tell()
    if length > os.fstat(file.fileno()).st_size - start:
        raise truncated
    actual = hashlib.sha256(prefix)
    while chunk := file.read(_CHUNK):
        actual.update(chunk)
    if actual.digest() != digest:
        raise ValueError(f"{name} is damaged: its checksum does not fit. Save the model again, or restore a backup.")
    file.seek(start)
    try:
        header = json.loads(file.read(length))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not a sslart model: its header is not JSON.") from error
    if not isinstance(header, dict):
        raise ValueError(f"{name} is not a sslart model: its header is not a JSON object.")
    return header


def _read_arrays(file: BinaryIO, described: list[dict[str, Any]]) -> list[NDArray[Any]]:
    """Read the arrays, once their sizes are known to add up to what the file holds."""
    shapes = [tuple(one["shape"]) for one in described]
    if any(one["dtype"] not in _DTYPES for one in described):
        raise ValueError("an array of a type that models do not have")
    if any(not isinstance(length, int) or length < 0 for shape in shapes for length in shape):
        raise ValueError("an array of impossible shape")
    dtypes = [np.dtype(one["dtype"]) for one in described]
    n_bytes = sum(math.prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True))
    if n_bytes != os.fstat(file.fileno()).st_size - file.tell():
        raise ValueError("the arrays are not as long as the file")
    return [
        np.fromfile(file, dtype, math.prod(shape)).reshape(shape) for shape, dtype in zip(shapes, dtypes, strict=True)
    ]


def _to_plain(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return a value as JSON can hold it; arrays go to the list and leave their number."""
    if isinstance(value, dict):
        return {key: _to_plain(one, arrays) for key, one in value.items()}
    if isinstance(value, list):
        return [_to_plain(one, arrays) for one in value]
    if isinstance(value, tuple):
        return {"$tuple": [_to_plain(one, arrays) for one in value]}
    if isinstance(value, np.random.RandomState):
        return {"$random_state": _to_plain(value.get_state(legacy=False), arrays)}
    if hasattr(value, "__array__"):
        return _array_to_plain(np.asarray(value), arrays)
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"sslart.save cannot write a {type(value).__name__}: {value!r}.")


def _array_to_plain(array: NDArray[Any], arrays: list[NDArray[Any]]) -> Any:
    if array.ndim == 0:
        return _to_plain(array.item(), arrays)
    stored = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if stored.dtype.str not in _DTYPES:
        stored = np.ascontiguousarray(array, dtype="<f8")
    arrays.append(stored)
    return {"$array": len(arrays) - 1}


def _from_plain(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return what `_to_plain` was given."""
    if isinstance(value, list):
        return [_from_plain(one, arrays) for one in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$tuple": ones}:
            return tuple(_from_plain(ones, arrays))
        case {"$array": number}:
            return arrays[number]
        case {"$float": text}:
            return float(text)
        case {"$random_state": state}:
            return _random_state(_from_plain(state, arrays))
    return {key: _from_plain(one, arrays) for key, one in value.items()}


def _random_state(state: dict[str, Any]) -> np.random.RandomState:
    key, position = state["state"]["key"], state["state"]["pos"]
    # numpy takes any position and reads beyond the key
    if key.shape != (624,) or key.dtype != np.uint32 or not (type(position) is int and 0 <= position <= 624):
        raise ValueError("the random state of the model is none")
    random_state = np.random.RandomState()
    random_state.set_state(state)
    return random_state


def _write_atomically(path: Path, contents: Iterable[Any]) -> None:
    """Write to a file beside the target, flush it to the disk, and put it in the target's place."""
    target = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for content in contents:
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_mode_of(target))
        Path(name).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _mode_of(path: Path) -> int:
    """Return the permissions of an existing file, or those that a new file gets."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
