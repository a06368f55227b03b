"""Files are read piece by piece, whatever they are, and told apart by how they start."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sslart
from sslart.cli import _files, main
from sslart.cli._rows import keep
from tables import iris, iris_model, mixed, mixed_model, write

Captured = pytest.CaptureFixture[str]
FRAME = pd.DataFrame({"a": [1.5, None, 3.0] * 40, "b": ["x", None, "y,z"] * 40})


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "BYTES_PER_PIECE", 200)
    monkeypatch.setattr(_files, "CELLS_PER_PIECE", 40)
    monkeypatch.setattr(_files, "FEWEST_ROWS", 10)


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
        (b"a,b\n1,\xff\n", "UTF-8"),
        (b"\xff\xfea\x00,\x00b\x00\n\x00", "UTF-8"),
        (b"PAR1 no", "Parquet"),
        (b"ARROW1 no", "Arrow"),
        (b"PK\x03\x04 no", "spreadsheet"),
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
def test_commands_answer_in_pieces_as_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = mixed_model(tmp_path)
    data = str(mixed(tmp_path, "new.csv"))
    results = []
    for turn in range(2):
        answers = {}
        for kind in ("csv", "tsv", "json", "jsonl", "parquet"):
            out = tmp_path / f"answers.{kind}"
            assert main(["predict", str(model), data, "--id", "colour", "--out", str(out), "--quiet"]) == 0
            answers[kind] = pd.read_parquet(out).to_csv() if kind == "parquet" else out.read_text()
        updated = tmp_path / "updated.sslart"
        assert main(["update", str(model), data, "--label", "kind", "--out", str(updated), "--quiet"]) == 0
        results.append((answers, updated.read_bytes()))
        if turn == 0:
            monkeypatch.undo()
    assert results[0] == results[1]
    rows = json.loads(results[0][0]["json"])
    assert len(rows) == 120
    assert rows == [json.loads(line) for line in results[0][0]["jsonl"].splitlines()]


@pytest.mark.usefixtures("small_pieces")
def test_errors_name_the_row_of_the_file(tmp_path: Path, capsys: Captured) -> None:
    model, new, out = mixed_model(tmp_path), tmp_path / "new.csv", tmp_path / "answers.csv"
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
        answers = json.loads(capsys.readouterr().out)
        loaded = sslart.load(model)
        rules = loaded.rules()
        assert all(rules[answer["rule"] - 1].label == answer["class"] for answer in answers)
        if "one-to-many" in options:
            nodes = loaded.apply(pd.read_csv(data)[loaded.feature_names_in_])
            assert all(node in rules[one["rule"] - 1].nodes for node, one in zip(nodes, answers, strict=True))


def test_an_answer_that_was_not_given_has_no_rule(tmp_path: Path) -> None:
    out = tmp_path / "answers.parquet"
    arguments = ["predict", str(iris_model(tmp_path)), str(tmp_path / "iris.csv"), "--abstain-below", "1"]
    assert main([*arguments, "--out", str(out), "--quiet"]) == 0
    table = pa.parquet.read_table(out)
    assert table["rule"].null_count == table["class"].null_count == 150
    assert table.schema.field("class").type == pa.string()


def test_a_draw_keeps_labelled_rows_first_and_is_fair() -> None:
    frame = pd.DataFrame({"x": range(1000), "label": ["a" if row % 100 == 0 else None for row in range(1000)]})
    times = np.zeros(1000)
    for seed in range(200):
        pieces = [frame[start : start + 90] for start in range(0, 1000, 90)]
        kept = keep(pieces, "label", 110, seed)
        assert kept.n_rows == 1000
        assert kept.frame["x"].is_monotonic_increasing
        times[kept.frame["x"]] += 1
    assert (times[::100] == 200).all()
    others = np.delete(times, np.arange(0, 1000, 100))
    assert abs(others[:450].mean() - others[450:].mean()) < 1
    assert others.mean() == pytest.approx(200 * 100 / 990)


def test_gzip_that_breaks_off_is_refused(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,kind\n" + b"1,x\n" * 5000)[:60])
    assert main(["fit", str(path), "--label", "kind", "--out", str(tmp_path / "model.sslart")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
