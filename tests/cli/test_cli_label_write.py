"""`label --write`: answers are put into the table, whose other cells stay as they are."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from sslart._tables.files import read_table
from sslart.cli import main
from sslart.cli._path_lock import InUseError
from sslart.cli.label import LabelledTable
from tables import fitted, iris

Captured = pytest.CaptureFixture[str]
TEXT = 'name;size;kind\r\n"a;b";1,50;\r\n\r\n c ;"2";"old"\r\n"d""";3;'


def table(folder: Path, content: bytes, name: str = "table.csv") -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252", "gzip"])
def test_all_else_stays_byte_for_byte(encoding: str, tmp_path: Path) -> None:
    text, given = TEXT.replace("name", "größe"), encoding if encoding == "utf-16-be" else None
    content = gzip.compress(text.encode(), mtime=0) if encoding == "gzip" else text.encode(encoding)
    data = table(tmp_path, content)
    written = LabelledTable(data, "kind", given)
    written.add([1, 3], "süß")
    written.add([3], "x;y")
    new = Path(data).read_bytes()
    expected = text.replace("1,50;\r\n", "1,50;süß\r\n").replace('"d""";3;', '"d""";3;"x;y"')
    assert (gzip.decompress(new) if encoding == "gzip" else new) == (
        expected.encode() if encoding == "gzip" else expected.encode(encoding)
    )


@settings(max_examples=25, deadline=None)
@given(
    cells=st.lists(st.lists(st.text('a", \n\r;=é', max_size=5), min_size=3, max_size=3), min_size=1, max_size=6),
    label=st.text('a", \n;=é', min_size=1, max_size=4).filter(str.strip),
    data=st.data(),
)
def test_any_label_in_any_table_is_read_back(cells: list[list[str]], label: str, data: st.DataObject) -> None:
    row, place = data.draw(st.integers(0, len(cells) - 1)), data.draw(st.integers(0, 2))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["p", "q", "r"], *cells])
        before = read_table(str(path))
        LabelledTable(str(path), "pqr"[place], None).add([row + 1], label)
        after = read_table(str(path))
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
    assert [one[:place] + one[place + 1 :] for one in rows] == [one[:place] + one[place + 1 :] for one in cells]
    changed = after["pqr"[place]].tolist()
    assert (
        changed[:row] + changed[row + 1 :]
        == before["pqr"[place]].tolist()[:row] + before["pqr"[place]].tolist()[row + 1 :]
    )
    assert rows[row][place].replace("'", "") == label


@pytest.mark.parametrize(
    ("kind", "old", "label", "new"),
    [
        (pa.string(), "b", "süß", "süß"),
        (pa.int8(), 2, "3", 3),
        (pa.dictionary(pa.int32(), pa.string()), "b", "c", "c"),
        (pa.null(), None, "a", "a"),
        (pa.bool_(), False, "True", True),
    ],
)
def test_parquet_keeps_types_groups_and_metadata(kind: Any, old: Any, label: str, new: Any, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    kinds = pa.array([None, old, None, None], plain)
    source = pa.table({"when": pa.array([1, 2, 3, None], pa.timestamp("ms")), "kind": kinds.cast(kind)})
    parquet.write_table(source.replace_schema_metadata({"made by": "me"}), path, row_group_size=2, compression="zstd")
    LabelledTable(str(path), "kind", None).add([1, 4], label)
    found = parquet.ParquetFile(path)
    assert found.num_row_groups == 2
    assert found.metadata.row_group(0).column(0).compression == "ZSTD"
    assert found.schema_arrow.metadata[b"made by"] == b"me"
    assert found.read().column("kind").to_pylist() == [new, old, None, new]
    assert found.read().column("when").equals(source.column("when"))
    assert found.schema_arrow.field("kind").type == (pa.string() if kind == pa.null() else kind)


def test_a_label_that_does_not_fit_is_refused_and_the_table_stays(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table({"kind": pa.array([1, None], pa.int8())}), path)
    data = table(tmp_path, "größe,kind\n1,\n".encode("cp1252"))
    for source, label, words in ((str(path), "new", "--write-to"), (data, "赤", "encoding")):
        before = Path(source).read_bytes()
        with pytest.raises(ValueError, match=words):
            LabelledTable(source, "kind", None).add([1], label)
        assert Path(source).read_bytes() == before
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx", "jsonl"])
def test_a_spreadsheet_is_copied_with_its_labels(kind: str, tmp_path: Path) -> None:
    data, copy = tmp_path / "table.xlsx", tmp_path / f"copy.{kind}"
    pd.DataFrame({"size": [1, None, 3], "kind": ["a", None, None]}).to_excel(data, index=False)
    before = data.read_bytes()
    with pytest.raises(ValueError, match="--write-to"):
        LabelledTable(str(data), "kind", None)
    written = LabelledTable(str(data), "kind", None, str(copy))
    written.add([2], "b")
    written.add([3], "c")
    assert data.read_bytes() == before
    if kind != "jsonl":
        assert read_table(str(copy))["kind"].tolist() == ["a", "b", "c"]
    with pytest.raises(FileExistsError, match="exists"):
        LabelledTable(str(data), "kind", None, str(copy))


def test_a_table_that_another_program_has_changed_is_left_alone(tmp_path: Path) -> None:
    data = table(tmp_path, b"size,kind\n1,\n2,\n")
    written = LabelledTable(data, "kind", None)
    written.add([1], "a")
    Path(data).write_text("size,kind\n0,\n1,a\n2,\n")
    with pytest.raises(InUseError, match=r"row 2: b"):
        written.add([2], "b")
    assert Path(data).read_text() == "size,kind\n0,\n1,a\n2,\n"


def type_lines(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_answers_are_in_the_table_and_in_the_model(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = iris(tmp_path)
    model, before = fitted(data, "--label", "species", "--id", "flower"), pd.read_csv(data)
    type_lines(monkeypatch, "virginica", "", "setosa", "q")
    assert main(["label", str(model), str(data), "--label", "species", "--id", "flower", "--write"]) == 0
    after = pd.read_csv(data)
    new = after["species"].notna() & before["species"].isna()
    assert sorted(after.loc[new, "species"]) == ["setosa", "virginica"]
    assert after.drop(columns="species").equals(before.drop(columns="species"))
    asked = [
        line.split(",")[0].split()[-1] for line in capsys.readouterr().out.splitlines() if line.startswith("Question")
    ]
    assert {int(asked[0]) - 1, int(asked[2]) - 1} == set(after.index[new])
    assert main(["update", str(model), str(data), "--label", "species", "--json"]) == 0
    assert '"labelled": 0' in capsys.readouterr().out


def test_what_stops_the_command_loses_no_answer(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table has an answer before the model learns it: an update brings it to the model."""
    data = iris(tmp_path)
    model = fitted(data, "--label", "species", "--id", "flower")

    def stop(*_: Any) -> None:
        raise OSError(28, os.strerror(28))

    type_lines(monkeypatch, "virginica", "q")
    with monkeypatch.context() as patched:
        patched.setattr("sslart.cli._model_file.ModelFile.replace", stop)
        assert main(["label", str(model), str(data), "--label", "species", "--id", "flower", "--write"]) == 1
    capsys.readouterr()
    assert pd.read_csv(data)["species"].notna().sum() == 31
    assert main(["update", str(model), str(data), "--label", "species", "--json"]) == 0
    assert '"labelled": 1' in capsys.readouterr().out


def test_what_does_not_go_together_is_refused(tmp_path: Path, capsys: Captured) -> None:
    data = iris(tmp_path)
    model = str(fitted(data, "--label", "species", "--id", "flower"))
    for options, words in (
        (["--write"], "give --label"),
        (["--write", "--write-to", str(tmp_path / "x.csv"), "--label", "species"], "one of the two"),
        (["--write-to", model, "--label", "species"], "is an input of this command"),
        (["--write-to", str(tmp_path / "x.doc"), "--label", "species"], "Cannot write a table as .doc"),
    ):
        assert main(["label", model, str(data), *options]) == 1
        assert words in capsys.readouterr().err
