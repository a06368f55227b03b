"""The view Take away: every file arrives, and is what it claims to be."""

from __future__ import annotations

import hashlib
import io
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from acting import shown, told
from opened import Opened, studio
from service import fit_flowers, flowers, rows_of

import sslart

FILES = {
    "Model for sslart": "flowers.sslart",
    "Model as ONNX": "flowers.onnx",
    "Report": "flowers-report.html",
    "Model card": "flowers-card.html",
    "Rules as a table": "flowers-rules.csv",
    "Rules as SQL": "flowers-rules.sql",
    "Rules as Python": "flowers_rules.py",
    "Labels as a table": "flowers-labels.csv",
    "Script that rebuilds the model": "flowers-rebuild.zip",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Opened]:
    """Return a studio with the iris data, and a label that a person gave."""
    with studio(tmp_path_factory.mktemp("studio"), browser) as found:
        fit_flowers(found.http)
        body = {"labels": [{"row": 1, "label": "setosa"}], "by": "Anna"}
        found.http.post("/v1/models/flowers/labels", params={"wait": 30}, json=body)
        yield found


@pytest.fixture(scope="module")
def folder(opened: Opened, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every file that the page offers, as the browser has saved it."""
    found = tmp_path_factory.mktemp("files")
    page = opened.page("flowers/take_away")
    shown(page)
    assert page.get_by_role("button", name="Download").count() == len(FILES)
    for title, name in FILES.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Download: {title}", exact=True).click()
        assert download.value.suggested_filename == name
        download.value.save_as(found / name)
        told(page, f"{name} was saved")
    page.close()
    return found


def predicted(opened: Opened) -> list[str]:
    body = {"rows": rows_of(flowers())}
    found = opened.http.post("/v1/models/flowers/predict", json=body).json()["predictions"]
    return [one["class"] for one in found]


def digest(opened: Opened) -> str:
    found: str = opened.http.get("/v1/models/flowers/state").json()["digest"]
    return found


def test_the_model_has_the_digest_of_the_service(opened: Opened, folder: Path, tmp_path: Path) -> None:
    model = sslart.load(folder / "flowers.sslart")
    sslart.save(model, tmp_path / "again.sslart")
    for path in (folder / "flowers.sslart", tmp_path / "again.sslart"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest(opened)
    assert model.predict(flowers().drop(columns="species")).tolist() == predicted(opened)


def test_onnx_predicts_the_same(opened: Opened, folder: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(folder / "flowers.onnx")
    features = flowers().drop(columns="species").to_numpy()
    labels = session.run(["label"], {session.get_inputs()[0].name: features})[0]
    assert labels.tolist() == predicted(opened)


def test_rules_run_as_sql_and_python(opened: Opened, folder: Path) -> None:
    frame = flowers().drop(columns="species")
    sql = (folder / "flowers-rules.sql").read_text(encoding="utf-8")
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("flowers", database, index=False)
        by_sql = [one for (one,) in database.execute(f"SELECT {sql} FROM flowers")]
    space: dict[str, Any] = {}
    exec((folder / "flowers_rules.py").read_text(encoding="utf-8"), space)
    assert [space["predict"](one) for one in frame.to_dict("records")] == by_sql
    rules = opened.http.get("/v1/models/flowers/rules").json()
    agreement = sum(one == other for one, other in zip(by_sql, predicted(opened), strict=True)) / len(by_sql)
    assert agreement > 0.95
    table = pd.read_csv(folder / "flowers-rules.csv")
    assert table["class"].tolist() == [one["label"] for one in rules["rules"]]
    assert table["n_covered"].tolist() == [one["n_covered"] for one in rules["rules"]]


def test_the_labels_are_those_in_force(opened: Opened, folder: Path) -> None:
    found = pd.read_csv(folder / "flowers-labels.csv").set_index("row")
    rows = opened.http.post("/v1/models/flowers/search", json={"limit": 1000}).json()["rows"]
    assert found["species"].to_dict() == {one["row"]: one["label"] for one in rows if one["label"] is not None}
    assert "Anna" in found.loc[1, "labelled by"]


def test_the_script_rebuilds_the_model(opened: Opened, folder: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(io.BytesIO((folder / "flowers-rebuild.zip").read_bytes())).extractall(tmp_path)
    done = subprocess.run([sys.executable, tmp_path / "rebuild.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert digest(opened) in done.stdout


class Loads(HTMLParser):
    """Resources that a page would load from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        links = [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]
        self.found += [one for one in links if not one.startswith(("#", "data:"))]


@pytest.mark.parametrize("name", ["flowers-report.html", "flowers-card.html"])
def test_pages_to_read_load_nothing(opened: Opened, folder: Path, name: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    loads = Loads()
    loads.feed(text)
    assert loads.names[0] == "html"
    assert loads.found == []
    assert "setosa" in text
    page = opened.browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((folder / name).as_uri())
    assert page.locator("h1").first.is_visible()
    assert [one for one in requests if not one.startswith(("file:", "data:"))] == []
    page.close()


@pytest.mark.slow
def test_what_cannot_be_made_says_why(opened: Opened) -> None:
    content = flowers().drop(columns="species").to_csv(index=False).encode()
    opened.http.put("/v1/models/unlabelled", params={"wait": 60}, content=content)
    page = opened.page("unlabelled/take_away")
    shown(page)
    opened.expected = ("status of 409",)
    page.get_by_role("button", name="Download: Rules as SQL").click()
    alert = page.get_by_role("alert")
    alert.wait_for()
    opened.expected = ()
    answer = opened.http.get("/v1/models/unlabelled/export", params={"format": "rules_sql"})
    assert alert.inner_text().strip() == answer.json()["error"]
    page.close()
