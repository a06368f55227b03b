"""The rows that a model was given, read as its samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.samples import Table
from sslart._tables import pandas
from sslart._tables.columns import samples_for
from sslart._utils.arrays import IntArray
from sslart._utils.notes import collected_notes
from sslart.server.models._published import Published
from sslart.server.models._stored_rows import Before, label_column, rows_from
from sslart.server.models._training import FittedRows

SOURCE = "the rows"


@dataclass(frozen=True, eq=False)
class SampleTable:
    """Rows of a model as samples, in the order of their numbers.

    Attributes
    ----------
    published : Published
        The model that has read them.
    rows : array of int
        The number of each.
    frame : DataFrame
        The columns that the model has learnt from.
    own_labels : list
        The label that each came with, as text; None where it had none.
    n_given : int
        How many rows the model had been given; some may not be readable, or no longer be kept.
    """

    published: Published
    rows: IntArray
    frame: Any
    own_labels: list[Any]
    n_given: int

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def table(self) -> Table:
        """The samples as the model reads them."""
        return self.published.view.read(self.frame if self.published.reader.has_names else self.frame.to_numpy())

    def places(self, rows: Sequence[int] | IntArray) -> IntArray:
        """Return where rows are, by their numbers; those that are not among the samples are left out."""
        wanted = np.asarray(rows, dtype=np.int64)
        found = np.searchsorted(self.rows, wanted)
        is_there = found < len(self.rows)
        is_there[is_there] = self.rows[found[is_there]] == wanted[is_there]
        return np.asarray(found[is_there])

    def reads_as(self, published: Published) -> bool:
        """Return True if another state of the model reads rows in the same way."""
        old, new = self.published, published
        plans = old.view.reader.plan, new.view.reader.plan
        return old.settings == new.settings and old.reader.names == new.reader.names and plans[0] == plans[1]

    def of(self, published: Published) -> SampleTable:
        """Return the same samples for another state of the model, which reads rows in the same way."""
        return SampleTable(published, self.rows, self.frame, self.own_labels, self.n_given)

    def with_more(self, other: SampleTable) -> SampleTable:
        """Return these samples and later ones."""
        frame = pandas().concat([self.frame, other.frame], ignore_index=True)
        rows = np.concatenate([self.rows, other.rows])
        return SampleTable(other.published, rows, frame, self.own_labels + other.own_labels, other.n_given)


def rows_of_fit(fitted: FittedRows, published: Published) -> SampleTable:
    """Return all rows of a model as its last fit has read them."""
    n = len(fitted.labels)
    frame = fitted.frame.reset_index(drop=True)
    return SampleTable(published, np.arange(n, dtype=np.int64), frame, list(fitted.labels), n)


def read_rows(connection: Any, before: Before, keep_rows: int, published: Published, first_row: int = 0) -> SampleTable:
    """Return the rows of a model from a number on; those that it cannot read are left out."""
    numbers: list[IntArray] = []
    frames: list[Any] = []
    labels: list[Any] = []
    names = published.reader.names
    with collected_notes():
        stored = rows_from(connection, before, keep_rows, label_column(published.settings), first_row)
        for rows, frame, own in stored:
            given = np.asarray(rows, dtype=np.int64)
            features = frame.reindex(columns=names)
            is_wanted = (given >= first_row) & ~features.isna().all(axis=1).to_numpy()
            features = features[is_wanted]
            of_wanted = [one for one, wanted in zip(own, is_wanted.tolist(), strict=True) if wanted]
            for places, samples in _readable(published.model, features, np.arange(len(features))):
                numbers.append(given[is_wanted][places])
                frames.append(samples)
                labels += [of_wanted[place] for place in places.tolist()]
    all_rows = np.concatenate([np.zeros(0, dtype=np.int64), *numbers])
    frame = pandas().concat(frames, ignore_index=True) if frames else pandas().DataFrame(columns=names)
    return SampleTable(published, all_rows, frame, labels, before.n_rows)


def _readable(model: Any, frame: Any, places: IntArray) -> Iterator[tuple[IntArray, Any]]:
    """Yield rows as samples; where one of them cannot be read, halves of them, until it alone is left out."""
    if not len(places):
        return
    some = frame.iloc[places]
    try:
        samples = samples_for(model, some, SOURCE)
    except (ValueError, TypeError):
        half = len(places) // 2
        if half:
            yield from _readable(model, frame, places[:half])
            yield from _readable(model, frame, places[half:])
        return
    yield places, samples if hasattr(samples, "iloc") else pandas().DataFrame(samples, columns=frame.columns)
