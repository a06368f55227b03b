"""The Open Inference Protocol, version 2: health, metadata and inference, with tensors as JSON or bytes."""

from __future__ import annotations

import json
import struct
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Header, Path, Request
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from starlette.responses import Response

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import Decisions
from sslart.server.api._admin import Live
from sslart.server.api._endpoint import (
    BINARY,
    JSON,
    LARGE,
    ContextOf,
    ModelOf,
    StudyOf,
    answer,
    endpoint,
    new_router,
    of_kind,
)
from sslart.server.api._errors import ApiError
from sslart.server.api._schemas import listing
from sslart.server.models._published import Published
from sslart.server.models._settings import Closed

HEADER_LENGTH = "inference-header-content-length"
MAX_VALUES = 10_000_000

Datatype = Literal[
    "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BYTES"
]
Shape = Annotated[list[Annotated[int, Field(ge=0, le=MAX_VALUES)]], Field(min_length=1, max_length=2)]


class InputTensor(BaseModel):
    """An input tensor: one feature, or all features in order."""

    name: Annotated[str, Field(max_length=1000)]
    shape: Shape
    datatype: Datatype
    parameters: dict[str, Any] = {}
    data: list[Any] | None = None


class WantedOutput(BaseModel):
    """A requested output."""

    name: Annotated[str, Field(max_length=1000)]
    parameters: dict[str, Any] = {}


class InferRequest(BaseModel):
    """A request of the Open Inference Protocol."""

    id: Annotated[str, Field(max_length=200)] | None = None
    parameters: dict[str, Any] = {}
    inputs: Annotated[list[InputTensor], Field(min_length=1, max_length=100_000, fail_fast=True)]
    outputs: Annotated[list[WantedOutput], Field(max_length=100)] | None = None


class TensorMetadata(Closed):
    """Name, type and shape of a tensor; -1 stands for any number of samples."""

    name: str
    datatype: Datatype
    shape: list[int]


class OutputTensor(TensorMetadata):
    """An output tensor; without data if they are in the binary part of the response."""

    parameters: dict[str, Any] = Field(default={})
    data: list[bool | int | float | str] = Field(default=[])


class InferAnswer(Closed):
    """An answer of the Open Inference Protocol."""

    model_name: str
    model_version: str
    id: str | None = Field(default=None, description="ID of the request")
    outputs: list[OutputTensor]


class ModelMetadata(Closed):
    """The inputs and outputs of a model."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]


ServerMetadata = listing(
    "ServerMetadata", "Name, version, and extensions of a server.", name=str, version=str, extensions=list[str]
)
ServerReady = listing("ServerReady", "Readiness of a server.", ready=bool)
ModelReady = listing("ModelReady", "Readiness of a model.", ServerReady, name=str)


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
    """Return the tensors of a request by name; those without data are in the binary part, in order."""
    found: dict[str, NDArray[Any]] = {}
    rest = memoryview(binary)
    for tensor in request.inputs:
        if tensor.name in found:
            raise ValueError(f"Input {tensor.name!r} occurs twice.")
        size = tensor.parameters.get("binary_data_size")
        if tensor.data is None:
            if type(size) is not int or not 0 <= size <= len(rest):
                raise ValueError(f"Input {tensor.name!r} has neither data nor a binary_data_size that fits the body.")
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
            raise ValueError("text instead of numbers")
        elif tensor.datatype.startswith("FP"):
            values = np.array(data, dtype=np.float64)
        else:
            values = _whole_numbers(data, tensor.datatype, has_missing=type(None) in kinds)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"Input {tensor.name!r} is not {tensor.datatype}: {error}.") from error
    return _shaped(tensor, values)


def _whole_numbers(data: list[Any], datatype: str, *, has_missing: bool) -> NDArray[Any]:
    """Return integers or booleans unchanged, or as floating-point numbers if some are missing."""
    given = [value for value in data if value is not None] if has_missing else data
    values = np.array(given, dtype=DTYPES[datatype])
    if values.tolist() != given:
        raise ValueError("a value is out of range or not a whole number")
    return np.array(data, dtype=np.float64) if has_missing else values


def _checked_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
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
            raise ValueError(f"Input {tensor.name!r} is truncated.")
        return _shaped(tensor, np.array(texts, dtype=object))
    dtype = np.dtype(DTYPES[tensor.datatype])
    if len(content) % dtype.itemsize:
        raise ValueError(
            f"Input {tensor.name!r} has {len(content)} bytes, which is not a multiple of the size of a value."
        )
    return _shaped(tensor, np.frombuffer(content, dtype))


def _shaped(tensor: InputTensor, values: NDArray[Any]) -> NDArray[Any]:
    if values.size != int(np.prod(tensor.shape)):
        raise ValueError(
            f"Input {tensor.name!r} has {values.size} values, which does not match the shape {tensor.shape}."
        )
    return values.reshape(tensor.shape)


def datatype_of(values: NDArray[Any]) -> str:
    """Return the datatype of an array."""
    return BYTES if values.dtype.kind in "OU" else _NAMES[values.dtype.str]


def as_bytes(values: NDArray[Any]) -> bytes:
    """Return an array as bytes; strings are prefixed by their lengths."""
    if values.dtype.kind not in "OU":
        return np.ascontiguousarray(values).tobytes()
    texts = [str(value).encode() for value in values.reshape(-1).tolist()]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)


HeaderLength = Annotated[
    int | None, Header(ge=0, description="with binary tensors: number of bytes of the JSON part of the body")
]

router = new_router("Open Inference Protocol")

_INFERRED = of_kind("Predictions; with binary tensors, the header Inference-Header-Content-Length is set.", BINARY)
_ASKED = {JSON: {"schema": {"$ref": "#/components/schemas/InferRequest"}}, **_INFERRED[200]["content"]}
_INFER: dict[str, Any] = {
    "responses": _INFERRED,
    "openapi_extra": {"requestBody": {"required": True, "content": _ASKED}},
}
_NOT_READY: dict[str, Any] = {"responses": {503: {"model": ServerReady, "description": "Not yet."}}}
_MODEL_NOT_READY: dict[str, Any] = {"responses": {503: {"model": ModelReady, "description": "Not yet."}}}
_VERSION = "/v2/models/{name}/versions/{version}"


async def _version(
    version: Annotated[Literal["1"], Path(description="models have only one version, which keeps learning")],
) -> None:
    """Refuse other versions."""


at_version = partial(endpoint, router, dependencies=[_version])


@endpoint(router, "GET /v2", ServerMetadata)
async def server_metadata() -> Any:
    """Return the name, version, and extensions of the server."""
    return {"name": "sslart", "version": version("sslart"), "extensions": ["binary_tensor_data"]}


@endpoint(router, "GET /v2/health/live", Live, scope=None)
async def server_live() -> Any:
    """Return a constant: the server is alive."""
    return {"live": True}


@endpoint(router, "GET /v2/health/ready", ServerReady, scope=None, **_NOT_READY)
async def server_ready(context: ContextOf) -> Any:
    """Return the readiness of the server: true once all models have replayed their journals."""
    is_ready = context.registry.is_ready
    return answer({"ready": is_ready}, 200 if is_ready else 503)


@endpoint(router, "GET /v2/models/{name}/ready", ModelReady, **_MODEL_NOT_READY)
@at_version(f"GET {_VERSION}/ready", ModelReady, name="version_ready", **_MODEL_NOT_READY)
async def model_ready(model: ModelOf) -> Any:
    """Return the readiness of a model: true if it can predict."""
    is_ready = model.published is not None and bool(model.published.classes)
    return answer({"name": model.name, "ready": is_ready}, 200 if is_ready else 503)


@endpoint(router, "GET /v2/models/{name}", ModelMetadata)
@at_version(f"GET {_VERSION}", ModelMetadata, name="version_metadata")
async def model_metadata(study: StudyOf) -> Any:
    """Return the inputs and outputs of a model."""
    published = study.published
    encoder = published.view.members[0].encoder
    inputs = [
        {"name": name, "datatype": "BYTES" if place in encoder.categorical else "FP64", "shape": [-1]}
        for place, name in enumerate(published.reader.names)
    ]
    none = np.empty(0)
    nobody = Decisions(none.astype(np.intp), np.empty((0, len(published.classes))), none, none.astype(bool))
    outputs = [
        {"name": name, "datatype": datatype_of(values), "shape": [-1, *values.shape[1:]]}
        for name, values in _outputs_of(published, nobody).items()
    ]
    name = study.model.name
    return {"name": name, "versions": ["1"], "platform": "sslart", "inputs": inputs, "outputs": outputs}


@endpoint(router, "POST /v2/models/{name}/infer", InferAnswer, **_INFER)
@at_version(f"POST {_VERSION}/infer", InferAnswer, name="version_infer", **_INFER)
async def infer(
    context: ContextOf, study: StudyOf, request: Request, inference_header_content_length: HeaderLength = None
) -> Any:
    """Predict samples: one tensor per feature, or one with all features in order."""
    body = await request.body()
    length = len(body) if inference_header_content_length is None else inference_header_content_length
    if length > len(body):
        raise ApiError(400, f"The header {HEADER_LENGTH} is {length}, and the body has {len(body)} bytes.")
    published = study.published
    published.check_has_label()

    def read() -> tuple[InferRequest, Table]:
        asked = InferRequest.model_validate_json(body[:length])
        inputs = read_inputs(asked, body[length:])
        return asked, _samples_of(published, inputs, context.registry.limits.max_rows)

    asked, table = read() if len(body) <= LARGE else await context.threads.run(read)
    predicted = await context.threads.run_for(len(table), lambda: published.predict_table(table))
    context.metrics.count(study.model.name, predicted.abstained, predicted.is_novel)
    return _answer(study.model.name, asked, _outputs_of(published, predicted))


def _samples_of(published: Published, inputs: dict[str, NDArray[Any]], most: int) -> Table:
    """Return tensors as model input of at most `most` samples."""
    names = published.reader.names
    if not set(inputs) & set(names):
        if len(inputs) > 1:
            raise ValueError(f"No input has the name of a feature: {', '.join(map(repr, names[:12]))}.")
        values = next(iter(inputs.values()))
        values = values.reshape(1, -1) if values.ndim == 1 and values.size == len(names) else values
        if values.ndim != 2 or values.shape[1] != len(names):
            raise ValueError(f"The model has {len(names)} features, and the input has the shape {list(values.shape)}.")
        _check_length(len(values), most)
        found = published.reader.table_of_numbers(values) if values.dtype.kind != "O" else None
        if found is not None:
            return found
        inputs = {name: values[:, place] for place, name in enumerate(names)}
    lengths = {name: values.shape for name, values in inputs.items()}
    if any(len(shape) == 2 and shape[1] != 1 for shape in lengths.values()):
        raise ValueError("The tensor of a feature has the shape [n] or [n, 1].")
    if len({shape[0] for shape in lengths.values()}) != 1:
        raise ValueError("The tensors have different lengths: give the same number of values for each feature.")
    n_rows = next(iter(lengths.values()))[0]
    _check_length(n_rows, most)
    columns = {name: _cells(values.reshape(-1)) for name, values in inputs.items()}
    return published.reader.table([{name: cells[row] for name, cells in columns.items()} for row in range(n_rows)])


def _check_length(n_samples: int, most: int) -> None:
    if not n_samples:
        raise ValueError("The tensors are empty: give at least one sample.")
    if n_samples > most:
        raise ValueError(f"There are {n_samples} samples, but the limit is {most}: send fewer at once.")


def _cells(values: NDArray[Any]) -> list[Any]:
    cells = values.tolist()
    return [None if isinstance(one, float) and one != one else one for one in cells]


def _outputs_of(published: Published, predicted: Decisions) -> dict[str, NDArray[Any]]:
    """Return predictions as tensors. For abstentions, the class is an empty string, or -1 for integer classes."""
    kind = published.view.classes.dtype.kind
    classes = [None if index == UNLABELLED else published.classes[index] for index in predicted.indices.tolist()]
    if kind == "i":
        labels = np.array([UNLABELLED if one is None else one for one in classes], dtype=np.int64)
    elif kind == "b":
        labels = np.array([bool(one) for one in classes], dtype=bool)
    else:
        labels = np.array(["" if one is None else str(one) for one in classes], dtype=object)
    return {
        "class": labels,
        "probabilities": predicted.proba,
        "abstained": predicted.abstained,
        "novelty": predicted.novelty,
        "novel": predicted.is_novel,
    }


def _answer(name: str, asked: InferRequest, found: dict[str, NDArray[Any]]) -> Response:
    wanted = [(one.name, one.parameters) for one in asked.outputs or ()] or [(name, {}) for name in found]
    by_default = bool(asked.parameters.get("binary_data_output", False))
    outputs, binary = [], list[bytes]()
    for output, parameters in wanted:
        if output not in found:
            raise ValueError(f"There is no output {output!r}; there are {', '.join(found)}.")
        values = found[output]
        described: dict[str, Any] = {"name": output, "datatype": datatype_of(values), "shape": list(values.shape)}
        if parameters.get("binary_data", by_default):
            content = as_bytes(values)
            described["parameters"] = {"binary_data_size": len(content)}
            binary.append(content)
        else:
            described["data"] = values.reshape(-1).tolist()
        outputs.append(described)
    named = {} if asked.id is None else {"id": asked.id}
    values_of_all = {"model_name": name, "model_version": "1", **named, "outputs": outputs}
    if not binary:
        return answer(values_of_all)
    header = json.dumps(values_of_all).encode()
    return Response(header + b"".join(binary), 200, {HEADER_LENGTH: str(len(header))}, BINARY)
