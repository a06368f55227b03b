"""All rows that a model was given, in their order, with the labels in force: uploaded, sent, or kept by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sslart._tables.cells import labels as labels_in
from sslart._tables.columns import blank_rows, learnt_columns, samples_for
from sslart._tables.files import pandas
from sslart._tables.sampling import sample_rows
from sslart._utils.notes import collected_notes
from sslart.server.models._frames import frame_of
from sslart.server.models._published import Published
from sslart.server.models._rows import as_class, text_frame
from sslart.server.models._settings import ModelSettings
from sslart.server.store._journal import all_records
from sslart.server.store._labels import given_labels
from sslart.server.store._records import LEARN, Record
from sslart.server.store._retention import kept_rows
from sslart.server.store._uploads import Upload, parts, uploads

LABEL = "label"  # where the settings name no label column

Progress = Callable[[str, float], None]


class Before(NamedTuple):
    """The rows of a model that came before a record: their number is that of the first row after them."""

    model: int
    sequence: int
    n_rows: int


class _Piece(NamedTuple):
    """Rows from a number on; `is_table`: of an uploaded table, whose rows are always kept."""

    first_row: int
    is_table: bool
    read: Callable[[], Iterator[Any]]


def label_column(settings: ModelSettings) -> str:
    """Return the name of the column that has the labels."""
    return LABEL if settings.label is None else settings.label


def rows_with_labels(
    connection: Any, before: Before, keep_rows: int, label: str, progress: Progress | None = None
) -> Iterator[Any]:
    """Yield frames of rows in the order of their numbers, each with a column of the labels in force.

    Of rows that are older than the newest `keep_rows`, those with a label and those of uploaded tables are yielded,
    whether the others are still there or not.
    """
    given = given_labels(connection, before.model, before.sequence)
    n_read = n_yielded = 0
    for piece in _pieces(connection, before):
        first_row = piece.first_row
        for frame in piece.read():
            rows = range(first_row, first_row + len(frame))
            own = labels_in(frame[label]) if label in frame.columns else [None] * len(frame)
            labels = [given.get(row, one) for row, one in zip(rows, own, strict=True)]
            is_kept = [piece.is_table or row >= before.n_rows - keep_rows or row in given for row in rows]
            kept = frame.assign(**{label: pandas().Series(labels, dtype=object, index=frame.index)})
            kept = kept if all(is_kept) else kept[is_kept]
            if len(kept):
                yield kept.set_axis(pandas().RangeIndex(n_yielded, n_yielded + len(kept)))
            n_yielded, n_read, first_row = n_yielded + len(kept), n_read + len(frame), first_row + len(frame)
            if progress is not None:
                progress("reading", min(n_read / max(before.n_rows, 1), 1.0))
    if not n_yielded:
        raise ValueError("The model was given no rows yet: send a table, or rows to learn.")


def _pieces(connection: Any, before: Before) -> list[_Piece]:
    model, sequence, n_rows = before
    found = [_uploaded(connection, upload) for upload in uploads(connection, model, sequence) if upload.n_rows]
    found += [_sent(one) for one in all_records(connection, model, (LEARN,)) if one.sequence < sequence]
    found += [_kept(row, cells) for row, cells in kept_rows(connection, model) if row < n_rows]
    return sorted(found, key=lambda one: one.first_row)


def _uploaded(connection: Any, upload: Upload) -> _Piece:
    return _Piece(upload.first_row, True, lambda: (frame_of(part.content) for part in parts(connection, upload.id)))


def _sent(record: Record) -> _Piece:
    return _Piece(record.first_row, False, lambda: iter([text_frame(record.content()["rows"])]))


def _kept(row: int, cells: dict[str, Any]) -> _Piece:
    return _Piece(row, False, lambda: iter([text_frame([cells])]))


def sample_of(connection: Any, before: Before, published: Published, most: int) -> tuple[Any, list[Any]]:
    """Return some of the rows as samples of a model, labelled ones first, and their labels."""
    label = label_column(published.settings)
    with collected_notes():
        frame = sample_rows(rows_with_labels(connection, before, before.n_rows, label), label, most, 0).frame
        names = learnt_columns(published.model)
        frame = frame.reindex(columns=[*names, label])
        frame = frame[~blank_rows(frame, names, "the rows")].reset_index(drop=True)
        samples = samples_for(published.model, frame[names], "the rows")
    return samples, [as_class(one, published.view.classes) for one in labels_in(frame[label])]
