"""Tensors of the Open Inference Protocol: as JSON, or as bytes behind the JSON."""

from __future__ import annotations

import struct
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

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
MAX_VALUES = 10_000_000

Datatype = Literal[
    "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BYTES"
]
Shape = Annotated[list[Annotated[int, Field(ge=0, le=MAX_VALUES)]], Field(min_length=1, max_length=2)]


class InputTensor(BaseModel):
    """A tensor of a request: a feature, or all features in their order."""

    model_config = ConfigDict(extra="ignore")

    name: Annotated[str, Field(max_length=1000)]
    shape: Shape
    datatype: Datatype
    parameters: dict[str, Any] = {}
    data: list[Any] | None = None


class WantedOutput(BaseModel):
    """An output that is wanted."""

    model_config = ConfigDict(extra="ignore")

    name: Annotated[str, Field(max_length=1000)]
    parameters: dict[str, Any] = {}


class InferRequest(BaseModel):
    """A request of the Open Inference Protocol."""

    model_config = ConfigDict(extra="ignore")

    id: Annotated[str, Field(max_length=200)] | None = None
    parameters: dict[str, Any] = {}
    inputs: Annotated[list[InputTensor], Field(min_length=1, max_length=100_000)]
    outputs: Annotated[list[WantedOutput], Field(max_length=100)] | None = None


def read_inputs(request: InferRequest, binary: bytes) -> dict[str, NDArray[Any]]:
    """Return the tensors of a request by name; those without data are the bytes behind the JSON, one after another."""
    found: dict[str, NDArray[Any]] = {}
    for tensor in request.inputs:
        if tensor.name in found:
            raise ValueError(f"Input {tensor.name!r} comes twice.")
        size = tensor.parameters.get("binary_data_size")
        if tensor.data is None:
            if type(size) is not int or not 0 <= size <= len(binary):
                raise ValueError(f"Input {tensor.name!r} has no data, nor a binary_data_size that fits the body.")
            found[tensor.name] = _from_bytes(tensor, binary[:size])
            binary = binary[size:]
        else:
            found[tensor.name] = _from_json(tensor)
    if binary:
        raise ValueError(f"{len(binary)} bytes of the body belong to no input.")
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


def _from_bytes(tensor: InputTensor, content: bytes) -> NDArray[Any]:
    if tensor.datatype == BYTES:
        texts, place = list[str](), 0
        while place + 4 <= len(content):
            (length,) = struct.unpack_from("<I", content, place)
            try:
                texts.append(content[place + 4 : place + 4 + length].decode())
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
    return (
        BYTES if values.dtype.kind in "OU" else next(name for name, code in DTYPES.items() if code == values.dtype.str)
    )


def as_bytes(values: NDArray[Any]) -> bytes:
    """Return an array as bytes: texts each behind its length."""
    if values.dtype.kind not in "OU":
        return np.ascontiguousarray(values).tobytes()
    texts = [str(value).encode() for value in values.reshape(-1).tolist()]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)
