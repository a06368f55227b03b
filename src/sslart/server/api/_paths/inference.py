"""The Open Inference Protocol, version 2: health, metadata and inference, with tensors as JSON or bytes."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Header, Path, Request
from numpy.typing import NDArray
from starlette.responses import Response

from sslart import __version__
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import Decisions
from sslart.server.api._access import actor
from sslart.server.api._context import ContextOf, ModelOf
from sslart.server.api._errors import ApiError
from sslart.server.api._json import JSON, LARGE, answer
from sslart.server.api._openapi import problems
from sslart.server.api._schemas.service import Live
from sslart.server.api._schemas.tensors import (
    InferAnswer,
    InferRequest,
    ModelMetadata,
    ModelReady,
    ServerMetadata,
    ServerReady,
)
from sslart.server.api._tensors import as_bytes, datatype_of, read_inputs
from sslart.server.models._published import Published
from sslart.server.models._registry import FEW_ROWS

ALL = "input"  # the name of the tensor that has all features
HEADER_LENGTH = "inference-header-content-length"

Version = Annotated[Literal["1"], Path(description="there is one version of each model, which learns on")]
HeaderLength = Annotated[
    int | None, Header(ge=0, description="with binary tensors: how many bytes of the body are JSON")
]

router = APIRouter(tags=["Open Inference Protocol"])

_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": {"$ref": "#/components/schemas/InferRequest"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

_INFERRED: dict[str, Any] = {
    "description": "What is predicted; with binary tensors, the header Inference-Header-Content-Length is there.",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}
_NOT_READY: dict[int | str, dict[str, Any]] = {503: {"model": ServerReady, "description": "Not yet."}}
_MODEL_NOT_READY: dict[int | str, dict[str, Any]] = {503: {"model": ModelReady, "description": "Not yet."}}


@router.get("/v2", response_model=ServerMetadata)
async def server_metadata(_: Annotated[str, actor("read")]) -> Response:
    """Return the name, version, and extensions of the server."""
    return answer({"name": "sslart", "version": __version__, "extensions": ["binary_tensor_data"]})


@router.get("/v2/health/live", response_model=Live)
async def server_live() -> Response:
    """Return a constant: the server answers."""
    return answer({"live": True})


@router.get("/v2/health/ready", response_model=ServerReady, responses=_NOT_READY)
async def server_ready(context: ContextOf) -> Response:
    """Return the readiness of the server: true once all models have replayed their journals."""
    is_ready = context.hub.is_ready
    return answer({"ready": is_ready}, 200 if is_ready else 503)


@router.get("/v2/models/{name}/ready", response_model=ModelReady, responses=_MODEL_NOT_READY)
async def model_ready(_: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the readiness of a model: true if it can predict."""
    is_ready = model.published is not None and bool(model.published.classes)
    return answer({"name": model.name, "ready": is_ready}, 200 if is_ready else 503)


@router.get("/v2/models/{name}", response_model=ModelMetadata, responses=problems(409))
async def model_metadata(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the inputs and outputs of a model."""
    published: Published = context.hub.published(model)
    encoder = published.view.members[0].encoder
    inputs = [
        {"name": name, "datatype": "BYTES" if place in encoder.categorical else "FP64", "shape": [-1]}
        for place, name in enumerate(published.reader.names)
    ]
    examples = outputs_of(published, no_predictions(published))
    outputs = [
        {"name": name, "datatype": datatype_of(values), "shape": [-1, *values.shape[1:]]}
        for name, values in examples.items()
    ]
    return answer({"name": model.name, "versions": ["1"], "platform": "sslart", "inputs": inputs, "outputs": outputs})


@router.post(
    "/v2/models/{name}/infer",
    response_model=InferAnswer,
    responses={200: _INFERRED, **problems(409)},
    openapi_extra=_BODY,
)
async def infer(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    request: Request,
    inference_header_content_length: HeaderLength = None,
) -> Response:
    """Predict samples: one tensor per feature, or one with all features in their order."""
    body = await request.body()
    length = len(body) if inference_header_content_length is None else inference_header_content_length
    if length > len(body):
        raise ApiError(400, f"The header {HEADER_LENGTH} is {length}, and the body has {len(body)} bytes.")
    published: Published = context.hub.published(model)
    published.check_has_label()

    def read() -> tuple[InferRequest, Table]:
        asked = InferRequest.model_validate_json(body[:length])
        inputs = read_inputs(asked, body[length:])
        return asked, samples_of(published, inputs, context.hub.limits.max_rows)

    asked, table = read() if len(body) <= LARGE else await context.threads.run(read)
    if len(table) <= FEW_ROWS:
        predicted = published.predict_table(table)
    else:
        predicted = await context.threads.run(published.predict_table, table)
    n_abstained, n_novel = int(predicted.abstained.sum()), int(predicted.is_novel.sum())
    context.metrics.count(model.name, len(table), n_abstained, n_novel)
    return _answer(model.name, asked, outputs_of(published, predicted))


@router.get("/v2/models/{name}/versions/{version}/ready", response_model=ModelReady, responses=_MODEL_NOT_READY)
async def version_ready(_: Annotated[str, actor("read")], model: ModelOf, version: Version) -> Response:
    """Return the readiness of a model: true if it can predict."""
    return await model_ready(_, model)


@router.get("/v2/models/{name}/versions/{version}", response_model=ModelMetadata, responses=problems(409))
async def version_metadata(
    context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf, version: Version
) -> Response:
    """Return the inputs and outputs of a model."""
    return await model_metadata(context, _, model)


@router.post(
    "/v2/models/{name}/versions/{version}/infer",
    response_model=InferAnswer,
    responses={200: _INFERRED, **problems(409)},
    openapi_extra=_BODY,
)
async def version_infer(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    request: Request,
    version: Version,
    inference_header_content_length: HeaderLength = None,
) -> Response:
    """Predict samples: one tensor per feature, or one with all features in their order."""
    return await infer(context, _, model, request, inference_header_content_length)


def samples_of(published: Published, inputs: dict[str, NDArray[Any]], most: int) -> Table:
    """Return tensors as samples that the model reads, at most `most`."""
    names = published.reader.names
    if not set(inputs) & set(names):
        if len(inputs) > 1:
            raise ValueError(f"No input is named as a feature of the model: {', '.join(map(repr, names[:12]))}.")
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
        raise ValueError("The tensors have different lengths: give as many values for each feature.")
    n_rows = next(iter(lengths.values()))[0]
    _check_length(n_rows, most)
    columns = {name: _cells(values.reshape(-1)) for name, values in inputs.items()}
    return published.reader.table([{name: cells[row] for name, cells in columns.items()} for row in range(n_rows)])


def _check_length(n_samples: int, most: int) -> None:
    if not n_samples:
        raise ValueError("The tensors are empty: give at least one sample.")
    if n_samples > most:
        raise ValueError(f"There are {n_samples} samples, and {most} is the limit: send fewer at once.")


def _cells(values: NDArray[Any]) -> list[Any]:
    cells = values.tolist()
    return [None if isinstance(one, float) and one != one else one for one in cells]


def outputs_of(published: Published, predicted: Decisions) -> dict[str, NDArray[Any]]:
    """Return predictions as tensors. Where the model abstains, the class is empty text, or -1 of integer classes."""
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


def no_predictions(published: Published) -> Decisions:
    """Return the predictions for no sample, which have the types and shapes of all others."""
    none = np.empty(0)
    return Decisions(none.astype(np.intp), np.empty((0, len(published.classes))), none, none.astype(bool))


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
    return Response(header + b"".join(binary), 200, {HEADER_LENGTH: str(len(header))}, "application/octet-stream")
