"""The address of the studio opens it once; its files are served with a strict policy, and nothing without a token."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest
from opened import StudioProcess, wait_for
from service import flowers

from sslart.server import serve
from sslart.studio._studio import model_name, pages

STATIC = Path(str(files("sslart.studio"))) / "static"


@pytest.fixture
def http(tmp_path: Path) -> Any:
    with (
        serve(tmp_path, pages=pages("the-code"), needs_token=True) as service,
        httpx.Client(verify=False, base_url=service.url) as client,
    ):
        yield client


def session(http: httpx.Client, code: Any) -> httpx.Response:
    return http.post("/studio/session", json={"code": code})


def test_a_code_is_exchanged_for_a_token_once(http: httpx.Client) -> None:
    assert http.get("/v1/models").status_code == 401
    token = session(http, "the-code").json()["token"]
    assert http.get("/v1/models", headers={"authorization": f"Bearer {token}"}).json() == {"models": []}
    again = session(http, "the-code")
    assert again.status_code == 401
    assert "start sslart studio again" in again.json()["error"]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"code": null}', b'{"other": 1}', b"\xff"])
def test_what_is_no_code_gets_no_token(http: httpx.Client, content: bytes) -> None:
    assert http.post("/studio/session", content=content).status_code in (401, 422)
    assert session(http, "the-code").status_code == 200


def test_codes_cannot_be_guessed(http: httpx.Client) -> None:
    statuses = [session(http, f"guess {n}").status_code for n in range(12)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert session(http, "the-code").status_code == 429


def test_other_sites_can_neither_open_nor_use_it(http: httpx.Client) -> None:
    foreign = {"origin": "http://other.example"}
    assert http.post("/studio/session", json={"code": "the-code"}, headers=foreign).status_code == 403
    assert http.get("/studio/", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert http.get("/studio/", headers={"host": "other.example"}).status_code == 421
    assert session(http, "the-code").status_code == 200


def test_every_file_is_served_with_its_kind_and_a_strict_policy(http: httpx.Client) -> None:
    kinds = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
    paths = [path for path in STATIC.rglob("*") if path.suffix in kinds]
    assert len(paths) > 40
    for path in paths:
        answer = http.get(f"/studio/{path.relative_to(STATIC).as_posix()}")
        assert answer.content == path.read_bytes()
        assert answer.headers["content-type"].startswith(kinds[path.suffix])
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert http.get(answer.url.path, headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    assert http.get("/studio/../__init__.py").status_code in (401, 404)
    assert http.get("/studio/nothing.js").status_code == 404
    assert http.get("/studio/%2e%2e/_pages.py").status_code == 404


def test_files_name_no_other_site_and_hold_no_inline_script() -> None:
    for path in STATIC.rglob("*"):
        if path.suffix not in (".js", ".css", ".html") or "vendor" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), path
        assert "innerHTML" not in text, path
        assert not re.search(r"\beval\(|new Function\(", text), path
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=", page)


def test_vendored_modules_come_with_their_licences() -> None:
    licences = (STATIC / "vendor" / "LICENSES.md").read_text(encoding="utf-8")
    for path in (STATIC / "vendor").glob("*.js"):
        assert path.name in licences
        assert "sourceMappingURL" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "name"), [("my table.csv", "my-table"), ("ä.csv", "table"), ("-x-.xlsx", "x"), ("a.b.parquet", "a.b")]
)
def test_a_table_names_its_model(file: str, name: str) -> None:
    assert model_name(Path(file)) == name


def started(folder: Path) -> StudioProcess:
    """Return the studio as a command starts it with a table."""
    table = folder / "my flowers.csv"
    flowers().to_csv(table, index=False)
    return StudioProcess(folder / "folder", str(table), "--label", "species")


def test_the_command_makes_a_model_of_a_table(tmp_path: Path) -> None:
    process = started(tmp_path)
    assert f"#code={process.code}&model=my-flowers" in process.told
    headers = {"authorization": f"Bearer {process.token()}"}
    with httpx.Client(verify=False, base_url=process.url, headers=headers) as http:
        classes = ["setosa", "versicolor", "virginica"]
        wait_for(lambda: http.get("/v1/models/my-flowers").json().get("classes") == classes)
    process.stop()


@pytest.mark.slow
def test_the_command_goes_on_with_the_model_of_its_table(tmp_path: Path) -> None:
    first, path = started(tmp_path), "/v1/models/my-flowers"
    headers = {"authorization": f"Bearer {first.token()}"}
    with httpx.Client(verify=False, base_url=first.url, headers=headers) as http:
        wait_for(lambda: http.get(path).status_code == 200)
    first.stop()
    second = started(tmp_path)
    with httpx.Client(
        verify=False, base_url=second.url, headers=headers
    ) as http:  # the token of the first start is still good
        wait_for(lambda: http.get(path).status_code == 200)
        assert http.get(path).json()["rows"] == 150
    assert second.process.stdout is not None
    assert "goes on with it" in second.process.stdout.readline()
    second.stop()


@pytest.mark.slow
def test_the_command_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"There is no file .*nothing\.csv: check the name"):
        StudioProcess(tmp_path / "folder", str(tmp_path / "nothing.csv"))
    table = tmp_path / "flowers.csv"
    flowers().to_csv(table, index=False)
    wrong = StudioProcess(tmp_path / "folder", str(table), "--label", "nothing")
    assert wrong.process.stdout is not None
    assert "has no column 'nothing'" in wrong.process.stdout.readline()
    wrong.stop()
