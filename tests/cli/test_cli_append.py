"""`predict --append`: the table as it is, then the predictions; and tables as spreadsheets."""

from __future__ import annotations

import csv
import datetime
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from sslart.cli import _table_writer as sheets
from sslart.cli import main
from sslart.cli._table_writer import CellStyle, written
from tables import iris_model, mixed, mixed_model, write

Captured = pytest.CaptureFixture[str]
PREDICTIONS = ["class", "probability", "abstained", "box", "novelty", "novel"]


def predict(model: Path, data: Path, out: Path, *options: str) -> None:
    assert main(["predict", str(model), str(data), "--out", str(out), "--quiet", *options]) == 0


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        *(("csv", kind) for kind in ("csv", "tsv", "parquet", "xlsx", "json", "jsonl")),
        *((source, kind) for source in ("feather", "xlsx") for kind in ("csv", "parquet")),
    ],
)
def test_a_table_of_any_kind_is_followed_by_its_predictions(source: str, kind: str, tmp_path: Path) -> None:
    model, data, out = mixed_model(tmp_path), mixed(tmp_path, f"new.{source}"), tmp_path / f"out.{kind}"
    predict(model, data, out, "--append")
    predict(model, data, tmp_path / "alone.json")
    found, alone = read(out), pd.DataFrame(json.loads((tmp_path / "alone.json").read_text()))
    own = pd.read_csv(mixed(tmp_path, "same.csv"), keep_default_na=False, na_values=[""])
    assert list(found) == [*own, *PREDICTIONS]
    for name in own:
        assert [None if pd.isna(one) else str(one).removesuffix(".0") for one in found[name]] == [
            None if pd.isna(one) else str(one).removesuffix(".0") for one in own[name]
        ], name
    for name in PREDICTIONS:
        assert [None if pd.isna(one) else str(one) for one in found[name].astype(object)] == [
            None if pd.isna(one) else str(one) for one in alone[name].astype(found[name].dtype).astype(object)
        ], name


def read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".xlsx":
        return pd.read_excel(path, keep_default_na=False, na_values=[""])
    if path.suffix in (".json", ".jsonl"):
        text = path.read_text()
        return pd.DataFrame(
            json.loads(text) if path.suffix == ".json" else [json.loads(one) for one in text.splitlines()]
        )
    return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", keep_default_na=False, na_values=[""])


def test_text_stays_as_it_is_written(tmp_path: Path) -> None:
    """Names with blanks or without letters, zeros at the end of numbers, marks for missing values, quotes."""
    model, data, out = mixed_model(tmp_path), tmp_path / "new.csv", tmp_path / "out.csv"
    rows = [
        ["", " size ", "colour", "code", "more, and more"],
        ["1", "1.50", " red", "01", 'say "yes"'],
        ["2", "2e0", "NA", "", "two\nlines"],
        ["3", "", "", "", ""],
    ]
    with data.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    predict(model, data, out, "--append")
    with out.open(newline="") as file:
        assert [row[:5] for row in csv.reader(file)] == rows


def test_a_table_with_decimal_commas_keeps_them_and_has_them_in_predictions(tmp_path: Path) -> None:
    model, data, out = mixed_model(tmp_path), tmp_path / "new.csv", tmp_path / "out.csv"
    data.write_text("size;colour;code\n1,50;red;1\n7,25;blue;2\n")
    predict(model, data, out, "--append")
    header, first, _ = out.read_text().splitlines()
    assert header == "size;colour;code;" + ";".join(PREDICTIONS)
    assert first.startswith("1,50;red;1;")
    assert len(first.split(";")) == 3 + len(PREDICTIONS)
    assert "." not in first


def test_names_that_the_table_has_already_are_told_apart(tmp_path: Path, capsys: Captured) -> None:
    model, data, out = mixed_model(tmp_path), mixed(tmp_path, "new.csv"), tmp_path / "out.csv"
    frame = pd.read_csv(data).assign(**{"class": "mine", "predicted class": "too", "box": 7})
    frame.to_csv(data, index=False)
    predict(model, data, out, "--append")
    found = pd.read_csv(out)
    assert list(found)[len(frame.columns) :] == [
        "predicted class 2",
        "probability",
        "abstained",
        "predicted box",
        "novelty",
        "novel",
    ]
    assert set(found["class"]) == {"mine"}
    assert main(["predict", str(model), str(data), "--append", "--id", "size"]) == 1
    assert "leave --id out" in capsys.readouterr().err


def test_types_of_parquet_are_kept(tmp_path: Path) -> None:
    model, data, out = mixed_model(tmp_path), tmp_path / "new.parquet", tmp_path / "out.parquet"
    when = [datetime.datetime(2024, 1, 2, 3), None]
    table = pa.table(
        {
            "size": pa.array([1, None], pa.int16()),
            "colour": pa.array(["red", None]).dictionary_encode(),
            "code": [1, 2],
            "when": pa.array(when, pa.timestamp("ms", "UTC")),
            "all": pa.array([[1, 2], []]),
            "none": pa.nulls(2),
        }
    )
    parquet.write_table(table, data)
    predict(model, data, out, "--append")
    found = parquet.read_table(out)
    assert found.column_names == [*table.column_names, *PREDICTIONS]
    for name in ("size", "code", "when", "all", "none"):
        assert found[name].type == table[name].type, name
        assert found[name].to_pylist() == table[name].to_pylist()
    for kind in ("csv", "json", "xlsx"):
        predict(model, data, tmp_path / f"out.{kind}", "--append")
    assert json.loads((tmp_path / "out.json").read_text())[0]["when"].startswith("2024-01-02 03:00")


def test_a_sheet_of_several_kinds_in_one_column_is_written_as_parquet(tmp_path: Path) -> None:
    model, data, out = mixed_model(tmp_path), tmp_path / "new.xlsx", tmp_path / "out.parquet"
    frame = pd.DataFrame({"size": [1, 2], "colour": ["red", None], "code": [1, 2], "odd": [1, "one"], "n": [1, None]})
    frame.to_excel(data, index=False)
    predict(model, data, out, "--append")
    assert parquet.read_table(out).select(["odd", "n"]).to_pylist() == [{"odd": "1", "n": 1}, {"odd": "one", "n": None}]


def test_no_text_of_a_sheet_is_a_formula_unless_it_is_wanted(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    evil = pd.DataFrame({"=1+1": ["=2+2", "\x1b[31m"], "n": [1, 2**60]})
    for keep in (False, True):
        path = tmp_path / "sheet.xlsx"
        path.write_bytes(b"".join(written([evil], ".xlsx", {}, CellStyle(keep_formulas=keep))))
        rows = list(openpyxl.load_workbook(path).active.iter_rows())
        assert [cell.value for cell in rows[0]] == ["=1+1", "n"]
        assert [cell.value for cell in rows[2]] == ["\\x1b[31m", str(2**60)]
        assert rows[1][0].data_type == ("f" if keep else "s")


@pytest.mark.parametrize(
    ("limit", "words"), [("MAX_ROWS", "3 rows"), ("MAX_COLUMNS", "3 columns"), ("MAX_CHARACTERS", "3 characters")]
)
def test_what_a_sheet_cannot_hold_is_refused(limit: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, limit, 3)
    frames = (
        [pd.DataFrame(np.zeros((2, 4)), columns=list("abcd"))] * 2
        if limit == "MAX_COLUMNS"
        else [pd.DataFrame({"a": ["long"]})] * 5
    )
    with pytest.raises(ValueError, match=f"{words}.*CSV or Parquet"):
        list(written(frames, ".xlsx", {}, CellStyle()))


def test_without_openpyxl_the_cures_are_named_before_any_work(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = iris_model(tmp_path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert main(["predict", str(model), str(tmp_path / "iris.csv"), "--out", str(tmp_path / "out.xlsx")]) == 1
    error = capsys.readouterr().err
    assert "ends with .csv" in error
    assert 'pip install "typer' in error
    assert "openpyxl" in error
    assert not (tmp_path / "out.xlsx").exists()


def test_a_file_in_pieces_is_appended_to_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = mixed_model(tmp_path), mixed(tmp_path, "new.csv")
    whole: list[Any] = []
    for size in (2**20, 300):
        monkeypatch.setattr("sslart._tables.files.BYTES_PER_PIECE", size)
        for kind in ("csv", "parquet"):
            predict(model, data, tmp_path / f"out.{kind}", "--append")
        whole.append([read(tmp_path / f"out.{kind}").to_csv() for kind in ("csv", "parquet")])
    assert whole[0] == whole[1]


def test_kinds_that_are_not_written_are_refused(tmp_path: Path, capsys: Captured) -> None:
    model = iris_model(tmp_path)
    data = write(pd.DataFrame({"a": [1]}), tmp_path / "a.csv")
    assert main(["predict", str(model), str(data), "--out", str(tmp_path / "out.xls")]) == 1
    assert ".xlsx" in capsys.readouterr().err
