"""Rows of a table, sent to a model of a service that learns them."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from sslart._tables import cells
from sslart._tables.columns import blank_rows, check_columns, labels_of
from sslart._utils.notes import note
from sslart.cli.service.served import ServedModel, batches

SECONDS_BETWEEN_LOOKS = 0.1


class Sending:
    """Sends the pieces of a file to a model of a service, and keeps account of the rows."""

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
        for some in batches(samples.assign(**groups)[~blank]):
            places = frame.index.get_indexer(some.index)
            ids = None if id_column is None else cells.names(frame[id_column].iloc[places])
            if ids is not None and None in ids:
                row = some.index[ids.index(None)] + 1
                raise ValueError(
                    f"Column {id_column!r} of {data} is blank in row {row}: name each row, or leave --id out."
                )
            self._send(some, None if labels is None else [labels[place] for place in places], ids)

    def _send(self, rows: Any, labels: list[Any] | None, ids: list[Any] | None) -> None:
        content = f"{self._n_batches}\0{rows.to_json()}\0{labels}\0{ids}"
        key = None if self._again else f"update-{hashlib.sha256(content.encode()).hexdigest()}"
        accepted = self._served.asked(rows, "learn", labels, ids=ids, key=key)
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
                raise ValueError(f"The rows are kept, and cannot be learnt: {model['problem']}")
            if model["learnt_through"] >= self._sequence:
                return
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def print_notes(self) -> None:
        """Print notes on rows that the service had accepted before."""
        before = self.counts["learnt_before"]
        if before:
            all_rows = before + self.counts["samples"]
            note(f"{before} of {all_rows} rows were sent before and are left out; --again sends them too.")
