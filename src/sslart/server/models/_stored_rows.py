"""All rows that a model was given, in their order, with the labels in force: uploaded, sent, or kept by themselves."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sslart._tables import pandas
from sslart._tables.cells import labels as labels_in
from sslart._tables.columns import blank_rows, samples_for
from sslart._tables.files import sample_rows
from sslart._utils.notes import collected_notes
from sslart.server.models._frames import frame_of
from sslart.server.models._published import Published
from sslart.server.models._rows import as_class, text_frame
from sslart.server.models._settings import ModelSettings
from sslart.server.store._journal import all_records
from sslart.server.store._labels import given_labels
from sslart.server.store._records import LEARN
from sslart.server.store._retention import kept_rows
from sslart.server.store._uploads import parts, uploads

ROWS_TOGETHER = 10_000
LABEL = "labels given one by one"  # stands for a column where the settings name none
TOGETHER = "labels given together"  # likewise for that of groups

Progress = Callable[[str, float], None]


class Before(NamedTuple):
    """The rows of a model that came before a record: their number is that of the first row after them."""

    model: int
    sequence: int
    n_rows: int


def label_column(settings: ModelSettings) -> str:
    """Return the name of the column that has the labels."""
    return LABEL if settings.label is None else settings.label


def rows_with_labels(
    connection: Any,
    before: Before,
    keep_rows: int,
    label: str,
    progress: Progress | None = None,
    changed: Mapping[int, Any] | None = None,
    groups: Mapping[int, str] | None = None,
) -> Iterator[Any]:
    """Yield the frames of `numbered_rows` with labels; their index numbers the yielded rows from 0.

    With `groups`, the group of some rows, there is a column of groups in which any other row is one by itself.
    """
    n_yielded = 0
    for rows, frame in numbered_rows(connection, before, keep_rows, label, progress, changed):
        if groups is not None:
            names = [groups.get(row, alone(row)) for row in rows]
            frame = frame.assign(**{TOGETHER: pandas().Series(names, dtype=object, index=frame.index)})
        yield frame.set_axis(pandas().RangeIndex(n_yielded, n_yielded + len(frame)))
        n_yielded += len(frame)


def alone(row: int) -> str:
    """Return the group of a row that got its label by itself."""
    return f"row {row}"


def one_answer(sequence: int) -> str:
    """Return the group of the rows that got their labels by one answer."""
    return f"answer {sequence}"


def numbered_rows(
    connection: Any,
    before: Before,
    keep_rows: int,
    label: str,
    progress: Progress | None = None,
    changed: Mapping[int, Any] | None = None,
) -> Iterator[tuple[Sequence[int], Any]]:
    """Yield the numbers of rows in order and a frame of these rows, with a column of the labels in force.

    Of rows that are older than the newest `keep_rows`, those with a label and those of uploaded tables are yielded,
    whether the others are still there or not. `changed` are labels by row in place of those in force.
    """
    given = given_labels(connection, before.model, before.sequence) | dict(changed or {})
    oldest, is_empty = before.n_rows - keep_rows, True
    for rows, frame in _frames(connection, before, lambda row: row >= oldest or row in given):
        own = labels_in(frame[label]) if label in frame.columns else [None] * len(frame)
        labels = [given.get(row, one) for row, one in zip(rows, own, strict=True)]
        yield rows, frame.assign(**{label: pandas().Series(labels, dtype=object, index=frame.index)})
        is_empty = False
        if progress is not None:
            progress("reading", min((rows[-1] + 1) / max(before.n_rows, 1), 1.0))
    if is_empty:
        raise ValueError("The model was given no rows yet: send a table, or rows to learn.")


def rows_from(
    connection: Any, before: Before, keep_rows: int, label: str, first_row: int
) -> Iterator[tuple[Sequence[int], Any, list[Any]]]:
    """Yield the numbers of rows from one on, the rows, and the labels that they came with, in order.

    The rows are those of `rows_with_labels`; labels that were given later are not among these.
    """
    given = given_labels(connection, before.model, before.sequence)
    oldest = before.n_rows - keep_rows
    wanted = lambda row: row >= first_row and (row >= oldest or row in given)  # noqa: E731
    for rows, frame in _frames(connection, before, wanted, first_row):
        yield rows, frame, labels_in(frame[label]) if label in frame.columns else [None] * len(frame)


def _frames(
    connection: Any, before: Before, wanted: Callable[[int], bool], first_row: int = 0
) -> Iterator[tuple[Sequence[int], Any]]:
    """Yield row numbers and rows in order: tables as uploaded, single rows in batches.

    Tables that end before `first_row` are left out.
    """
    given = uploads(connection, before.model, before.sequence)
    tables = [one for one in given if one.n_rows and one.first_row + one.n_rows > first_row]
    single = ((row, cells) for row, cells in _single(connection, before) if wanted(row))
    waiting = next(single, None)
    for table in [*tables, None]:
        end = before.n_rows if table is None else table.first_row
        while waiting is not None and waiting[0] < end:
            together = [waiting]
            while (waiting := next(single, None)) is not None and waiting[0] < end and len(together) < ROWS_TOGETHER:
                together.append(waiting)
            yield [row for row, _ in together], text_frame([cells for _, cells in together])
        for part in parts(connection, table.id) if table is not None else ():
            first_row = part.first_row + (0 if table is None else table.first_row)
            yield range(first_row, first_row + part.n_rows), frame_of(part.content)


def _single(connection: Any, before: Before) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows that were sent, and those that are kept without their record, in order."""
    kept = iter(kept_rows(connection, before.model))
    sent = (
        (record.first_row + place, cells)
        for record in all_records(connection, before.model, (LEARN,))
        if record.sequence < before.sequence
        for place, cells in enumerate(record.content()["rows"])
    )
    return heapq.merge(kept, sent, key=lambda one: one[0])


def sample_of(connection: Any, before: Before, published: Published, most: int) -> tuple[Any, list[Any]]:
    """Return some of the rows as samples of a model, labelled ones first, and their labels."""
    label = label_column(published.settings)
    with collected_notes():
        frame = sample_rows(rows_with_labels(connection, before, before.n_rows, label), label, most, 0).frame
        names = published.reader.names
        frame = frame.reindex(columns=[*names, label])
        frame = frame[~blank_rows(frame, names, "the rows")].reset_index(drop=True)
        samples = samples_for(published.model, frame[names], "the rows")
    return samples, [as_class(one, published.view.classes) for one in labels_in(frame[label])]
