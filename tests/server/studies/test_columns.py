"""Interpretation of columns, also in tables that no model can be fitted to."""

from __future__ import annotations

from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from studied import odd_table, put, read, two_classes


@pytest.fixture(scope="module")
def odd(client: httpx.Client) -> dict[str, dict[str, Any]]:
    """Return the columns of a table with all that tables should not have, by name."""
    put(client, "odd", odd_table(), label="state")
    return {one["name"]: one for one in read(client, "odd/columns")["columns"]}


def topics(column: dict[str, Any]) -> set[str]:
    return {one["topic"] for one in column["warnings"]}


def test_roles_and_kinds(odd: dict[str, dict[str, Any]]) -> None:
    found = {name: (one["role"], one["kind"]) for name, one in odd.items()}
    assert found == {
        "dose": ("feature", "number"),
        "age": ("feature", "number"),
        "state": ("label", "category"),
        "site": ("feature", "number"),
        "empty": ("feature", "text"),
        "patient_id": ("left out", "number"),
        "seen": ("feature", "date"),
        "kind": ("feature", "category"),
        "twice": ("feature", "number"),
        "remark": ("left out", "text"),
    }


def test_warnings(odd: dict[str, dict[str, Any]]) -> None:
    assert topics(odd["site"]) == {"constant"}
    assert topics(odd["empty"]) == {"empty"}
    assert topics(odd["patient_id"]) == {"id"}
    assert topics(odd["twice"]) == {"copy"}
    assert topics(odd["remark"]) == {"text"}
    assert topics(odd["dose"]) == topics(odd["kind"]) == set()


def test_figures_are_those_of_pandas(odd: dict[str, dict[str, Any]]) -> None:
    frame = odd_table()
    dose = odd["dose"]
    assert dose["low"] == frame["dose"].min()
    assert dose["high"] == frame["dose"].max()
    assert dose["mean"] == pytest.approx(frame["dose"].mean())
    heights, edges = np.histogram(frame["dose"], bins=20)
    assert dose["histogram"] == heights.tolist()
    assert dose["edges"] == pytest.approx(edges.tolist())
    assert odd["age"]["missing"] == frame["age"].isna().sum()
    assert odd["empty"]["missing"] == len(frame)
    counts = frame["kind"].value_counts()
    assert {one["value"]: one["n"] for one in odd["kind"]["top"]} == counts.to_dict()
    assert (odd["seen"]["low"], odd["seen"]["high"]) == ("2024-01-01", "2024-04-29")


def test_a_table_that_cannot_be_fitted_is_described_all_the_same(client: httpx.Client) -> None:
    frame = two_classes()
    frame["price"] = [f"{place},5 EUR" for place in range(len(frame))]
    assert put(client, "dear", frame, label="state")["state"] == "failed"
    price = next(one for one in read(client, "dear/columns")["columns"] if one["name"] == "price")
    assert topics(price) == {"problem"}
    assert "unit" in price["warnings"][0]["text"]
    assert "--" not in price["warnings"][0]["text"]  # an option of the command line


def test_a_leak_is_found(client: httpx.Client) -> None:
    frame = two_classes()
    frame["treated"] = frame["state"].map({"ill": "yes", "well": "no"})
    put(client, "leaky", frame, label="state")
    columns = {one["name"]: one for one in read(client, "leaky/columns")["columns"]}
    assert topics(columns["treated"]) == {"leak"}


def test_settings_give_roles(client: httpx.Client) -> None:
    frame = two_classes().assign(who=np.arange(120) // 4, name=[f"n{place}" for place in range(120)])
    put(client, "named", frame, label="state", group="who", id="name", ignore="age")
    roles = {one["name"]: one["role"] for one in read(client, "named/columns")["columns"]}
    assert roles == {"dose": "feature", "age": "ignored", "state": "label", "who": "group", "name": "id"}


def test_a_model_without_rows(client: httpx.Client) -> None:
    client.post("/v1/models", json={"name": "bare"})
    found = read(client, "bare/columns")
    assert (found["rows"], found["columns"]) == (0, [])


def test_very_large_numbers_have_a_histogram(client: httpx.Client) -> None:
    frame = two_classes(40)
    frame["huge"] = np.repeat([-1e307, 1e307], 20) * np.linspace(0.5, 1, 40)
    put(client, "huge", frame, label="state")
    huge = next(one for one in read(client, "huge/columns")["columns"] if one["name"] == "huge")
    assert sum(huge["histogram"]) == 40


def test_rows_that_were_sent_count(client: httpx.Client) -> None:
    put(client, "sent", two_classes(30), label="state")
    client.post("/v1/models/sent/learn", json={"rows": [{"dose": 99.5, "age": 1}]}, params={"wait": 10})
    found = read(client, "sent/columns")
    assert found["rows"] == 31
    assert next(one for one in found["columns"] if one["name"] == "dose")["high"] == 99.5


def test_labels_given_later_are_no_column(client: httpx.Client) -> None:
    put(client, "blank", pd.DataFrame({"x": np.arange(30.0) ** 2, "y": np.arange(30.0) % 7}))
    client.post("/v1/models/blank/labels", json={"labels": [{"row": 0, "label": "a"}]}, params={"wait": 10})
    assert [one["name"] for one in read(client, "blank/columns")["columns"]] == ["x", "y"]


def test_text_is_used_where_the_settings_say_so(client: httpx.Client) -> None:
    job = put(client, "told", odd_table(), label="state", use="remark")
    assert job["state"] == "done", job
    roles = {one["name"]: one["role"] for one in read(client, "told/columns")["columns"]}
    assert (roles["remark"], roles["patient_id"]) == ("feature", "left out")
    assert "remark" in read(client, "told")["features"]
