"""Stored rows: uploaded files in parts, all rows of a model with their current labels, and rows by number."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from sslart._mapping.model_view import view_of
from sslart._tables import arrow, pandas
from sslart._tables import cells as table_cells
from sslart._tables.cells import present_texts
from sslart._tables.columns import blank_rows, check_columns, samples_for
from sslart._tables.files import read_pieces, sample_rows
from sslart._tables.training_table import TrainingTable, training_table_of
from sslart._utils.cache import Cache
from sslart._utils.notes import collected_notes, note
from sslart.persistence import model_from_bytes
from sslart.server.models._published import Published, as_class, text_frame
from sslart.server.models._settings import ModelSettings
from sslart.server.store import Store
from sslart.server.store._files import (
    Part,
    Upload,
    add_part,
    begin_upload,
    part_at,
    part_start,
    parts,
    remove_unused,
    upload_with_row,
    uploads,
)
from sslart.server.store._journal import LAST, LEARN, Record, learn_records, record_with_row, row_with_id
from sslart.server.store._labels import given_label, given_labels, kept_row, kept_rows, origins

MODEL_FILE = b"\x89SSLART\n"
BYTES_PER_PART = 2**20
ROWS_PER_PART = 10_000
ROWS_TOGETHER = 10_000
LABEL = "labels given one by one"  # column name used if the settings name none
ANSWER, CHOSEN, YES = "answers of labels", "rows chosen to be labelled", "yes"  # columns, and the value of the second
NOTHING: Mapping[Any, Any] = MappingProxyType({})
MAX_DIGITS = 20

Progress = Callable[[str, float], None]
Some = TypeVar("Some", bound=Any)  # a sequence that can be sliced
Result = TypeVar("Result")


def store_file(
    store: Store, path: Path, encoding: str | None, named: Sequence[str], max_cells: int
) -> tuple[int, bool]:
    """Store an uploaded file; return its number, and whether it is a model file.

    A table must have the columns named in the settings, and not too many cells.
    """
    with path.open("rb") as file:
        is_model = file.read(len(MODEL_FILE)) == MODEL_FILE
    upload = store.submit_own(begin_upload).result()
    try:
        if is_model:
            found = _parts_of_model(path)
        else:
            found = _parts_of_table(within_limits(read_pieces(str(path), encoding, cells_only=True), named, max_cells))
        for part in found:
            store.submit_own(partial(add_part, upload=upload, part=part)).result()
    except BaseException:
        store.submit_own(partial(remove_unused, upload=upload))
        raise
    return upload, is_model


def _parts_of_model(path: Path) -> Iterator[Part]:
    """Yield the file of a fitted classifier as parts of an upload, or raise a ValueError."""
    content = path.read_bytes()
    try:
        view_of(model_from_bytes(content, "The model file"))
    except TypeError as error:
        raise ValueError(f"The file does not contain a classifier: {error}") from error
    for start in range(0, len(content), BYTES_PER_PART):
        yield Part(start, 0, content[start : start + BYTES_PER_PART])


def _parts_of_table(pieces: Iterator[Any]) -> Iterator[Part]:
    """Yield the frames of a table as parts of an upload."""
    first_row = 0
    for frame in pieces:
        for start in range(0, len(frame), ROWS_PER_PART):
            some = frame.iloc[start : start + ROWS_PER_PART]
            yield Part(first_row, len(some), frame_bytes(some))
            first_row += len(some)


def within_limits(pieces: Iterator[Any], named: Sequence[str], max_cells: int) -> Iterator[Any]:
    """Yield frames; raise an error if they have too many cells in total, even if the file is small."""
    n_cells = 0
    for frame in pieces:
        check_columns(frame.columns, named, "the table")
        n_cells += frame.size
        if n_cells > max_cells:
            raise ValueError(
                f"The table has more cells than the limit of {max_cells}: send fewer rows or columns, or start "
                "the service with a higher --max-table-cells."
            )
        yield frame


def frame_bytes(frame: Any) -> bytes:
    """Return a frame as bytes; cells of several types in one column become text."""
    pyarrow, ipc = arrow(""), arrow(".ipc")
    columns = {}
    for name in frame.columns:
        try:
            column = pyarrow.array(frame[name], from_pandas=True)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
            texts = [None if _is_missing(value) else str(value) for value in frame[name].tolist()]
            column = pyarrow.array(texts, pyarrow.string())
        try:
            column.validate(full=True)  # files with types can hold any bytes in place of text
        except pyarrow.ArrowInvalid as error:
            raise ValueError(f"Column {name!r} contains text that is not UTF-8: write the file again.") from error
        columns[str(name)] = column
    table, sink = pyarrow.table(columns), pyarrow.BufferOutputStream()
    with ipc.new_stream(sink, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _is_missing(value: Any) -> bool:
    return bool(pandas().api.types.is_scalar(value) and pandas().isna(value))


def frame_of(content: bytes) -> Any:
    """Return the frame that `frame_bytes` was given."""
    table = arrow(".ipc").open_stream(arrow("").BufferReader(content)).read_all()
    return table.to_pandas(ignore_metadata=True, integer_object_nulls=True)


def rows_in(frame: Any) -> list[dict[str, Any]]:
    """Return all rows of a frame as JSON values; dates as text."""
    columns = {str(name): [_cell(value) for value in frame[name].tolist()] for name in frame.columns}
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _cell(value: Any) -> Any:
    if _is_missing(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | bool | int | float) else str(value)


def by_halves(work: Callable[[Some], Result], some: Some) -> Iterator[tuple[Some, Result | None]]:
    """Process a sequence; if it contains a bad element, bisect it, and yield None for the element."""
    try:
        yield some, work(some)
    except (ValueError, TypeError):
        half = len(some) // 2
        if not half:
            yield some, None
            return
        yield from by_halves(work, some[:half])
        yield from by_halves(work, some[half:])


def answer_name(sequence: int) -> str:
    """Return the name of an answer that labelled several rows."""
    return f"answer {sequence}"


class StoredRows(NamedTuple):
    """The rows of a model before a record, as stored.

    Of rows older than the newest `keep_rows`, only labelled ones and those of uploaded tables count, even if others are
    still stored.
    """

    connection: Any
    model: int
    sequence: int
    n_rows: int  # the number of the first row after them
    keep_rows: int
    settings: ModelSettings
    changed: Mapping[int, Any] = NOTHING  # labels by row to try, in place of those in force
    chosen: frozenset[int] = frozenset()  # rows among these with a new label that were not drawn at random

    @classmethod
    def before(cls, connection: Any, fit: Record) -> StoredRows:
        """Return the rows that a fit record uses."""
        content = fit.content()
        settings = ModelSettings.model_validate(content["settings"])
        return cls(connection, fit.model, fit.sequence, fit.first_row, content["keep_rows"], settings)

    @property
    def label(self) -> str:
        """The name of the column that has the labels."""
        return LABEL if self.settings.label is None else self.settings.label

    def given_labels(self) -> dict[int, Any]:
        """Return the current label of each row that was labelled individually."""
        return given_labels(self.connection, self.model, self.sequence) | dict(self.changed)

    def labelled(self, progress: Progress | None = None) -> Iterator[tuple[Sequence[int], Any]]:
        """Yield row numbers in order with a frame of these rows, including a column of current labels."""
        given, is_empty = self.given_labels(), True
        for rows, frame, own in self.pieces(also=given):
            labels = [given.get(row, one) for row, one in zip(rows, own, strict=True)]
            yield rows, frame.assign(**{self.label: pandas().Series(labels, dtype=object, index=frame.index)})
            is_empty = False
            if progress is not None:
                progress("reading", min((rows[-1] + 1) / max(self.n_rows, 1), 1.0))
        if is_empty:
            raise ValueError("The model has no rows yet: send a table, or rows to learn.")

    def pieces(
        self, first_row: int = 0, also: Container[int] | None = None
    ) -> Iterator[tuple[Sequence[int], Any, list[Any]]]:
        """Yield row numbers in order, the rows, and their original labels, from a given row on.

        Uploaded tables are yielded in their parts, single rows in batches; `also` replaces the labelled rows.
        """
        wanted, oldest = self.given_labels() if also is None else also, self.n_rows - self.keep_rows
        single = (
            (row, cells) for row, cells in self._single() if row >= first_row and (row >= oldest or row in wanted)
        )
        for rows, frame in self._frames(single, first_row):
            own = present_texts(frame[self.label]) if self.label in frame.columns else [None] * len(frame)
            yield rows, frame, own

    def _frames(self, single: Iterator[tuple[int, Any]], first_row: int) -> Iterator[tuple[Sequence[int], Any]]:
        uploaded = uploads(self.connection, self.model, self.sequence)
        tables = [one for one in uploaded if one.n_rows and one.first_row + one.n_rows > first_row]
        waiting = next(single, None)
        for table in [*tables, None]:
            end = self.n_rows if table is None else table.first_row
            while waiting is not None and waiting[0] < end:
                together = [waiting]
                while (waiting := next(single, None)) is not None and waiting[0] < end:
                    if len(together) == ROWS_TOGETHER:
                        break
                    together.append(waiting)
                yield [row for row, _ in together], text_frame([cells for _, cells in together])
            if table is not None:
                for part in parts(self.connection, table.id):
                    start = table.first_row + part.first_row
                    yield range(start, start + part.n_rows), frame_of(part.content)

    def _single(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the rows that were sent, and those that are kept without their record, in order."""
        kept = iter(kept_rows(self.connection, self.model))
        sent = (
            (record.first_row + place, cells)
            for record in learn_records(self.connection, self.model)
            if record.sequence < self.sequence
            for place, cells in enumerate(record.content()["rows"])
        )
        return heapq.merge(kept, sent, key=lambda one: one[0])

    def table_to_fit(self, progress: Progress | None = None, *, together: bool = False) -> TrainingTable:
        """Return the rows of a fit; `together` marks the changed labels as one answer about similar rows."""
        settings, beside = self.settings, dict[str, Mapping[int, str]]()
        columns = settings.columns(self.label)
        if settings.takes_groups:
            answers, chosen = origins(self.connection, self.model, self.sequence)
            answers |= dict.fromkeys(self.changed, self.sequence) if together else {}
            chosen |= self.chosen
            beside = {
                ANSWER: {row: answer_name(sequence) for row, sequence in answers.items()},
                CHOSEN: dict.fromkeys(chosen, YES),
            }
            columns = columns._replace(answer=ANSWER, chosen=CHOSEN)
        frame, n_rows = self.sample(settings.max_fit_rows, progress, beside)
        if len(frame) < n_rows:
            note(f"Fitted to {len(frame)} of {n_rows} rows, labelled ones first: max_fit_rows sets the number.")
        return training_table_of(frame, columns, "the table", need_labels=False)

    def sample(
        self, most: int, progress: Progress | None = None, beside: Mapping[str, Mapping[int, str]] = NOTHING
    ) -> tuple[Any, int]:
        """Return some rows, labelled ones first, and the total number.

        `beside`: further columns, each with its values by row; blank for other rows.
        """

        def pieces() -> Iterator[Any]:
            n_yielded = 0
            for rows, frame in self.labelled(progress):
                columns = {
                    name: pandas().Series([own.get(row) for row in rows], dtype=object, index=frame.index)
                    for name, own in beside.items()
                }
                frame = frame.assign(**columns)
                yield frame.set_axis(pandas().RangeIndex(n_yielded, n_yielded + len(frame)))
                n_yielded += len(frame)

        return sample_rows(pieces(), self.label, most, 0)

    def samples_for(self, published: Published, most: int) -> tuple[Any, list[Any]]:
        """Return some of the rows as samples of a model, labelled ones first, and their labels."""
        with collected_notes():
            names = published.reader.names
            frame = self._replace(keep_rows=self.n_rows).sample(most)[0].reindex(columns=[*names, self.label])
            frame = frame[~blank_rows(frame, names, "the rows")].reset_index(drop=True)
            samples = samples_for(published.model, frame[names], "the rows")
        return samples, [as_class(one, published.view.classes) for one in present_texts(frame[self.label])]


class NoSuchRowError(LookupError):
    """Raised for a row that does not exist or is no longer stored."""


@dataclass(frozen=True)
class FoundRow:
    """A stored row with its current label, and its decision if it was sent to `decide`."""

    row: int
    cells: dict[str, Any]
    label: Any
    decision: dict[str, Any] | None = None


class RowFinder:
    """Look up stored rows; recently read parts of tables are cached."""

    def __init__(self) -> None:
        self._cache = Cache()

    def find(self, connection: Any, model: int, settings: ModelSettings, which: Sequence[int | str]) -> list[FoundRow]:
        """Return rows by their numbers or IDs; raise a NoSuchRowError if one is missing."""
        numbers = [self._number(connection, model, settings, one) for one in which]
        found: dict[int, FoundRow | None] = {}
        for row in sorted(set(numbers)):  # those in one part of a table one after another
            found[row] = self._find(connection, model, settings, row) if 0 <= row < 2**63 else None
        rows = []
        for number, one in zip(numbers, which, strict=True):
            there = found[number]
            if there is None:
                raise NoSuchRowError(f"There is no row {one!r}, or it is no longer stored.")
            rows.append(there)
        return rows

    def _number(self, connection: Any, model: int, settings: ModelSettings, which: int | str) -> int:
        """Return the number of a row given by its number or ID; -1 if no row has the ID."""
        if isinstance(which, int):
            return which
        named = row_with_id(connection, model, which)
        if named is None and settings.id is not None:
            named = self._in_tables(connection, model, settings.id, which)
        if named is not None:
            return named
        return int(which) if which.isdecimal() and len(which) < MAX_DIGITS else -1

    def _in_tables(self, connection: Any, model: int, column: str, name: str) -> int | None:
        """Return the first row of a table with an ID in a column; None if there is none."""
        for upload in uploads(connection, model, LAST):
            key = ("names", upload.id, column)
            known = self._cache.get_or_compute(key, partial(_names_in, connection, upload, column))
            if name in known:
                return upload.first_row + known[name]
        return None

    def _find(self, connection: Any, model: int, settings: ModelSettings, row: int) -> FoundRow | None:
        is_given, label = given_label(connection, model, row)
        record = record_with_row(connection, model, row)
        if record is not None and record.kind == LEARN:
            content, place = record.content(), row - record.first_row
            decisions = content.get("decisions")
            return FoundRow(row, content["rows"][place], label, None if decisions is None else decisions[place])
        upload = upload_with_row(connection, model, row)
        if upload is not None:
            start = part_start(connection, upload.id, row - upload.first_row)
            key = ("part", upload.id, start)
            frame = self._cache.get_or_compute(key, lambda: frame_of(part_at(connection, upload.id, start).content))
            place = row - upload.first_row - start
            if not is_given and settings.label in frame.columns:
                label = table_cells.present_texts(frame[settings.label].iloc[place : place + 1])[0]
            cells = rows_in(frame.iloc[place : place + 1])[0]
            return FoundRow(row, {name: cell for name, cell in cells.items() if name != settings.label}, label)
        kept = kept_row(connection, model, row)
        return None if kept is None else FoundRow(row, kept, label)


def _names_in(connection: Any, upload: Upload, column: str) -> dict[str, int]:
    """Return the first row of each ID in a column of a table."""
    found: dict[str, int] = {}
    for part in parts(connection, upload.id) if upload.n_rows else ():
        frame = frame_of(part.content)
        if column in frame.columns:
            for place, name in enumerate(table_cells.names(frame[column])):
                if name is not None:
                    found.setdefault(name, part.first_row + place)
    return found
