"""Measured requests: a path, and bodies sent in turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from serve.data import Table

JSON = {"Content-Type": "application/json"}
N_BODIES = {1: 500, 100: 20}  # different ones, by the rows in each
LABELLED = 50  # of so many rows to learn, one has a label


@dataclass(frozen=True)
class Call:
    """Requests of one kind.

    Attributes
    ----------
    path : str
    bodies : list of bytes
    n_rows : int
        How many rows each body has.
    headers : dict
    """

    path: str
    bodies: list[bytes]
    n_rows: int
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))


def _places(table: Table, n_rows: int) -> Iterator[list[int]]:
    n_fresh = len(table.fresh)
    for start in range(N_BODIES.get(n_rows, 100)):
        yield [(start * n_rows + step) % n_fresh for step in range(n_rows)]


def rows_call(table: Table, path: str, n_rows: int) -> Call:
    """Return rows to predict or to decide about."""
    bodies = [json.dumps({"rows": table.rows(places)}).encode() for places in _places(table, n_rows)]
    return Call(f"/v1/models/{table.name}/{path}", bodies, n_rows)


def learn_call(table: Table, n_rows: int) -> Call:
    """Return rows to learn, few of them with a label."""
    bodies = []
    for number, places in enumerate(_places(table, n_rows)):
        known = [(number * n_rows + step) % LABELLED == 0 for step in range(n_rows)]
        labels = [table.classes[place] if is_known else None for place, is_known in zip(places, known, strict=True)]
        bodies.append(json.dumps({"rows": table.rows(places), "labels": labels}).encode())
    return Call(f"/v1/models/{table.name}/learn", bodies, n_rows)


def infer_call(table: Table, n_rows: int, outputs: Sequence[str] = ()) -> Call:
    """Return tensors of the Open Inference Protocol as JSON; all outputs are wanted unless some are named."""
    bodies = [
        json.dumps({"inputs": [_tensor(table, places, data=True)], **_wanted(outputs)}).encode()
        for places in _places(table, n_rows)
    ]
    return Call(f"/v2/models/{table.name}/infer", bodies, n_rows)


def binary_call(table: Table, n_rows: int) -> Call:
    """Return tensors as bytes behind the JSON, in requests and answers."""
    bodies, length = [], 0
    for places in _places(table, n_rows):
        tensor = _tensor(table, places, data=False)
        content = table.fresh[places].astype("<f8").tobytes()
        tensor["parameters"] = {"binary_data_size": len(content)}
        head = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
        length = len(head)  # of all bodies alike
        bodies.append(head + content)
    headers = {"Content-Type": "application/octet-stream", "Inference-Header-Content-Length": str(length)}
    return Call(f"/v2/models/{table.name}/infer", bodies, n_rows, headers)


def _tensor(table: Table, places: list[int], *, data: bool) -> dict[str, Any]:
    values = table.fresh[places]
    tensor: dict[str, Any] = {"name": "input", "shape": list(values.shape), "datatype": "FP64"}
    return {**tensor, "data": values.reshape(-1).tolist()} if data else tensor


def _wanted(outputs: Sequence[str]) -> dict[str, Any]:
    return {"outputs": [{"name": name} for name in outputs]} if outputs else {}


def arrays_call(table: Table, n_rows: int) -> Call:
    """Return rows as lists of numbers, as our service for BentoML takes them."""
    bodies = [
        json.dumps({"model": table.name, "rows": table.fresh[places].tolist()}).encode()
        for places in _places(table, n_rows)
    ]
    return Call("/predict", bodies, n_rows)


CALLS: dict[str, Callable[[Table, int], Call]] = {
    "infer": infer_call,
    "infer, binary": binary_call,
    "predict": lambda table, n_rows: rows_call(table, "predict", n_rows),
    "decide": lambda table, n_rows: rows_call(table, "decide", n_rows),
    "learn": learn_call,
}
WRITES = ("decide", "learn")
