"""The option --server: commands that use a model of a service."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from sslart._tables import cells, pandas
from sslart._tables.columns import blank_rows, check_columns, frame_of_row, labels_of, split_names
from sslart._tables.files import read_pieces
from sslart._tables.training_table import ColumnRoles
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart._utils.optional import heavy, optional
from sslart._utils.text import listed
from sslart.cli._model_file import read_model
from sslart.cli._output import changed
from sslart.cli._predictions import with_blank_rows

BATCH = 1000  # rows in one request
SECONDS_BETWEEN_LOOKS = 0.1


def connected(server: str, token: str | None) -> Any:
    """Return a client of a service, to be used as a context manager."""
    optional("httpx", "client")
    return heavy("sslart.client").Client(server, token)


def refuse(**options: Any) -> None:
    """Raise a ValueError for options that do not work with --server."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise ValueError(f"--{name.replace('_', '-')} does not work with --server: leave it out.")


def model_of(name: str, server: str | None, token: str | None) -> Any:
    """Return the fitted classifier in a file, or a copy of one of a service."""
    if server is None:
        return read_model(name)
    with connected(server, token) as client:
        return client.load(name)


def fit_on_server(client: Any, data: str, named: ColumnRoles, name: str, encoding: str | None) -> Any:
    """Let a service fit a model to a table; return the job when it has ended."""
    if data == STANDARD:
        raise ValueError("With --server the table is a file: give its name.")
    first = next(read_pieces(data, encoding))
    names = {kind: split_names(getattr(named, kind), first) for kind in ("ignore", "category", "use")}
    own = {"label": named.label, "id_column": named.id_column, "group": named.group}
    changed(f"the service, which continues to fit {name},")
    job = client.fit(name, data, **own, **names, encoding=encoding)
    for text in job.outcome["notes"]:
        note(text)
    return job


class ServedModel:
    """A model of a service that predicts the rows of a table.

    Attributes
    ----------
    described : dict
        Description of the model by the service.
    features : list of str
        Columns it was fitted to; empty if it is not fitted.
    """

    def __init__(self, client: Any, name: str, data: str) -> None:
        self.client, self.name, self._data = client, name, data
        self.described: dict[str, Any] = client.model(name)
        self.features: list[str] = self.described.get("features", [])
        self.classes = np.asarray(self.described["classes"])

    def columns(self, frame: Any) -> Any:
        """Return the columns that the model was fitted to; raise a ValueError if one is missing."""
        missing = [name for name in self.features if name not in frame.columns]
        has_no_names = self.features == [f"x{place}" for place in range(len(self.features))]
        if has_no_names and len(missing) == len(self.features) == len(frame.columns):
            return frame.set_axis(self.features, axis=1)
        if missing:
            raise ValueError(
                f"{self._data} lacks {listed(missing)}, which the model was fitted to: add a column of this name, "
                "blank where unknown."
            )
        return frame[self.features]

    def row(self, number: int, encoding: str | None) -> dict[str, Any]:
        """Return a row of the table, counted from 1 below the header."""
        (found,) = self.columns(frame_of_row(self._data, number, encoding)).to_dict("records")
        return dict(found)

    def predict(self, frame: Any, abstain_below: float | None = None) -> Any:
        """Return the predictions for the rows of a frame; the model abstains on blank rows."""
        samples = self.columns(frame)
        blank = blank_rows(samples, self.features, self._data)
        asked = [self.asked(some, "predict", abstain_below=abstain_below) for some in _batches(samples[~blank])]
        predictions = pandas().concat([one.to_frame() for one in asked], ignore_index=True)
        return with_blank_rows(predictions, ~blank) if blank.any() else predictions

    def asked(self, samples: Any, method: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the client for rows; errors name the rows."""
        try:
            return getattr(self.client, method)(self.name, samples, *arguments, **options)
        except ValueError as error:
            first, last = samples.index[[0, -1]] + 1
            rows = f"row {first}" if first == last else f"rows {first} to {last}"
            raise ValueError(f"{self._data}, {rows}: {error}") from error


def _batches(frame: Any) -> Iterator[Any]:
    """Yield some rows of a frame at a time."""
    for start in range(0, len(frame), BATCH):
        yield frame.iloc[start : start + BATCH]


class Sending:
    """Send the rows of a table to a service, which learns them, and count them."""

    def __init__(
        self, served: ServedModel, data: str, label: str | None, id_column: str | None, *, again: bool
    ) -> None:
        self._served, self._data, self._label, self._again = served, data, label, again
        settings = served.described["settings"]
        self._id, self._remembered_id, self._group = id_column, settings["id"], settings["group"]
        self._n_rows_before, self._sequence, self._n_batches = served.described["rows"], 0, 0
        self.counts = dict.fromkeys(("samples", "labelled", "learnt_before"), 0)

    def send(self, frame: Any) -> None:
        """Send the rows of a piece."""
        served, data, label = self._served, self._data, self._label
        check_columns(frame.columns, [label, self._id], data)
        id_column = self._id or (self._remembered_id if self._remembered_id in frame.columns else None)
        own = [name for name in frame.columns if name not in (label, id_column, self._group)]
        samples = served.columns(frame[own]) if served.features else frame[own]
        blank = blank_rows(samples, list(samples.columns), data)
        labels = None if label is None else labels_of(frame, label, data, served.classes)
        groups = {} if self._group not in frame.columns else {self._group: frame[self._group]}
        for some in _batches(samples.assign(**groups)[~blank]):
            places = frame.index.get_indexer(some.index)
            ids = None if id_column is None else cells.names(frame[id_column].iloc[places])
            if ids is not None and None in ids:
                row = some.index[ids.index(None)] + 1
                raise ValueError(
                    f"Column {id_column!r} of {data} is blank in row {row}: give every row an ID, or leave --id out."
                )
            self._send(some, None if labels is None else [labels[place] for place in places], ids)

    def _send(self, rows: Any, labels: list[Any] | None, ids: list[Any] | None) -> None:
        content = f"{self._n_batches}\0{rows.to_json()}\0{labels}\0{ids}"
        key = None if self._again else f"update-{hashlib.sha256(content.encode()).hexdigest()}"
        accepted = self._served.asked(rows, "learn", labels, ids=ids, key=key)
        changed(f"rows of {self._data} to the service")
        before = sum(row < self._n_rows_before for row in accepted.rows)
        self._sequence, self._n_batches = max(self._sequence, accepted.sequence), self._n_batches + 1
        self.counts["learnt_before"] += before
        if not before:
            self.counts["samples"] += len(rows)
            self.counts["labelled"] += sum(one is not None for one in labels or ())

    def wait_until_learnt(self) -> None:
        """Wait until the model has learnt the sent rows, or raise a ValueError if it cannot learn them."""
        while True:
            model = next(one for one in self._served.client.models() if one["name"] == self._served.name)
            if model["problem"] is not None:
                raise ValueError(f"The service has stored the rows but cannot learn them: {model['problem']}")
            if model["learnt_through"] >= self._sequence:
                return
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def print_notes(self) -> None:
        """Print notes on rows that the service had accepted before."""
        before = self.counts["learnt_before"]
        if before:
            all_rows = before + self.counts["samples"]
            note(f"{before} of {all_rows} rows were sent before and are skipped; --again sends them anyway.")
