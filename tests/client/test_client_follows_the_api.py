"""Every method of the client sends what /openapi.json describes, and its results are those that are described."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from typing import Any, get_args

import httpx
import pytest

from sslart.client import Accepted, Client, Job, Prediction, State, _operations
from sslart.server.api._app import described
from sslart.server.api._endpoint import BODIES

NOT_IN_THE_CLIENT = {  # what load balancers, Prometheus, the studio and clients of another protocol ask
    *("live", "metrics", "list_examples", "use_example", "remove_property"),
    *("server_metadata", "server_live", "server_ready", "model_ready", "infer"),
    *("version_ready", "version_metadata", "version_infer"),
}
ROW = {"petal_length": 1.4}
ARGUMENTS: dict[str, Any] = {
    "name": "flowers",
    "X": [ROW],
    "row": ROW,
    "table": b"petal_length,species\n1.4,setosa\n",
    "labels": {1: "setosa"},
    "sequence": 1,
    "feature": "petal_length",
    "quantity": "class",
    "box": 1,
    "key": "key",
    "value": 1,
    "conditions": [{"feature": "petal_length", "above": 1.0}],
}
OWN: dict[str, dict[str, Any]] = {
    "row": {"row": 1},
    "labels": {"row": 1},
    "set_parameters": {"abstain_below": 0.5},
    "fit": {"label": "species", "ignore": ["a"], "wait": 1},
    "values": {"quantity": "feature"},
    "search": {"conditions": ..., "limit": 5, "text": "a"},
    "counterfactual": {"target": "setosa", "fixed": ["a"], "ranges": {"b": (1, 2)}},
    "learn": {"y": ["setosa"], "ids": ["a"], "wait": 1},
    "decide": {"ids": ["a"], "learn": "none", "explain": True},
    "label": {"by": "me", "refit": True, "together": True, "wait": 1},
    "trial": {"together": True},
    "quality": {"target": None},
    "boxes": {"x": "a", "y": "b"},
    "questions": {"skip": [1]},
}
METHODS = [name for name, _ in inspect.getmembers(Client, inspect.isfunction) if not name.startswith("_")]
ASKING = sorted(set(METHODS) - {"close", "events"})


DESCRIPTION = described()
SCHEMAS = DESCRIPTION["components"]["schemas"]


class NotedError(Exception):
    """Raised in place of sending a request."""


def sent_by(method: str) -> httpx.Request:
    """Return the request that a method sends first."""
    client, requests = Client(), list[httpx.Request]()

    async def send(content: Any, **options: Any) -> httpx.Response:
        options.pop("timeout")
        requests.append(
            httpx.Request(options.pop("method"), f"{client.url}{options.pop('url')}", content=content, **options)
        )
        raise NotedError

    client._connection.transport.send = send  # type: ignore[method-assign]
    parameters = inspect.signature(getattr(client, method)).parameters
    own = OWN.get(method, {})
    given = {
        name: ARGUMENTS[name] for name, one in parameters.items() if one.default is one.empty and name in ARGUMENTS
    }
    given = {name: value for name, value in {**given, **own}.items() if value is not ...}
    with pytest.raises(NotedError):
        getattr(client, method)(**given)
    return requests[0]


def operation_of(request: httpx.Request) -> dict[str, Any]:
    """Return the operation that takes a request; paths without parameters come first."""
    for template in sorted(DESCRIPTION["paths"], key=lambda path: (path.count("{"), path)):
        is_here = re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), request.url.path)
        if is_here and request.method.lower() in DESCRIPTION["paths"][template]:
            return dict(DESCRIPTION["paths"][template][request.method.lower()])
    raise AssertionError(f"{request.method} {request.url.path} is not described")


@pytest.mark.parametrize("method", ASKING)
def test_a_request_is_as_described(method: str) -> None:
    request = sent_by(method)
    operation = operation_of(request)
    parameters = {one["name"]: one for one in operation.get("parameters", ()) if one["in"] == "query"}
    assert set(request.url.params) <= set(parameters)
    assert {name for name, one in parameters.items() if one["required"]} <= set(request.url.params)
    content = operation.get("requestBody", {}).get("content", {})
    if request.headers.get("content-type") == "application/json":
        name = content["application/json"]["schema"].get("$ref", "").rpartition("/")[2]
        if name:
            BODIES[name].model_validate_json(request.content)
    else:
        assert bool(request.content) == bool(content)


def test_every_operation_has_a_method() -> None:
    operations = {one["operationId"] for path in DESCRIPTION["paths"].values() for one in path.values()}
    asked = {operation_of(sent_by(method))["operationId"] for method in ASKING}
    assert operations - asked - NOT_IN_THE_CLIENT == {"events"}
    assert not asked & NOT_IN_THE_CLIENT


@pytest.mark.parametrize(
    ("kind", "schema", "left_out"),
    [
        (Prediction, "Decision", set()),
        (Accepted, "Accepted", {"job"}),
        (Job, "Job", {"id"}),
        (State, "Snapshot", set()),
    ],
)
def test_results_have_the_fields_of_the_answers(kind: type, schema: str, left_out: set[str]) -> None:
    described_fields = {name.replace("class", "class_") for name in SCHEMAS[schema]["properties"]} - left_out
    assert {one.name for one in fields(kind)} == described_fields


@pytest.mark.parametrize(
    ("method", "parameter", "operation", "setting"),
    [
        ("export", "format", "export", "format"),
        ("fit", "estimator", "create_model_from_file", "estimator"),
        ("fit", "learn", "create_model_from_file", "learn"),
    ],
)
def test_choices_are_those_of_the_api(method: str, parameter: str, operation: str, setting: str) -> None:
    every = [one for path in DESCRIPTION["paths"].values() for one in path.values()]
    (found,) = (one for one in every if one["operationId"] == operation)
    (schema,) = (one["schema"] for one in found["parameters"] if one["name"] == setting)
    schema = SCHEMAS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    choices = get_args(
        getattr(_operations, inspect.signature(getattr(Client, method)).parameters[parameter].annotation)
    )
    assert sorted(choices) == sorted(schema["enum"])


@pytest.mark.parametrize("method", ASKING)
def test_a_method_documents_its_parameters_and_its_result(method: str) -> None:
    documentation = inspect.getdoc(getattr(Client, method)) or ""
    signature = inspect.signature(getattr(Client, method))
    for name, one in list(signature.parameters.items())[1:]:
        assert re.search(rf"^\**{name} : .+\n    \S", documentation, re.MULTILINE), name
        assert one.default is one.empty or f"default={one.default!r}" in documentation
    assert ("Returns\n-------" in documentation) == (signature.return_annotation != "None")
