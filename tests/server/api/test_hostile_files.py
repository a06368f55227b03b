"""Files that would take all memory, run code, or are no tables are refused in words, and nothing is left of them."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from service import application, fit_flowers, flowers

import sslart
from sslart import AutoSSLART, FuzzyART
from sslart.server.models._settings import Limits

CSV = flowers().to_csv(index=False).encode()
KILOBYTES = 2000  # a file of a model with trees fits


class Uploads:
    """A service with small limits, and what it says to files."""

    def __init__(self, client: httpx.Client, folder: Path) -> None:
        self.client, self.folder = client, folder

    def put(self, content: Any, name: str = "new", **settings: Any) -> httpx.Response:
        return self.client.put(f"/v1/models/{name}", params={"wait": 60, **settings}, content=content)

    def refused(self, content: Any, *words: str, **settings: Any) -> str:
        """Return why a file is refused; no name of a file or folder is in it, and nothing stays."""
        answer = self.put(content, **settings)
        assert answer.status_code == 422, answer.text
        error: str = answer.json()["error"]
        assert all(word in error for word in words), error
        assert str(self.folder) not in error
        assert "tmp" not in error
        assert "Traceback" not in error
        assert not list((self.folder / "uploads").iterdir())
        return error


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Uploads]:
    folder = tmp_path_factory.mktemp("store")
    with application(folder, limits=Limits(max_table=KILOBYTES * 1024, max_table_cells=50_000)) as client:
        fit_flowers(client)
        yield Uploads(client, folder)
        assert [one["name"] for one in client.get("/v1/models").json()["models"]] == ["flowers"]


@pytest.fixture(autouse=True)
def _nothing_stays(uploads: Uploads) -> Iterator[None]:
    yield
    uploads.client.delete("/v1/models/new")


def as_parquet(table: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink, **options)
    return sink.getvalue()


def as_arrow(table: Any, compression: str | None = None, new: Callable[..., Any] = pa.ipc.new_stream) -> bytes:
    sink = io.BytesIO()
    with new(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def as_sheet(**cells: Any) -> bytes:
    book, sink = openpyxl.Workbook(), io.BytesIO()
    for place, value in cells.items():
        book.active[place] = value
    book.save(sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\r\n\n", "is empty"),
        (b"a,b\n", "no rows below its header"),
        (b"a,a\n1,2\n", "more than once"),
        (b"a,b\n1\n", "not an even table"),
        (b"a,\0b\n1,2\n3,\0\n", "zero bytes"),
        (b"\x89PNG\r\n\x1a\n" + b"\xff" * 100, "not text in utf-8"),
        (b"\x1f\x8b" + bytes(50), "damaged gzip"),
        (b"\x1f\x8b\x08", "damaged gzip"),
        (gzip.compress(CSV)[:-30], "truncated"),
        (b"PAR1" + bytes(50) + b"PAR1", "cannot be read as Parquet"),
        (b"ARROW1\0\0" + bytes(50), "cannot be read as Arrow"),
        (b"\xff\xff\xff\xff" + b"\xff" * 50, "cannot be read as Arrow"),
        (b"PK\x03\x04" + bytes(50), "cannot be read as a spreadsheet"),
        (b"\xd0\xcf\x11\xe0" + bytes(50), "old or encrypted spreadsheet"),
        (b"\x89SSLART\n", "damaged"),
        (b"\x89SSLART\n" + bytes(50), "written by another version of sslart"),
    ],
)
def test_what_is_no_table_is_refused(uploads: Uploads, content: bytes, words: str) -> None:
    uploads.refused(content, words)


@pytest.mark.parametrize("encoding", ["nothing", "rot13", "zlib_codec", "base64", "undefined", "\x00", "hex"])
def test_only_encodings_of_text_are_known(uploads: Uploads, encoding: str) -> None:
    uploads.refused(CSV, "There is no encoding", encoding=encoding)


def test_text_in_another_encoding_is_read(uploads: Uploads) -> None:
    content = "größe,art\n1,käfer\n2,käfer\n9,motte\n8,motte\n".encode("cp1252")
    answer = uploads.put(content, label="art")
    assert answer.json()["outcome"]["labels"] == {"käfer": 2, "motte": 2}
    again = uploads.client.delete("/v1/models/new"), uploads.put(content, label="art", encoding="cp1252")
    assert again[1].json()["outcome"]["columns"][0]["name"] == "größe"
    uploads.client.delete("/v1/models/new")
    uploads.refused(content, "not text in utf-8", encoding="utf-8", label="art")


class Harmful:
    """An object that does harm when it is unpickled."""

    done = False

    def __reduce__(self) -> Any:
        return setattr, (Harmful, "done", True)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_never_loaded(uploads: Uploads, protocol: int) -> None:
    harmful = pickle.dumps(Harmful(), protocol)
    for content in (harmful, b"\x89SSLART\n" + harmful, np_file(harmful), gzip.compress(harmful)):
        assert uploads.put(content).status_code in (422, 200)
        uploads.client.delete("/v1/models/new")
    assert not Harmful.done
    pickle.loads(harmful)
    assert Harmful.done  # it would have been
    Harmful.done = False


def np_file(content: bytes) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.array([content], dtype=object), allow_pickle=True)
    return sink.getvalue()


def test_a_file_that_is_too_large_is_refused_by_its_length(uploads: Uploads) -> None:
    answer = uploads.put(b"a,b\n" + b"1,2\n" * (KILOBYTES * 256))
    assert answer.status_code == 413
    assert f"limit of {KILOBYTES * 1024} bytes" in answer.json()["error"]


def test_a_file_that_is_too_large_is_refused_also_without_a_length(uploads: Uploads) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(KILOBYTES + 10):
            yield b"1,2\n" * 256

    assert uploads.put(parts()).status_code == 413


def test_text_that_unpacks_to_too_much_is_refused(uploads: Uploads) -> None:
    content = gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000, 1)
    assert len(content) < KILOBYTES * 1024
    uploads.refused(content, "the limit of 50000")


def test_one_cell_that_unpacks_to_too_much_is_refused(uploads: Uploads) -> None:
    uploads.refused(gzip.compress(b"a,b\n1," + b"2" * 2**23 + b"\n3,4\n", 1), "bytes")


def test_a_header_that_unpacks_to_too_much_is_refused(uploads: Uploads) -> None:
    uploads.refused(gzip.compress(b"a," * 2**21 + b"b\n1,2\n", 1), "header of more than")


def test_too_many_columns_are_refused(uploads: Uploads) -> None:
    header = ",".join(["a"] * 100_001)
    uploads.refused(gzip.compress(f"{header}\n{'1,' * 100_000}1\n".encode()), "100001 columns")


def test_parquet_that_unpacks_to_too_much_is_refused(uploads: Uploads) -> None:
    numbers = as_parquet(pa.table({"a": np.zeros(2**23)}), compression="zstd")
    uploads.refused(numbers, "the limit of 50000")


@pytest.mark.parametrize(
    "column",
    [
        lambda: pa.array([[0.0] * 2**18] * 20),
        lambda: pa.array([bytes(2**20)] * 200),
        lambda: pa.array([{"a": [0] * 2**16}] * 20),
        lambda: pa.array([bytes(2**20)] * 20, pa.binary(2**20)),
    ],
    ids=["lists", "bytes", "records", "fixed"],
)
@pytest.mark.parametrize("written", [as_parquet, as_arrow])
def test_columns_of_other_things_than_cells_are_refused(
    uploads: Uploads, column: Callable[[], Any], written: Callable[..., bytes]
) -> None:
    content = written(pa.table({"long": column()}), compression="zstd")
    assert len(content) < KILOBYTES * 1024
    uploads.refused(content, "")


@pytest.mark.parametrize("new", [pa.ipc.new_stream, pa.ipc.new_file])
def test_arrow_that_unpacks_to_too_much_is_refused(uploads: Uploads, new: Callable[..., Any]) -> None:
    content = as_arrow(pa.table({f"c{number}": np.zeros(2**22) for number in range(10)}), "zstd", new)
    assert len(content) < KILOBYTES * 1024
    uploads.refused(content, "unpacks to more than 64 times its size")


@pytest.mark.parametrize(
    ("compression", "new"), [(None, pa.ipc.new_stream), ("lz4", pa.ipc.new_file), ("zstd", pa.ipc.new_stream)]
)
def test_packed_arrow_is_read(uploads: Uploads, compression: str | None, new: Callable[..., Any]) -> None:
    table = pa.Table.from_pandas(flowers().astype({"species": "category"}), preserve_index=False)
    answer = uploads.put(as_arrow(table, compression, new), label="species")
    assert answer.json()["outcome"]["rows"] == 150


def test_a_cell_in_the_last_row_and_column_takes_no_memory(uploads: Uploads) -> None:
    uploads.refused(as_sheet(A1="a", A2=1, XFD1048576=2), "row 1048576 and column 16384")


def sheet_with(entities: str, cell: str) -> bytes:
    """Return a spreadsheet with XML of our own."""
    sink = io.BytesIO(as_sheet(A1="a", A2=1))
    packed = zipfile.ZipFile(sink)
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as target:
        for one in packed.infolist():
            content = packed.read(one)
            if one.filename.endswith("sheet1.xml"):
                row = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{cell}</t></is></c></row>'
                schema = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
                sheet = f'<worksheet xmlns="{schema}"><sheetData>{row}</sheetData></worksheet>'
                content = f'<?xml version="1.0"?><!DOCTYPE x [{entities}]>{sheet}'.encode()
            target.writestr(one.filename, content)
    return changed.getvalue()


def test_entities_in_a_spreadsheet_do_not_multiply(uploads: Uploads) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    uploads.refused(sheet_with(f'<!ENTITY e0 "0123456789">{levels}', "&e9;"), "cannot be read as a spreadsheet")


def test_a_spreadsheet_reads_no_files(uploads: Uploads, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    error = uploads.refused(sheet_with(f'<!ENTITY e SYSTEM "{secret.as_uri()}">', "&e;"), "spreadsheet")
    assert "the secret" not in error


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "model.sslart"
    frame = flowers(1)
    sslart.save(AutoSSLART(random_state=0).fit(frame.drop(columns="species"), frame["species"]), path)
    return path.read_bytes()


def test_a_model_that_is_no_classifier_is_refused(uploads: Uploads, tmp_path: Path) -> None:
    frame = flowers().drop(columns="species")
    for model, words in ((FuzzyART().fit(frame), "not contain a classifier"), (AutoSSLART(), "not fitted")):
        sslart.save(model, tmp_path / "model.sslart")
        uploads.refused((tmp_path / "model.sslart").read_bytes(), words)


def test_a_model_with_names_that_are_no_text_hides_no_other(uploads: Uploads, tmp_path: Path) -> None:
    frame = flowers(1)
    labels = frame.pop("species").astype(object).replace("setosa", "\ud800")
    sslart.save(AutoSSLART(random_state=0).fit(frame, labels.to_numpy()), tmp_path / "model.sslart")
    assert uploads.put((tmp_path / "model.sslart").read_bytes()).status_code == 201
    models = uploads.client.get("/v1/models").json()["models"]
    assert [one["name"] for one in models] == ["flowers", "new"]
    assert models[1]["classes"] == ["versicolor", "virginica", "\ud800"]
    answer = uploads.client.post("/v1/models/new/decide", json={"rows": [frame.iloc[0].to_dict()]})
    assert answer.status_code in (200, 422)


SLOWLY = settings(
    max_examples=12,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@SLOWLY
@given(place=st.floats(0, 1), new=st.binary(min_size=1, max_size=8), cut=st.booleans())
def test_a_damaged_model_file_never_breaks_the_service(
    uploads: Uploads, saved: bytes, place: float, new: bytes, cut: bool
) -> None:
    start = int(place * (len(saved) - 1))
    content = saved[:start] + (b"" if cut else new + saved[start + len(new) :])
    answer = uploads.put(content)
    assert answer.status_code in (201, 422), answer.text
    uploads.client.delete("/v1/models/new")


@pytest.mark.parametrize("kind", ["parquet", "stream", "sheet", "gzip"])
@SLOWLY
@given(place=st.floats(0, 1), new=st.binary(min_size=1, max_size=8))
def test_a_damaged_table_never_breaks_the_service(uploads: Uploads, kind: str, place: float, new: bytes) -> None:
    whole = WRITTEN[kind]
    start = int(place * (len(whole) - 1))
    answer = uploads.put(whole[:start] + new + whole[start + len(new) :])
    assert answer.status_code in (200, 422), answer.text
    assert uploads.client.get("/readyz").status_code == 200
    uploads.client.delete("/v1/models/new")


_TABLE = pa.table({"a": [1.0, 2.0, 3.0, None], "b": ["x", "y", "x", "y"], "c": [1, 2, 3, 4]})
WRITTEN = {
    "parquet": as_parquet(_TABLE),
    "stream": as_arrow(_TABLE),
    "sheet": as_sheet(A1="a", B1="b", A2=1, B2="x", A3=2, B3="y"),
    "gzip": gzip.compress(b"a,b\n1,x\n2,y\n"),
}


def test_text_that_is_not_utf8_in_a_file_with_types_is_refused(uploads: Uploads) -> None:
    places = pa.py_buffer(np.array([0, 2, 4], np.int32))
    wrong = pa.Array.from_buffers(pa.string(), 2, [None, places, pa.py_buffer(b"\xff\xfeok")])
    uploads.refused(as_arrow(pa.table({"a": wrong, "b": [1, 2]})), "'a'", "not UTF-8")


def test_names_and_cells_come_back_as_they_were_sent(uploads: Uploads) -> None:
    column, label = "<script>alert(1)</script>\x1b[31m", "'; DROP TABLE models;--"
    other = "\u202eright to left\u2066"
    rows = [{column: 1.0, "y": label}, {column: 2.0, "y": label}, {column: 8.0, "y": other}, {column: 9.0, "y": other}]
    assert uploads.client.post("/v1/models", json={"name": "new", "settings": {"label": "y"}}).status_code == 201
    learnt = uploads.client.post("/v1/models/new/learn?wait=30", json={"rows": rows, "ids": ["a", "b", "c", "<d>"]})
    assert learnt.status_code == 200, learnt.text
    path = "/v1/models/new"
    assert uploads.client.get(path).json()["classes"] == sorted([label, other])
    assert uploads.client.get(path).json()["features"] == [column]
    assert uploads.client.get(f"{path}/rows/%3Cd%3E").json()["cells"] == {column: 9.0}
    predicted = uploads.client.post(f"{path}/predict", json={"rows": [{column: 1.5}], "explain": True})
    assert predicted.json()["predictions"][0]["class"] == label
    assert predicted.headers["content-type"] == "application/json"
    assert predicted.headers["x-content-type-options"] == "nosniff"
    page = uploads.client.get(f"{path}/export?format=report")
    assert "<script>alert(1)" not in page.text
    assert page.headers["content-disposition"] == 'attachment; filename="new.html"'
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert "sandbox" in page.headers["content-security-policy"]
    assert json.loads(uploads.client.get(f"{path}/labels").text)["labels"][0]["label"] == label
    metrics = uploads.client.get("/metrics").text
    assert "DROP" not in metrics


@pytest.mark.parametrize(
    "name", ["../up", "..", ".", "a/b", "a\\b", "%2e%2e", ".hidden", "a" * 101, "", "a\0", "-a", "ä"]
)
def test_names_of_models_and_backups_are_no_paths(uploads: Uploads, name: str) -> None:
    before = sorted(uploads.folder.parent.rglob("*"))
    assert uploads.client.post("/v1/backup", json={"name": name}).status_code == 422
    assert uploads.client.post("/v1/models", json={"name": name}).status_code == 422
    path = f"/v1/models/{quote(name, safe='').replace('.', '%2E')}"
    assert uploads.client.put(path, content=CSV).status_code in (404, 405, 422)
    assert sorted(uploads.folder.parent.rglob("*")) == before


def test_a_backup_is_a_store_and_has_a_name_of_its_own(uploads: Uploads, tmp_path: Path) -> None:
    made = uploads.client.post("/v1/backup", json={"name": "first"})
    assert made.json() == {"file": "backups/first.db", "bytes": (uploads.folder / "backups/first.db").stat().st_size}
    again = uploads.client.post("/v1/backup", json={"name": "first"})
    assert again.status_code == 409
    assert str(uploads.folder) not in again.text
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "store.db").write_bytes((uploads.folder / "backups/first.db").read_bytes())
    with application(copy) as client:
        state = client.get("/v1/models/flowers/state")
    assert state.json()["digest"] == uploads.client.get("/v1/models/flowers/state").json()["digest"]
