"""Tensors of the Open Inference Protocol: as JSON, or as bytes behind the JSON."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart.server.api._schemas.tensors import InferRequest, InputTensor

DTYPES: dict[str, str] = {
    "BOOL": "|b1",
    "UINT8": "|u1",
    "UINT16": "<u2",
    "UINT32": "<u4",
    "UINT64": "<u8",
    "INT8": "|i1",
    "INT16": "<i2",
    "INT32": "<i4",
    "INT64": "<i8",
    "FP16": "<f2",
    "FP32": "<f4",
    "FP64": "<f8",
}
BYTES = "BYTES"
_NAMES = {code: name for name, code in DTYPES.items()}


def read_inputs(request: InferRequest, binary: bytes) -> dict[str, NDArray[Any]]:
    """Return the tensors of a request by name; those without data are the bytes behind the JSON, one after another."""
    found: dict[str, NDArray[Any]] = {}
    rest = memoryview(binary)
    for tensor in request.inputs:
        if tensor.name in found:
            raise ValueError(f"Input {tensor.name!r} comes twice.")
        size = tensor.parameters.get("binary_data_size")
        if tensor.data is None:
            if type(size) is not int or not 0 <= size <= len(rest):
                raise ValueError(f"Input {tensor.name!r} has no data, nor a binary_data_size that fits the body.")
            found[tensor.name] = _from_bytes(tensor, rest[:size])
            rest = rest[size:]
        else:
            found[tensor.name] = _from_json(tensor)
    if rest:
        raise ValueError(f"{len(rest)} bytes of the body belong to no input.")
    return found


def _from_json(tensor: InputTensor) -> NDArray[Any]:
    data: Any = tensor.data
    if data and all(isinstance(one, list) for one in data):
        data = [value for row in data for value in row]
    kinds = set(map(type, data))
    if kinds & {list, dict}:
        raise ValueError(f"Input {tensor.name!r} is nested more than two levels deep, or unevenly.")
    try:
        if tensor.datatype == BYTES:
            values = np.array([None if value is None else _checked_text(value) for value in data], dtype=object)
        elif str in kinds:
            raise ValueError("text where numbers should be")
        elif tensor.datatype.startswith("FP"):
            values = np.array(data, dtype=np.float64)
        else:
            values = _whole_numbers(data, tensor.datatype, has_missing=type(None) in kinds)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"Input {tensor.name!r} is not {tensor.datatype}: {error}.") from error
    return _shaped(tensor, values)


def _whole_numbers(data: list[Any], datatype: str, *, has_missing: bool) -> NDArray[Any]:
    """Return integers or booleans, each as it was given; with missing ones among them, as floating-point numbers."""
    given = [value for value in data if value is not None] if has_missing else data
    values = np.array(given, dtype=DTYPES[datatype])
    if values.tolist() != given:
        raise ValueError("a value would not stay the same")
    return np.array(data, dtype=np.float64) if has_missing else values


def _checked_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def _from_bytes(tensor: InputTensor, content: memoryview) -> NDArray[Any]:
    if tensor.datatype == BYTES:
        texts, place = list[str](), 0
        while place + 4 <= len(content):
            (length,) = struct.unpack_from("<I", content, place)
            try:
                texts.append(str(content[place + 4 : place + 4 + length], "utf-8"))
            except UnicodeDecodeError as error:
                raise ValueError(f"Input {tensor.name!r} has text that is not UTF-8.") from error
            place += 4 + length
        if place != len(content):
            raise ValueError(f"Input {tensor.name!r} breaks off before its end.")
        return _shaped(tensor, np.array(texts, dtype=object))
    dtype = np.dtype(DTYPES[tensor.datatype])
    if len(content) % dtype.itemsize:
        raise ValueError(f"Input {tensor.name!r} has {len(content)} bytes, which are no whole values.")
    return _shaped(tensor, np.frombuffer(content, dtype))


def _shaped(tensor: InputTensor, values: NDArray[Any]) -> NDArray[Any]:
    if values.size != int(np.prod(tensor.shape)):
        raise ValueError(f"Input {tensor.name!r} has {values.size} values, and the shape {tensor.shape}.")
    return values.reshape(tensor.shape)


def datatype_of(values: NDArray[Any]) -> str:
    """Return the datatype of an array."""
    return BYTES if values.dtype.kind in "OU" else _NAMES[values.dtype.str]


def as_bytes(values: NDArray[Any]) -> bytes:
    """Return an array as bytes: texts each behind its length."""
    if values.dtype.kind not in "OU":
        return np.ascontiguousarray(values).tobytes()
    texts = [str(value).encode() for value in values.reshape(-1).tolist()]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)
