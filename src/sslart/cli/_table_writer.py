"""Write frames to one file piece by piece: CSV, TSV, Parquet, JSON, JSON lines and Excel."""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from sslart._tables import arrow
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart._utils.optional import install_command, optional
from sslart._utils.text import csv_text, json_text, printable, with_texts
from sslart.cli._output import ESCAPED

TABS, PARQUET, LINES = (".tsv", ".tab"), (".parquet", ".pq"), (".jsonl", ".ndjson")
EXCEL = (".xlsx",)
TEXTS = ("", ".csv", ".txt", *TABS)
KINDS = (*TEXTS, *PARQUET, ".json", *LINES, *EXCEL)
MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = (
    2**20,
    2**14,
    32_767,
)  # Excel: rows (with header) and columns of a sheet, characters of a cell
MAX_WHOLE = 2**53  # Excel stores numbers as float64: larger integers lose digits
BYTES_AT_ONCE = 2**20
CURE = "write CSV or Parquet instead"


class CellStyle(NamedTuple):
    """Style of cells in text output."""

    keep_formulas: bool = False  # no apostrophe before cells that a spreadsheet would compute
    visible: bool = False  # escape control characters, as for a terminal
    separator: str = ","
    decimal: str = "."


def check_kind(target: str) -> None:
    """Raise an error with a remedy for unsupported file extensions."""
    kind = Path(target).suffix.lower()
    if target != STANDARD and kind not in KINDS:
        raise ValueError(
            f"Cannot write a table as {kind}: give {target} the extension .csv, .tsv, .parquet, .xlsx, .json or .jsonl."
        )
    if kind in EXCEL:
        try:
            optional("openpyxl", "excel")
        except ImportError as error:
            raise ImportError(
                f"Writing the spreadsheet {target} needs openpyxl. Give a name that ends with .csv, or "
                f"{install_command('excel', 'openpyxl')}"
            ) from error


def written(frames: Iterable[Any], kind: str, types: Mapping[str, Any], style: CellStyle) -> Iterator[bytes]:
    """Yield the bytes of a file with these frames, in the format of the file extension `kind`.

    `types` are the Parquet types of columns that are not text. JSON always escapes control characters; text formats do
    so if `style.visible`.
    """
    if kind in PARQUET:
        yield from _parquet(frames, types)
    elif kind in EXCEL:
        yield from excel_file(frames, keep_formulas=style.keep_formulas)
    elif kind == ".json":
        yield from _json(frames)
    elif kind in LINES:
        yield from (f"{json_text(one)}\n".encode() for frame in frames for one in records(frame))
    else:
        yield from _text(frames, style._replace(separator="\t") if kind in TABS else style)


def _text(frames: Iterable[Any], style: CellStyle) -> Iterator[bytes]:
    for number, frame in enumerate(frames):
        shown = with_texts(frame, _visible_cell) if style.visible else frame
        yield csv_text(
            shown,
            keep_formulas=style.keep_formulas,
            index=False,
            header=number == 0,
            sep=style.separator,
            decimal=style.decimal,
        ).encode()


def _visible_cell(text: str) -> str:
    visible = printable(text)
    if visible != text:
        note(ESCAPED)
    return visible


def records(frame: Any) -> list[dict[str, Any]]:
    """Return rows as JSON values: None where missing, and text for types that JSON lacks."""

    def cell(value: Any, blank: bool) -> Any:
        is_number = isinstance(value, int) or (isinstance(value, float) and abs(value) < float("inf"))
        return None if blank else value if isinstance(value, str) or is_number else str(value)

    columns = [map(cell, column.tolist(), column.isna().tolist()) for _, column in frame.items()]
    return [dict(zip(frame.columns, values, strict=True)) for values in zip(*columns, strict=True)]


def _json(frames: Iterable[Any]) -> Iterator[bytes]:
    start = "[\n"
    for frame in frames:
        for one in records(frame):
            yield f"{start}  {json_text(one)}".encode()
            start = ",\n"
    yield b"\n]\n"


def _parquet(frames: Iterable[Any], types: Mapping[str, Any]) -> Iterator[bytes]:
    pyarrow, sink, writer, schema = arrow(""), Buffer(), None, None
    for frame in frames:
        if writer is None:
            schema = pyarrow.schema([(name, types.get(name) or pyarrow.string()) for name in frame.columns])
            writer = arrow(".parquet").ParquetWriter(sink, schema)
        texts = {name: _texts(frame[name]) for name in frame if types.get(name) is None and frame[name].dtype == object}
        writer.write_table(pyarrow.Table.from_pandas(frame.assign(**texts), schema, preserve_index=False))
        yield sink.taken()
    if writer is not None:
        writer.close()
    yield sink.taken()


def _texts(column: Any) -> list[str | None]:
    return [None if blank else str(one) for one, blank in zip(column, column.isna(), strict=True)]


def prediction_types(classes: Any) -> dict[str, Any]:
    """Return the Parquet types of the columns of predictions."""
    pyarrow = arrow("")
    of_class = {"i": pyarrow.int64(), "b": pyarrow.bool_()}.get(classes.dtype.kind, pyarrow.string())
    types = {"class": of_class, "box": pyarrow.int64(), "abstained": pyarrow.bool_(), "novel": pyarrow.bool_()}
    return types | dict.fromkeys(("probability", "novelty"), pyarrow.float64())


class Buffer(io.BytesIO):
    """A buffer that can be drained while a writer fills it."""

    _n_taken = 0

    def tell(self) -> int:
        """Return the number of bytes written so far, including those already taken."""
        return self._n_taken + super().tell()

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        taken = self.getvalue()
        self._n_taken += len(taken)
        self.seek(0)
        self.truncate()
        return taken


def excel_file(frames: Iterable[Any], *, keep_formulas: bool) -> Iterator[bytes]:
    """Yield frames with the same columns as one sheet; raise a ValueError if they exceed the size of a sheet."""
    book = optional("openpyxl", "excel").Workbook(write_only=True)
    with tempfile.TemporaryFile() as file:
        try:
            _fill(book.create_sheet("sslart"), frames, keep_formulas)
        finally:
            book.save(file)  # closes the sheet, even if it is incomplete
        file.seek(0)
        while content := file.read(BYTES_AT_ONCE):
            yield content


def _fill(sheet: Any, frames: Iterable[Any], keep_formulas: bool) -> None:
    cells, n_rows = optional("openpyxl.cell", "excel"), 1

    def cell(value: Any) -> Any:
        made = cells.WriteOnlyCell(sheet, _sheet_cell(value))
        if isinstance(value, str) and not keep_formulas:
            made.data_type = "s"
        return made

    for number, frame in enumerate(frames):
        n_rows += len(frame)
        for found, most, things in ((len(frame.columns), MAX_COLUMNS, "columns"), (n_rows, MAX_ROWS, "rows")):
            if found > most:
                raise ValueError(f"This table has more than the {most} {things} that an Excel sheet allows: {CURE}.")
        if number == 0:
            sheet.append([cell(str(name)) for name in frame.columns])
        rows = zip(*(column.tolist() for _, column in frame.items()), strict=True)
        for row, is_blank in zip(rows, frame.isna().to_numpy().tolist(), strict=True):
            sheet.append([None if blank else cell(value) for value, blank in zip(row, is_blank, strict=True)])


def _sheet_cell(value: Any) -> Any:
    """Return a value as an Excel cell; control characters, which Excel forbids, are escaped."""
    if isinstance(value, int | float) and abs(value) <= (MAX_WHOLE if isinstance(value, int) else sys.float_info.max):
        return value
    if isinstance(value, date | time | timedelta) and getattr(value, "tzinfo", None) is None:
        return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    text = "".join(one if one in "\n\t" else printable(one) for one in str(value))
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"A cell has more than the {MAX_CHARACTERS} characters that Excel allows: {CURE}.")
    return text
