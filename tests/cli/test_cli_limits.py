"""Oversized input is refused at a documented limit, with a clear message and little memory."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet
from sklearn.datasets import load_iris

from sslart._tables import limits as sheet_limits
from sslart._tables.files import BYTES_OF_TEXT, read_pieces
from sslart._tables.limits import MAX_COLUMNS, MAX_LINE_BYTES, MAX_SHEET_BYTES
from sslart._tables.text import AT_ONCE, first_row, rows_in, whole_rows
from sslart.cli import main
from sslart.cli._line_reader import Lines
from sslart.cli.watch import LearningPolicy, StreamWorker
from tables import iris_model

Captured = pytest.CaptureFixture[str]
FLOWERS = load_iris(as_frame=True).data
MEGABYTE = 2**20


@pytest.mark.parametrize("packed", [True, False])
def test_a_header_longer_than_the_limit_is_refused(packed: bool, tmp_path: Path) -> None:
    content = b"a" * (MAX_LINE_BYTES + 1)
    path = tmp_path / "table.csv"
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    with pytest.raises(ValueError, match=f"header of more than {MAX_LINE_BYTES} bytes"):
        next(read_pieces(str(path)))
    names = b"a" * (MAX_LINE_BYTES - 100_000) + b",b"
    content = names + b"\n1,2\n"
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    with pytest.raises(ValueError, match="field larger than field limit"):
        next(read_pieces(str(path)))


@pytest.mark.parametrize("quote", [b"", b'"'])
def test_a_row_longer_than_the_limit_is_refused_and_a_shorter_one_is_read(quote: bytes, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"a,b\n1,2\n3," + quote + b"x" * (MAX_LINE_BYTES - 10) + quote + b"\n5,6\n")
    assert sum(len(piece) for piece in read_pieces(str(path))) == 3
    path.write_bytes(b"a,b\n1,2\n3," + quote + b"x" * (2 * MAX_LINE_BYTES) + quote + b"\n5,6\n")
    with pytest.raises(ValueError, match=f"row of more than {MAX_LINE_BYTES} bytes"):
        list(read_pieces(str(path)))


def test_too_many_columns_are_refused_in_every_format(tmp_path: Path) -> None:
    names = [f"{number:x}" for number in range(MAX_COLUMNS + 1)]
    text = tmp_path / "table.csv"
    text.write_text(",".join(names) + "\n")
    table = pa.table(dict.fromkeys(names, pa.array([], pa.int8())))
    with pa.ipc.new_stream(tmp_path / "table.arrow", table.schema) as stream:
        stream.write_table(table)
    for path in (text, tmp_path / "table.arrow"):
        with pytest.raises(ValueError, match=f"{MAX_COLUMNS + 1} columns, and at most {MAX_COLUMNS}"):
            next(read_pieces(str(path)))


def test_a_long_text_that_a_few_bytes_of_parquet_repeat_is_read_part_by_part(tmp_path: Path) -> None:
    path, n_rows = tmp_path / "table.parquet", 100
    long = pa.DictionaryArray.from_arrays(pa.array([0, None] * (n_rows // 2), pa.int32()), pa.array(["x" * MEGABYTE]))
    parquet.write_table(pa.table({"a": long, "b": range(n_rows)}), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 5000
    sizes, numbers = [], []
    for piece in read_pieces(str(path)):
        assert (piece["a"].notna() == (piece["b"] % 2 == 0)).all()
        sizes.append(int(piece["a"].str.len().sum()))
        numbers += piece["b"].tolist()
    assert numbers == list(range(n_rows))
    assert sum(sizes) == MEGABYTE * n_rows // 2
    assert max(sizes) <= BYTES_OF_TEXT
    parquet.write_table(pa.table({"a": ["x" * (MAX_LINE_BYTES + 1)]}), path)
    with pytest.raises(ValueError, match=f"row of more than {MAX_LINE_BYTES} bytes of text"):
        next(read_pieces(str(path)))


def test_a_spreadsheet_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = MAX_SHEET_BYTES // 16  # less to pack
    monkeypatch.setattr(sheet_limits, "MAX_SHEET_BYTES", limit)
    path = tmp_path / "table.xlsx"
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_excel(path, index=False)
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
        packed.open("xl/media/picture.png", "w", force_zip64=True) as file,
    ):
        for _ in range(limit // MEGABYTE):
            file.write(bytes(MEGABYTE))
    assert path.stat().st_size < MEGABYTE
    with pytest.raises(ValueError, match=f"and {limit} is the limit"):
        next(read_pieces(str(path)))


def test_a_spreadsheet_with_a_cell_far_away_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active["XFD1048576"] = 1
    book.save(path)
    assert path.stat().st_size < 10_000
    with pytest.raises(ValueError, match="its cells reach to row 1048576 and column 16384: delete what is far"):
        next(read_pieces(str(path)))


@pytest.mark.parametrize(("cell", "shape"), [("B3", (2, 2)), ("AA2", (1, 27)), ("A1000", (999, 2))])
def test_a_spreadsheet_with_cells_near_by_is_read(tmp_path: Path, cell: str, shape: tuple[int, int]) -> None:
    path = tmp_path / "table.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active[cell] = 1
    book.save(path)
    assert next(read_pieces(str(path))).shape == shape


@settings(max_examples=100, deadline=None)
@given(
    cells=st.lists(st.lists(st.text('a", \n\r', max_size=5), min_size=3, max_size=3), min_size=1, max_size=8),
    n_bytes=st.integers(1, 40),
    data=st.data(),
)
def test_a_text_in_pieces_of_any_size_is_the_text_at_once(
    cells: list[list[str]], n_bytes: int, data: st.DataObject
) -> None:
    """Line ends in quotes, quotes in quotes, and quotes in the middle of a cell end no row."""
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    quoted = [
        ['"' + cell.replace('"', '""') + '"' if set(cell) & set(",\n\r") or cell[:1] == '"' else cell for cell in row]
        for row in cells
    ]
    text = end.join(",".join(row) for row in quoted).encode() + end.encode()
    pieces = list(whole_rows(io.BytesIO(text), ",", n_bytes, "a table"))
    assert b"".join(pieces) == text
    rows = [row for piece in pieces if piece.strip(b"\r\n") for row in _parsed(piece)]
    assert rows == [tuple(row) for row in cells]


@pytest.mark.parametrize("n_cells", [AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE + 1])
@pytest.mark.parametrize("cell", [b"a", b'"a"', b'"a,\n"', b'""', b'"""b,"'])
def test_a_row_of_many_cells_ends_where_it_ends(cell: bytes, n_cells: int) -> None:
    check_that_a_row_ends(b",".join([cell] * n_cells))


@pytest.mark.parametrize("n_pairs", [AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE + 1])
@pytest.mark.parametrize("rest", [b"", b"b", b",c", b'\n,"'])
def test_a_cell_of_many_quotes_ends_where_it_ends(rest: bytes, n_pairs: int) -> None:
    check_that_a_row_ends(b'a,"' + b'""' * n_pairs + rest + (b"" if rest.endswith(b'"') else b'"'))


def check_that_a_row_ends(row: bytes) -> None:
    ended = row + b"\r\n"
    assert first_row(ended + b"next") == (ended, ",")
    assert list(rows_in(ended + ended + b'"x', ",")) == [ended, ended, b'"x']
    assert list(rows_in(ended + row, ",")) == [ended, row]


def _parsed(text: bytes) -> list[tuple[str, ...]]:
    names = ["a", "b", "c"]
    texts = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), null_values=[])
    options = csv.ReadOptions(column_names=names), csv.ParseOptions(newlines_in_values=True), texts
    return list(zip(*csv.read_csv(pa.BufferReader(text), *options).to_pydict().values(), strict=True))


def lines_of(path: Path) -> list[bytes]:
    return [line for batch in Lines(str(path), follow=False).batches(most=100) for line in batch]


def test_lines_come_whole_however_they_are_cut_and_too_long_ones_are_cut_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    whole = [b"a" * MAX_LINE_BYTES, b"", b"b" * 70_000, b"c"]
    path.write_bytes(b"\n".join([*whole, b"d" * (MAX_LINE_BYTES + 1), b"e" * (MAX_LINE_BYTES + 5), b"f"]))
    assert lines_of(path) == [*whole, b"d" * (MAX_LINE_BYTES + 1), b"e" * (MAX_LINE_BYTES + 1), b"f"]


def test_a_line_longer_than_the_limit_is_a_bad_row_and_the_next_is_read(tmp_path: Path, capsys: Captured) -> None:
    model, rows = iris_model(tmp_path), tmp_path / "rows.csv"
    header, first, second, *_ = FLOWERS.to_csv(index=False).splitlines()
    rows.write_text("\n".join([header, first, "5" * (2 * MAX_LINE_BYTES), second]))
    assert main(["watch", str(model), str(rows), "--learn", "all"]) == 0
    assert [json.loads(line)["row"] for line in capsys.readouterr().out.splitlines()] == [1, 3]
    (kept,) = (tmp_path / f"{model.name}.rejects.jsonl").read_text().splitlines()
    assert f"longer than the limit of {MAX_LINE_BYTES} bytes" in json.loads(kept)["reason"]
    assert len(kept) < MAX_LINE_BYTES + 1000
    rows.write_text("a" * (MAX_LINE_BYTES + 1))
    assert main(["watch", str(model), str(rows)]) == 1
    assert f"first line of the stream is longer than the limit of {MAX_LINE_BYTES} bytes" in capsys.readouterr().err


def test_objects_nested_too_deeply_are_bad_rows(tmp_path: Path) -> None:
    model, rows = iris_model(tmp_path), tmp_path / "rows.jsonl"
    flower = json.dumps(FLOWERS.iloc[0].to_dict())
    rows.write_text("\n".join([flower, '{"a": ' + "[" * 100_000, flower]))
    assert main(["watch", str(model), str(rows), "--quiet"]) == 0
    (kept,) = (tmp_path / f"{model.name}.rejects.jsonl").read_text().splitlines()
    assert "not JSON" in json.loads(kept)["reason"]


def test_columns_that_the_model_does_not_know_take_no_memory(tmp_path: Path, capsys: Captured) -> None:
    """Objects with other names in each line made a table with all of them."""
    model = iris_model(tmp_path)
    worker = StreamWorker(str(model), None, "name", str(tmp_path / "bad.jsonl"), LearningPolicy.none, 100)
    flower = FLOWERS.iloc[0].to_dict()
    others = ({f"{row} {column}": 1 for column in range(2000)} for row in range(100))
    start = time.perf_counter()
    worker.take([json.dumps({**flower, "name": "a", **other}).encode() for other in others])
    assert time.perf_counter() - start < 5
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ["a"] * 100


PEAK = """
import resource, sys
from sslart.cli import main
for command in ("fit", "predict", "update", "watch", "label"):  # they import what they need
    main([command, "--help"])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
code = main(sys.argv[1:])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("PEAK", code, after - before, file=sys.stderr)
"""


def peak_megabytes(*arguments: str, source: Any = None) -> tuple[int, float, str]:
    """Return the exit code, by how much a command raised the peak of memory, and what it printed as errors."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PEAK, *arguments],
        stdin=source,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    *errors, last = done.stderr.splitlines()
    _, code, kilobytes = last.split()
    return int(code), int(kilobytes) / 1024, "\n".join(errors)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(iris_model(tmp_path_factory.mktemp("model")))


HOSTILE: dict[str, tuple[bytes, bytes, str]] = {
    "a header": (b"", b"a" * MEGABYTE, "header of more than"),
    "names in a header": (b"", b"a," * (MEGABYTE // 2), "header of more than"),
    "quoted names in a header": (b"", b'"a",' * (MEGABYTE // 4), "header of more than"),
    "quotes in a header": (b'"', b'""' * (MEGABYTE // 2), "header of more than"),
    "a cell": (b"a,b\n1,", b"x" * MEGABYTE, "row of more than"),
    "a cell in quotes": (b'a,b\n1,"', b"x\n" * (MEGABYTE // 2), "row of more than"),
    "a cell of quotes": (b'a,b\n1,"', b'""' * (MEGABYTE // 2), "row of more than"),
    "cells": (b"a,b\n", b"1," * (MEGABYTE // 2), "than"),
}


@pytest.mark.stress
@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_packed_table_takes_little_memory_however_much_it_unpacks_to(
    name: str, model: str, tmp_path: Path
) -> None:
    start, content, words = HOSTILE[name]
    path = tmp_path / "table.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(600):
            file.write(content)
    assert path.stat().st_size < 4 * MEGABYTE
    code, megabytes, errors = peak_megabytes("predict", model, str(path))
    assert code == 1
    assert words in errors
    assert megabytes < 200, errors


@pytest.mark.stress
def test_a_line_of_72_megabytes_takes_watch_a_moment_and_little_memory(model: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    header, first, *_ = FLOWERS.to_csv(index=False).splitlines()
    with rows.open("w") as file:
        file.write(f"{header}\n{first}\n")
        for _ in range(72):
            file.write("5" * MEGABYTE)
        file.write(f"\n{first}\n")
    start = time.perf_counter()
    with rows.open() as source:
        code, megabytes, errors = peak_megabytes("watch", model, "--learn", "none", source=source)
    assert code == 0
    assert "2 rows predicted" in errors
    assert time.perf_counter() - start < 30  # most of it imports; it was 40 s for the line alone, now some 0.1 s
    assert megabytes < 150
