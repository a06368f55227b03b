"""Frames as one file that is written piece by piece: CSV, TSV, Parquet, JSON, JSON lines and Excel."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sslart._tables.files import arrow
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart._utils.text import csv_text, json_text, printable, with_texts
from sslart.cli._output import ESCAPED
from sslart.cli.output.sheets import EXCEL, excel_file, needs_openpyxl

TABS, PARQUET, LINES = (".tsv", ".tab"), (".parquet", ".pq"), (".jsonl", ".ndjson")
TEXTS = ("", ".csv", ".txt", *TABS)
KINDS = (*TEXTS, *PARQUET, ".json", *LINES, *EXCEL)


class Style(NamedTuple):
    """Style of cells in text output.

    Attributes
    ----------
    keep_formulas : bool
        Whether cells that a spreadsheet computes stay as they are.
    visible : bool
        Whether every character is visible, as for a person who reads it on a terminal.
    separator, decimal : str
        Of CSV: what separates cells, and what stands in numbers.
    """

    keep_formulas: bool = False
    visible: bool = False
    separator: str = ","
    decimal: str = "."


def check_kind(target: str) -> None:
    """Raise an error with a remedy if a file name has an unsupported extension."""
    kind = Path(target).suffix.lower()
    if target != STANDARD and kind not in KINDS:
        raise ValueError(
            f"Tables are not written as {kind}: end the name of {target} with .csv, .tsv, .parquet, .xlsx, .json or "
            ".jsonl."
        )
    if kind in EXCEL:
        needs_openpyxl(target)


def written(frames: Iterable[Any], kind: str, types: Mapping[str, Any], style: Style) -> Iterator[bytes]:
    """Yield frames with the same columns as a file, of a kind given by the ending of its name.

    JSON is always visible, and the same when it is read back. CSV is visible where a person may read it as it is.

    Parameters
    ----------
    frames : iterable of DataFrame
    kind : str
        One of `KINDS`.
    types : mapping
        The types of columns in Parquet, where they are not text.
    style : Style
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


def _text(frames: Iterable[Any], style: Style) -> Iterator[bytes]:
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
    """Return rows as values for JSON: None where missing, and text for types that JSON lacks."""
    is_blank = {name: frame[name].isna().tolist() for name in frame}
    columns = {
        name: [None if blank else _plain(one) for one, blank in zip(frame[name].tolist(), is_blank[name], strict=True)]
        for name in frame
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _plain(value: Any) -> Any:
    is_number = isinstance(value, int) or (isinstance(value, float) and abs(value) < float("inf"))
    return value if isinstance(value, str) or is_number else str(value)


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
    """Return the types of the columns of predictions in Parquet."""
    pyarrow = arrow("")
    of_class = {"i": pyarrow.int64(), "b": pyarrow.bool_()}.get(classes.dtype.kind, pyarrow.string())
    types = {"class": of_class, "box": pyarrow.int64(), "abstained": pyarrow.bool_(), "novel": pyarrow.bool_()}
    return types | dict.fromkeys(("probability", "novelty"), pyarrow.float64())


class Buffer(io.RawIOBase):
    """A write-only buffer that can be drained while a writer fills it."""

    def __init__(self) -> None:
        self._written, self._position = bytearray(), 0

    def writable(self) -> bool:
        """Return True: the buffer can be written."""
        return True

    def tell(self) -> int:
        """Return the number of bytes written so far."""
        return self._position

    def write(self, content: Any) -> int:
        """Keep bytes until they are taken; return how many."""
        self._written += content
        self._position += len(content)
        return len(content)

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        taken, self._written = bytes(self._written), bytearray()
        return taken
