"""Files are read piece by piece, whatever they are, and recognised by their first bytes."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sslart
from sslart._tables import files as _files
from sslart._tables.files import sample_rows
from sslart.cli import main
from tables import iris, iris_model, mixed, mixed_model, write

Captured = pytest.CaptureFixture[str]
FRAME = pd.DataFrame({"a": [1.5, None, 3.0] * 40, "b": ["x", None, "y,z"] * 40})


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "BYTES_PER_PIECE", 200)
    monkeypatch.setattr(_files, "CELLS_PER_PIECE", 40)
    monkeypatch.setattr(_files, "MIN_ROWS", 10)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("name", ["f.csv", "f.tsv", "f.parquet", "f.feather", "f.arrow", "f.csv.gz", "no name"])
def test_pieces_are_the_whole_file(name: str, tmp_path: Path) -> None:
    path = write(FRAME, tmp_path / name)
    pieces = list(_files.read_pieces(str(path)))
    assert len(pieces) > 2
    together = pd.concat(pieces)
    assert together.index.tolist() == list(range(120))
    assert together["a"].astype(float).equals(FRAME["a"])
    assert [None if pd.isna(one) else one for one in together["b"]] == ["x", None, "y,z"] * 40


def test_standard_input_may_be_parquet_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = write(FRAME, tmp_path / "f.parquet").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert len(_files.read_table("-")) == 120


def test_row_names_of_pandas_are_no_column(tmp_path: Path) -> None:
    frame = FRAME.set_index(np.arange(120) * 7)
    frame.to_parquet(tmp_path / "f.parquet")
    assert list(_files.read_table(str(tmp_path / "f.parquet"))) == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf\n\n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,a\n1,2\n", "more than once, such as 'a'"),
        (b"a,b\n1,2\n1,2,3\n", "not an even table"),
        (b"a,b\n1,2\n1\n", "not an even table"),
        (b"a,b\n1,\x81\n", "--encoding"),
        (b"a,b\n\xc3\xa9,1\n\xe9,1\n", "not text in utf-8"),
        (b"a,b\n\xe9\x00,1\n", "not text in utf-8"),
        (b"\xff\xfea\x00,\x00b\x00\n\x00", "no rows"),
        (b"a\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00", "utf-16-le"),
        (b"a,b\r1,2\r", "Macintosh"),
        (b'"a,b\n1,2\n', "header"),
        (gzip.compress(b"a,b\n" + b"1,2\n" * 999, mtime=0)[:-9] + b"123456789", "truncated"),
        (b"PAR1 no", "Parquet"),
        (b"ARROW1 no", "Arrow"),
        (b"PK\x03\x04 no", "spreadsheet"),
        (b"\xd0\xcf\x11\xe0 no", "save it as .xlsx"),  # what reads it is no package that sslart names
    ],
)
def test_what_is_no_table_is_refused_with_the_cure(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        _files.read_table(str(path))


def test_names_are_stripped_and_made_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xef\xbb\xbf\r\n, a ,b\r\n0,1,2\r\n\r\n1,3,4\r\n")
    frame = _files.read_table(str(path))
    assert list(frame) == ["column 1", "a", "b"]
    assert frame["b"].tolist() == ["2", "4"]


@pytest.mark.usefixtures("small_pieces")
def test_commands_predict_in_pieces_as_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = mixed_model(tmp_path)
    data = str(mixed(tmp_path, "new.csv"))
    results = []
    for turn in range(2):
        predictions = {}
        for kind in ("csv", "tsv", "json", "jsonl", "parquet"):
            out = tmp_path / f"predictions.{kind}"
            assert main(["predict", str(model), data, "--id", "colour", "--out", str(out), "--quiet"]) == 0
            predictions[kind] = pd.read_parquet(out).to_csv() if kind == "parquet" else out.read_text()
        updated = tmp_path / "updated.sslart"
        assert main(["update", str(model), data, "--label", "kind", "--out", str(updated), "--quiet"]) == 0
        results.append((predictions, updated.read_bytes()))
        if turn == 0:
            monkeypatch.undo()
    assert results[0] == results[1]
    rows = json.loads(results[0][0]["json"])
    assert len(rows) == 120
    assert rows == [json.loads(line) for line in results[0][0]["jsonl"].splitlines()]


@pytest.mark.usefixtures("small_pieces")
def test_errors_name_the_row_of_the_file(tmp_path: Path, capsys: Captured) -> None:
    model, new, out = mixed_model(tmp_path), tmp_path / "new.csv", tmp_path / "predictions.csv"
    new.write_text("size,colour,code\n" + "1,red,1\n" * 100 + "big,red,1\n" + "1,red,1\n" * 100)
    before = model.read_bytes()
    for arguments in (["predict", str(model), str(new), "--out", str(out)], ["update", str(model), str(new)]):
        assert main(arguments) == 1
        assert "'big' in row 101" in capsys.readouterr().err
    assert model.read_bytes() == before
    assert not out.exists()
    assert not list(tmp_path.glob(".*.part"))


def test_a_rule_number_is_that_of_the_list_of_rules(tmp_path: Path, capsys: Captured) -> None:
    data = str(iris(tmp_path))
    for options in (["--mapping", "one-to-many"], [], ["--members", "3"]):
        model = str(tmp_path / "model.sslart")
        arguments = ["fit", data, "--label", "species", "--id", "flower", "--out", model, "--quiet"]
        assert main([*arguments, *options]) == 0
        assert main(["predict", model, data, "--json"]) == 0
        predictions = json.loads(capsys.readouterr().out)
        loaded = sslart.load(model)
        rules = loaded.rules(kind="boxes")
        assert all(rules[rules.numbers.index(one["box"])].label == one["class"] for one in predictions)
        if "one-to-many" in options:
            nodes = loaded.apply(pd.read_csv(data)[loaded.feature_names_in_])
            assert all(
                node in rules[rules.numbers.index(one["box"])].nodes
                for node, one in zip(nodes, predictions, strict=True)
            )


def test_a_row_without_a_class_has_no_rule(tmp_path: Path) -> None:
    out = tmp_path / "predictions.parquet"
    arguments = ["predict", str(iris_model(tmp_path)), str(tmp_path / "iris.csv"), "--abstain-below", "1"]
    assert main([*arguments, "--out", str(out), "--quiet"]) == 0
    table = pa.parquet.read_table(out)
    assert table["box"].null_count == table["class"].null_count == 150
    assert table.schema.field("class").type == pa.string()


def test_a_sample_keeps_labelled_rows_first_and_is_fair() -> None:
    frame = pd.DataFrame({"x": range(1000), "label": ["a" if row % 100 == 0 else None for row in range(1000)]})
    times = np.zeros(1000)
    for seed in range(60):
        pieces = [frame[start : start + 90] for start in range(0, 1000, 90)]
        kept = sample_rows(pieces, "label", 110, seed)
        assert kept.n_rows == 1000
        assert kept.frame["x"].is_monotonic_increasing
        times[kept.frame["x"]] += 1
    assert (times[::100] == 60).all()
    others = np.delete(times, np.arange(0, 1000, 100))
    assert abs(others[:450].mean() - others[450:].mean()) < 1
    assert others.mean() == pytest.approx(60 * 100 / 990)


def test_gzip_that_breaks_off_is_refused(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,kind\n" + b"1,x\n" * 5000)[:60])
    assert main(["fit", str(path), "--label", "kind", "--out", str(tmp_path / "model.sslart")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("most", [1, 30, 49, 50, 99, 100, 150])
def test_a_sample_of_one_piece_has_the_size_wanted(most: int) -> None:
    frame = pd.DataFrame({"x": range(100), "label": ["a", " "] * 50})
    kept = sample_rows([frame], "label", most, 0)
    assert len(kept.frame) == min(most, 100)
    assert (kept.frame["label"] == "a").sum() == min(most, 50)


def test_a_cell_is_read_alike_whatever_the_other_cells_are(tmp_path: Path, capsys: Captured) -> None:
    data, model = tmp_path / "codes.csv", str(tmp_path / "codes.sslart")
    data.write_text(
        "size,code,kind\n"
        + "".join(f"{row % 7},{['1.0', '2.0', 'A'][row % 3]},{'pqr'[row % 3]}\n" for row in range(60))
    )
    assert main(["fit", str(data), "--label", "kind", "--out", model, "--quiet"]) == 0
    predictions = []
    for rows in ("0.5,1.0\n0.5,2.0\n0.5,A\n", "0.5,1.0\n", "0.5,1\n", "0.5,A\n0.5,1.00\n"):
        new = tmp_path / "new.csv"
        new.write_text("size,code\n" + rows)
        assert main(["predict", model, str(new), "--json"]) == 0
        predictions.append({one["class"] for one in json.loads(capsys.readouterr().out)} & {"p"})
    assert predictions == [{"p"}] * 4
    learnt = sslart.SSLART(random_state=0).fit(pd.DataFrame({"code": ["1.0", "2.0", "A"]}), ["1.0", "2.0", "x"])
    sslart.save(learnt, model)
    new.write_text("code,kind\n1.0,1.0\n2,2\n")
    assert main(["update", model, str(new), "--label", "kind", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["new_classes"] == []
    assert main(["predict", model, str(new), "--json"]) == 0
    assert [one["class"] for one in json.loads(capsys.readouterr().out)] == ["1.0", "2.0"]


def test_names_of_rows_are_not_touched(tmp_path: Path) -> None:
    model, new, out = iris_model(tmp_path), tmp_path / "new.csv", tmp_path / "predictions.csv"
    columns = ",".join(sslart.load(model).feature_names_in_)
    new.write_text(f"name,{columns}\n1.0,5,3,2,1\n007,5,3,2,1\n2.10,5,3,2,1\n")
    assert main(["predict", str(model), str(new), "--id", "name", "--out", str(out), "--quiet"]) == 0
    assert pd.read_csv(out, dtype=str)["name"].tolist() == ["1.0", "007", "2.10"]
    big = pd.DataFrame({"name": pd.array([2**53 + 1, None], dtype="Int64"), **dict.fromkeys(columns.split(","), 3.0)})
    big.to_parquet(tmp_path / "big.parquet")
    assert main(["predict", str(model), str(tmp_path / "big.parquet"), "--id", "name", "--out", str(out)]) == 0
    assert pd.read_csv(out, dtype=str)["name"].tolist()[0] == str(2**53 + 1)


@pytest.mark.usefixtures("small_pieces")
def test_parquet_takes_what_comes_after_a_piece_of_blanks(tmp_path: Path) -> None:
    model, data, out = tmp_path / "model.sslart", tmp_path / "data.csv", tmp_path / "predictions.parquet"
    sslart.save(sslart.SSLART(0.99, search_depth=1, random_state=0).fit([[0], [10], [5]], [3, 4, -1]), model)
    data.write_text("name,x\n" + ",5\n" * 200 + "last,10\n")
    arguments = ["predict", str(model), str(data), "--id", "name", "--out", str(out), "--quiet"]
    assert main(arguments) == 1  # a model without names takes all columns
    sslart.save(
        sslart.SSLART(0.99, search_depth=1, random_state=0).fit(pd.DataFrame({"x": [0, 10, 5]}), [3, 4, -1]), model
    )
    assert main(arguments) == 0
    predictions = pa.parquet.read_table(out).to_pylist()
    assert (predictions[0]["name"], predictions[0]["class"]) == (None, None)
    assert (predictions[-1]["name"], predictions[-1]["class"]) == ("last", 4)


@pytest.mark.slow
def test_yes_and_no_are_categories_in_every_format(tmp_path: Path, capsys: Captured) -> None:
    frame = pd.DataFrame({"open": [True, False] * 20, "x": range(40), "kind": ["a", "b"] * 20})
    for name in ("yes.parquet", "yes.csv", "yes.xlsx"):
        data = str(write(frame, tmp_path / name))
        out = str(tmp_path / f"{name}.sslart")
        assert main(["fit", data, "--label", "kind", "--out", out, "--json"]) == 0
        summary = json.loads(capsys.readouterr().out)
        assert [column["kind"] for column in summary["columns"]] == ["category", "number"]
        for other in ("yes.parquet", "yes.csv"):
            assert main(["predict", out, str(write(frame, tmp_path / other)), "--quiet"]) == 0
            capsys.readouterr()


def test_nothing_that_is_read_is_overwritten(tmp_path: Path, capsys: Captured) -> None:
    model = iris_model(tmp_path)
    data, content = tmp_path / "iris.csv", model.read_bytes()
    for arguments in (
        ["predict", str(model), str(data), "--out", str(model)],
        ["predict", str(model), str(data), "--out", str(data)],
        ["fit", str(data), "--label", "species", "--out", str(data)],
        ["update", str(model), str(data), "--out", str(data)],
        ["report", str(model), str(data), "--out", str(data)],
        ["rules", str(model), "--out", str(model)],
        ["label", str(model), str(data), "--record", str(model)],
        ["watch", str(model), str(data), "--rejects", str(model)],
        ["watch", str(model), str(data), "--rejects", str(data)],
    ):
        before = data.read_bytes()
        assert main(arguments) == 1
        assert "would be overwritten" in capsys.readouterr().err
        assert model.read_bytes() == content
        assert data.read_bytes() == before


@pytest.mark.parametrize("name", ["predictions.xls", "predictions.csv.gz"])
def test_files_of_a_kind_that_cannot_be_written_are_refused(name: str, tmp_path: Path, capsys: Captured) -> None:
    arguments = ["predict", str(iris_model(tmp_path)), str(tmp_path / "iris.csv"), "--out", str(tmp_path / name)]
    assert main(arguments) == 1
    assert "Cannot write a table as" in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_pipes_and_packed_standard_input_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = write(FRAME, tmp_path / "f.csv").read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    feeder = threading.Thread(target=pipe.write_bytes, args=(content,))
    feeder.start()
    assert len(_files.read_table(str(pipe))) == 120
    feeder.join()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(content))))
    assert len(_files.read_table("-")) == 120
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="closed"):
        _files.read_table("-")


def test_columns_named_twice_are_refused_in_every_format(tmp_path: Path) -> None:
    table = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    with pa.ipc.new_stream(tmp_path / "f.arrow", table.schema) as stream:
        stream.write_table(table)
    with pytest.raises(ValueError, match="more than once"):
        _files.read_table(str(tmp_path / "f.arrow"))


def test_blank_rows_are_left_out_of_account_and_get_no_class(tmp_path: Path, capsys: Captured) -> None:
    data, blank = mixed(tmp_path), tmp_path / "blank.csv"
    lines = data.read_text().splitlines()
    blank.write_text("\n".join([*lines[:50], ",,,", *lines[50:], ",,,"]) + "\n")
    models = [str(tmp_path / name) for name in ("one.sslart", "two.sslart")]
    for source, model in zip((data, blank), models, strict=True):
        assert main(["fit", str(source), "--label", "kind", "--category", "code", "--out", model, "--quiet"]) == 0
    assert "2 row(s) of" in capsys.readouterr().err
    assert Path(models[0]).read_bytes() == Path(models[1]).read_bytes()
    predictions = []
    for source in (data, blank):
        assert main(["predict", models[0], str(source), "--json"]) == 0
        predictions.append(json.loads(capsys.readouterr().out))
    assert predictions[1][:49] + predictions[1][50:-1] == predictions[0]
    for blank_row in (predictions[1][49], predictions[1][-1]):
        assert blank_row["abstained"]
        assert (blank_row["class"], blank_row["box"], blank_row["novel"]) == (None, None, False)
    for source, out in zip((data, blank), ("three", "four"), strict=True):
        arguments = ["update", models[0], str(source), "--label", "kind", "--out", str(tmp_path / out), "--quiet"]
        assert main(arguments) == 0
    assert (tmp_path / "three").read_bytes() == (tmp_path / "four").read_bytes()


def test_commas_in_numbers_are_read_where_semicolons_cut(tmp_path: Path, capsys: Captured) -> None:
    data, plain = tmp_path / "german.csv", iris(tmp_path)
    frame = pd.read_csv(plain)
    frame.to_csv(data, index=False, sep=";", decimal=",")
    models = [tmp_path / "one.sslart", tmp_path / "two.sslart"]
    for source, model in zip((plain, data), models, strict=True):
        assert main(["fit", str(source), "--label", "species", "--id", "flower", "--out", str(model), "--quiet"]) == 0
    assert models[0].read_bytes() == models[1].read_bytes()
    predictions = []
    for source in (plain, data):
        assert main(["watch", str(models[0]), str(source), "--learn", "none", "--quiet"]) == 0
        predictions.append(capsys.readouterr().out)
    assert predictions[0] == predictions[1]


@pytest.mark.slow
def test_a_column_that_counts_rows_is_left_out_with_a_note(tmp_path: Path, capsys: Captured) -> None:
    data = tmp_path / "data.csv"
    pd.read_csv(iris(tmp_path)).drop(columns="flower").to_csv(data)  # with the index of pandas
    arguments = ["fit", str(data), "--label", "species", "--out", str(tmp_path / "model.sslart")]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert "'column 1' is left out: it numbers the rows. --use 'column 1'" in shown.err
    assert "column 1" not in sslart.load(tmp_path / "model.sslart").feature_names_in_
    assert main([*arguments, "--ignore", "column 1"]) == 0
    assert "is left out" not in capsys.readouterr().err
    assert main([*arguments, "--use", "column 1"]) == 0
    shown = capsys.readouterr()
    assert "is left out" not in shown.err
    assert "possible identifiers" in shown.out
    assert "column 1" in sslart.load(tmp_path / "model.sslart").feature_names_in_
