"""Exports: rules as code, labels as a table, a script that rebuilds the model, and a model card."""

from __future__ import annotations

import io
import re
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from service import application
from studied import odd_table, put, read, two_classes

from sslart.server.models._settings import Limits


def exported(client: httpx.Client, name: str, format: str) -> httpx.Response:
    answer = client.get(f"/v1/models/{name}/export", params={"format": format})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="{name}')
    return answer


def rebuilt(client: httpx.Client, name: str, folder: Path) -> str:
    """Run the script of a model in a process of its own, and return the digest that it prints."""
    content = exported(client, name, "script").content
    zipfile.ZipFile(io.BytesIO(content)).extractall(folder)
    done = subprocess.run([sys.executable, folder / "rebuild.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


@pytest.fixture(scope="module")
def cats(client: httpx.Client) -> pd.DataFrame:
    """Return a table without dates that the service has learnt as cats."""
    frame = odd_table().drop(columns=["seen", "patient_id", "remark", "empty", "site"])
    put(client, "cats", frame, label="state")
    return frame


@pytest.mark.slow
def test_rules_as_sql_and_python_agree(client: httpx.Client, cats: pd.DataFrame) -> None:
    sql, python = (exported(client, "cats", f"rules_{kind}").text for kind in ("sql", "python"))
    with sqlite3.connect(":memory:") as database:
        cats.to_sql("cats", database, index=False)
        by_sql = [one for (one,) in database.execute(f"SELECT {sql} FROM cats")]
    space: dict[str, Any] = {}
    exec(python, space)
    assert [space["predict"](one) for one in cats.to_dict("records")] == by_sql
    assert set(by_sql) == {"ill", "well"}


@pytest.mark.slow
def test_rules_as_a_table(client: httpx.Client, cats: pd.DataFrame) -> None:
    text = exported(client, "cats", "rules_csv").text
    assert len(pd.read_csv(io.StringIO(text))) == len(read(client, "cats/rules")["rules"])


def test_rules_on_dates_are_sql_on_dates(client: httpx.Client) -> None:
    days = pd.date_range("2024-01-01", periods=100)
    frame = pd.DataFrame({"day": days, "y": np.where(np.arange(100) < 50, "early", "late")})
    put(client, "days", frame, label="y")
    sql = exported(client, "days", "rules_sql").text
    with closing(sqlite3.connect(":memory:")) as database:
        frame.to_sql("days", database, index=False)
        found = [one for (one,) in database.execute(f"SELECT {sql} FROM days")]
    assert np.mean(np.array(found) == frame["y"]) > 0.9


def test_labels_as_a_table_that_can_be_learnt(client: httpx.Client, cats: pd.DataFrame) -> None:
    put(client, "given", cats, label="state")
    labels = [{"row": 1, "label": "=cmd()"}, {"row": 2, "label": None}, {"row": 0, "label": "well"}]
    assert client.post("/v1/models/given/labels", json={"labels": labels}).status_code == 200
    answer = exported(client, "given", "labels_csv")
    found = pd.read_csv(io.StringIO(answer.text)).set_index("row")
    expected = cats["state"].dropna().drop(2).rename("label").to_dict() | {0: "well", 1: "'=cmd()"}
    assert found["state"].to_dict() == expected
    assert "'=1+1" in set(found["kind"])  # no spreadsheet computes it
    assert set(found["labelled by"]) == {"the table", "local"}
    assert found["labelled at"].notna().sum() == 1 + (cats["state"][0] != "well")
    job = client.put(
        "/v1/models/again", params={"label": "state", "ignore": "row", "wait": 60}, content=answer.content
    ).json()
    assert job["outcome"]["labels"]["=cmd()"] == 1


@pytest.mark.slow
def test_the_script_makes_the_same_model_after_all_kinds_of_learning(client: httpx.Client, tmp_path: Path) -> None:
    frame = odd_table().assign(ward=np.arange(120) // 6)
    put(client, "odd", frame, label="state", group="ward", use="remark", category="site")
    cells = {"dose": 1.5, "kind": "new, 'one'", "seen": "3/4/2024", "ward": 5, "age": None}
    labels = [{"row": 1, "label": "ill"}, {"row": 3, "label": "well"}, {"row": 0, "label": None}]
    for path, body in [
        ("labels", {"labels": labels[:1]}),
        ("learn", {"rows": [cells, {**cells, "dose": -2, "ward": 'a"b'}], "labels": ["ill", None]}),
        ("decide", {"rows": [cells], "learn": "all"}),
        ("learn", {"rows": [{**cells, "dose": "nonsense"}]}),
        ("labels", {"labels": labels[1:]}),
    ]:
        client.post(f"/v1/models/odd/{path}", json=body)
    client.patch("/v1/models/odd", json={"parameters": {"abstain_below": 0.6}})
    client.post("/v1/models/odd/labels", json={"labels": [{"row": 5, "label": "ill"}]}, params={"wait": 20})
    digest = rebuilt(client, "odd", tmp_path)
    script = (tmp_path / "rebuild.py").read_text(encoding="utf-8")
    assert "day before the month" in script
    assert digest in script
    assert not re.search(r"sslart\._|from sslart", script)  # the public interface alone


@pytest.mark.slow
def test_the_script_of_a_model_that_began_without_a_table(client: httpx.Client, tmp_path: Path) -> None:
    settings = {"parameters": {"half_life": 50, "random_state": 3}}
    client.post("/v1/models", json={"name": "pump", "settings": settings})
    client.patch("/v1/models/pump", json={"parameters": {"half_life": 40}})
    rows = [{"pressure": float(place % 7), "valve": "open" if place % 3 else "shut"} for place in range(60)]
    labels = [("blocked" if row["pressure"] > 4 else "well") if place % 2 else None for place, row in enumerate(rows)]
    for start in range(0, 60, 20):
        part = slice(start, start + 20)
        client.post("/v1/models/pump/learn", json={"rows": rows[part], "labels": labels[part]}, params={"wait": 20})
    assert rebuilt(client, "pump", tmp_path) == read(client, "pump/state")["digest"]


def test_a_script_that_cannot_make_the_same_model_is_refused(
    client: httpx.Client, cats: pd.DataFrame, tmp_path: Path
) -> None:
    client.put("/v1/models/borrowed", content=client.get("/v1/models/cats/export").content)
    answer = client.get("/v1/models/borrowed/export", params={"format": "script"})
    assert answer.status_code == 409
    assert "file" in answer.json()["error"]
    with application(tmp_path, limits=Limits(keep_rows=5, snapshot_rows=1)) as small:
        put(small, "short", two_classes(30), label="state")
        for place in range(12):
            small.post("/v1/models/short/learn", json={"rows": [{"dose": place, "age": 1}]}, params={"wait": 10})
            small.post("/v1/models/short/snapshot")
        answer = small.get("/v1/models/short/export", params={"format": "script"})
        assert answer.status_code == 409
        assert "Refit the model" in answer.json()["error"]
        small.post("/v1/models/short/refit", params={"wait": 60})
        assert small.get("/v1/models/short/export", params={"format": "script"}).status_code == 200


class Tags(HTMLParser):
    """The tags of a page, and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "style") or name[:2] == "on"]


@pytest.mark.slow
def test_the_card_tells_all_and_loads_nothing(client: httpx.Client) -> None:
    frame = odd_table()
    put(client, "carded", frame, label="state", parameters='{"max_error": 0.3}')
    labels = [{"row": 1, "label": "<script>alert(1)</script>"}]
    client.post("/v1/models/carded/labels", json={"labels": labels}, params={"wait": 20})
    page = exported(client, "carded", "card").text
    tags = Tags()
    tags.feed(page)
    assert "script" not in tags.names
    assert tags.links == []
    assert "url(" not in page
    trust = read(client, "carded/trust")
    for words in (
        f"{100 * trust['accuracy']['value']:.1f}",
        "likely leaks" if "likely leaks" in trust["warnings"] else "columns counted twice",
        "local (1)",
        read(client, "carded/state")["digest"],
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "one value throughout",
        "with 90 % certainty",
    ):
        assert words in page


@pytest.mark.parametrize("labels", [["a"] * 30, ["a", "b", *[None] * 28]])
def test_the_card_of_a_model_with_few_labels(client: httpx.Client, labels: list[Any]) -> None:
    name = f"few{len(set(labels))}"
    put(client, name, two_classes(30).assign(state=labels), label="state")
    assert "not measured" in exported(client, name, "card").text


@pytest.mark.parametrize("format", ["rules_sql", "rules_python", "rules_csv", "card"])
def test_without_a_label_there_is_nothing_to_export(client: httpx.Client, format: str) -> None:
    put(client, "unlabelled", two_classes(30).drop(columns="state"))
    answer = client.get("/v1/models/unlabelled/export", params={"format": format})
    assert answer.status_code == 409
