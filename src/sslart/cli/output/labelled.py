"""The table of the user, with the labels that a person has given in its column of labels."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from sslart._tables import cells, files
from sslart._tables.encodings import Utf8Text
from sslart._tables.files import BYTES_PER_PIECE, arrow
from sslart._tables.text_rows import rows_in, whole_rows, with_cell
from sslart._utils.files import FileIdentity, write_atomically
from sslart._utils.text import as_text_cell
from sslart.cli._path_lock import InUseError
from sslart.cli.output.appended import own_types
from sslart.cli.output.tables import PARQUET, TEXTS, Buffer, Style, check_kind, written

GZIP = 16 + zlib.MAX_WBITS


class LabelledTable:
    """A table to which labels are added: after each it is written whole, or to another file.

    In CSV, TSV and Parquet all else stays as it is, text byte for byte.

    Parameters
    ----------
    data : str
        The table.
    column : str
        Its column with the labels.
    encoding : str or None
        Of text.
    target : str, default=None
        Another file, of a kind given by its name; if it is None, the table itself.
    """

    def __init__(self, data: str, column: str, encoding: str | None, target: str | None = None) -> None:
        self._data, self._column, self._encoding = data, column, encoding
        self.target = data if target is None else target
        self._labels: dict[int, str] = {}
        with files.opened(data, False) as file:
            self._kind = files.kind_of(file, data)
        if target is not None:
            check_kind(target)
            if Path(target).exists():
                raise FileExistsError(f"{target} exists, perhaps with labels: give another name, or label that table.")
        elif self._kind not in ("", "Parquet"):
            raise ValueError(
                f"{data} is of the kind {self._kind}, of which only the cells would be kept, and not all else: write a "
                "new table with --write-to FILE, such as labelled.xlsx or labelled.csv."
            )
        self._known = FileIdentity.of(Path(data))

    def add(self, rows: Sequence[int], label: Any) -> None:
        """Write a label for some rows, counted from 1 below the header; the table has it, or all is as before."""
        self._labels.update(dict.fromkeys(rows, str(label)))
        try:
            write_atomically(Path(self.target), self._content(), self._check)
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{label!r} cannot be written in the encoding of {self._data}, which is {error.encoding}: save the "
                "table as CSV (UTF-8) first."
            ) from error
        if self.target == self._data:
            self._known, self._labels = FileIdentity.of(Path(self._data)), {}

    def _check(self, _: Path) -> None:
        if FileIdentity.of(Path(self._data)) != self._known:
            rows = ", ".join(f"row {row}: {label}" for row, label in self._labels.items())
            raise InUseError(
                f"Another program has changed {self._data} since this command began, so that rows may have moved: it "
                f"is left as it is, without these labels ({rows}). Run this command again."
            )

    def _content(self) -> Iterator[bytes]:
        """Yield the table with the labels, of the kind of the target."""
        kind, is_itself = Path(self.target).suffix.lower(), self.target == self._data
        with files.opened(self._data, False) as file:
            if not self._kind and (is_itself or kind in TEXTS):
                content = self._text(file)
                yield from _packed(content) if is_itself and isinstance(file, gzip.GzipFile) else content
            elif self._kind == "Parquet" and (is_itself or kind in PARQUET):
                yield from self._parquet(file)
            else:
                yield from self._frames(kind)

    def _text(self, file: BinaryIO) -> Iterator[bytes]:
        text = Utf8Text(file, self._data, self._encoding)
        head = files.read_header(text, self._data)
        names = cells.header(head.row, head.separator, self._data)
        yield text.encoded(head.before + head.row)
        place, number = names.index(self._column), 0
        for rows in whole_rows(text, head.separator, BYTES_PER_PIECE, self._data, head.after):
            parts = []
            for row in rows_in(rows, head.separator):
                is_row = bool(row.strip(b"\r\n"))
                number += is_row
                label = self._labels.get(number) if is_row else None
                parts.append(row if label is None else with_cell(row, head.separator, place, as_text_cell(label)))
            yield text.encoded(b"".join(parts))

    def _parquet(self, file: BinaryIO) -> Iterator[bytes]:
        pyarrow, parquet, sink, number = arrow(""), arrow(".parquet"), Buffer(), 0
        source = parquet.ParquetFile(file)
        schema, place = source.schema_arrow, source.schema_arrow.get_field_index(self._column)
        if pyarrow.types.is_null(schema.field(place).type):
            schema = schema.set(place, schema.field(place).with_type(pyarrow.string()))
        packed = source.metadata.row_group(0).column(0).compression
        with parquet.ParquetWriter(sink, schema, compression=packed.lower().replace("uncompressed", "none")) as writer:
            for group in range(source.num_row_groups):
                table = source.read_row_group(group)
                labels = table.column(place).to_pylist()
                found = [self._labels.get(number + row) for row in range(1, table.num_rows + 1)]
                number += table.num_rows
                new = _of_type([label or old for label, old in zip(found, labels, strict=True)], schema.field(place))
                writer.write_table(table.set_column(place, schema.field(place), new), row_group_size=table.num_rows)
                yield sink.taken()
        yield sink.taken()

    def _frames(self, kind: str) -> Iterator[bytes]:
        pieces = files.read_originals(self._data, self._encoding)
        first = next(pieces)
        frames = map(self._labelled, chain([first], pieces))
        yield from written(frames, kind, own_types(first) | {self._column: None}, Style())

    def _labelled(self, piece: files.Piece) -> Any:
        frame = piece.as_written.set_axis(piece.frame.columns, axis=1)
        labels = [self._labels.get(row + 1) for row in piece.frame.index]
        present = cells.texts(frame[self._column])
        new = files.pandas().Series([label or old for label, old in zip(labels, present, strict=True)], dtype=object)
        return frame.reset_index(drop=True).assign(**{self._column: new})


def _of_type(labels: list[Any], field: Any) -> Any:
    """Return labels as a column of Parquet, or raise a ValueError where one is not of the type of the column."""
    pyarrow = arrow("")
    kind = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
    try:
        values = [label if label is None or not isinstance(label, str) else _value(label, kind) for label in labels]
        array = pyarrow.array(values, kind)
        return array.dictionary_encode().cast(field.type) if kind != field.type else array
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, ValueError) as error:
        raise ValueError(
            f"A label does not fit column {field.name!r}, which holds {kind}: write a new table with --write-to FILE, "
            "such as labelled.csv."
        ) from error


def _value(label: str, kind: Any) -> Any:
    types = arrow("").types
    if types.is_integer(kind) or types.is_floating(kind):
        return float(label) if types.is_floating(kind) else int(label)
    return label == "True" if types.is_boolean(kind) and label in ("True", "False") else label


def _packed(content: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=GZIP)
    for part in content:
        yield packer.compress(part)
    yield packer.flush()
