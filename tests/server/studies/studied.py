"""Tables for tests of studies, hostile and odd ones too, and a service that has learnt them."""

from __future__ import annotations

from typing import Any

import httpx
import numpy as np
import pandas as pd

ODD_CATEGORIES = ["a, b", 'say "hi"', "o'x", "=1+1", "<b>bold</b>"]


def two_classes(n: int = 120, seed: int = 0, every: int = 1) -> pd.DataFrame:
    """Return samples of two classes that overlap, with a label in every so many rows."""
    random = np.random.default_rng(seed)
    is_ill = random.random(n) < 0.5
    frame = pd.DataFrame({"dose": random.normal(size=n) + 2 * is_ill, "age": random.normal(size=n)})
    frame["state"] = np.where(is_ill, "ill", "well").astype(object)
    frame.loc[np.arange(n) % every != 0, "state"] = None
    return frame


def odd_table() -> pd.DataFrame:
    """Return a table with all that tables should not have."""
    random = np.random.default_rng(3)
    frame = two_classes(every=2)
    n = len(frame)
    frame["site"] = 7
    frame["empty"] = np.nan
    frame["patient_id"] = np.arange(n) + 1000
    frame["seen"] = pd.date_range("2024-01-01", periods=n).strftime("%d/%m/%Y")
    frame["kind"] = random.choice(ODD_CATEGORIES, n)
    frame["twice"] = 3 * frame["dose"] - 1
    frame["remark"] = [f"a long text of many words that says nothing, number {place}" for place in range(n)]
    frame.loc[::10, "age"] = np.nan
    return frame


def put(client: httpx.Client, name: str, frame: pd.DataFrame, **settings: Any) -> dict[str, Any]:
    """Let a service learn a table, and return the job."""
    parameters = {"wait": 60, **settings}
    answer = client.put(f"/v1/models/{name}", params=parameters, content=frame.to_csv(index=False).encode())
    found: dict[str, Any] = answer.json()
    return found


def read(client: httpx.Client, path: str, **parameters: Any) -> dict[str, Any]:
    """Return a good answer about a model."""
    answer = client.get(f"/v1/models/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ask(client: httpx.Client, path: str, body: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    """Return a good answer to a request with a body."""
    answer = client.post(f"/v1/models/{path}", json=body, params=parameters)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
