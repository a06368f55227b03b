"""Schemas of requests and responses of the Open Inference Protocol."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
    inputs: Annotated[list[InputTensor], Field(min_length=1, max_length=100_000, fail_fast=True)]
    outputs: Annotated[list[WantedOutput], Field(max_length=100)] | None = None


class OutputTensor(BaseModel):
    """A tensor of an answer; without data where it is among the bytes behind the JSON."""

    model_config = ConfigDict(extra="forbid")

    name: str
    datatype: Datatype
    shape: list[int]
    parameters: dict[str, Any] = {}
    data: list[bool | int | float | str] = []


class InferAnswer(BaseModel):
    """An answer of the Open Inference Protocol."""

    model_config = ConfigDict(extra="forbid")

    model_name: str
    model_version: str
    id: str | None = Field(default=None, description="that of the request")
    outputs: list[OutputTensor]


class TensorMetadata(BaseModel):
    """The name, type and shape of a tensor; -1 stands for any number of samples."""

    model_config = ConfigDict(extra="forbid")

    name: str
    datatype: Datatype
    shape: list[int]


class ModelMetadata(BaseModel):
    """The inputs and outputs of a model."""

    model_config = ConfigDict(extra="forbid")

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]


class ServerMetadata(BaseModel):
    """Name, version, and extensions of a server."""

    model_config = ConfigDict(extra="forbid")

    name: str
    version: str
    extensions: list[str]


class ServerReady(BaseModel):
    """Readiness of a server."""

    model_config = ConfigDict(extra="forbid")

    ready: bool


class ModelReady(ServerReady):
    """Readiness of a model."""

    name: str
