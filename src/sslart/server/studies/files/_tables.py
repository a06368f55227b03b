"""The labels that a model was given, as a file for other programs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sslart._tables import pandas
from sslart._utils.tables import csv_text
from sslart.server.models._published import Published
from sslart.server.models._stored_rows import Before, label_column, numbered_rows
from sslart.server.store._labels import history

ALL = 2**62
FROM_THE_TABLE = "the table"


def labels_csv(connection: Any, before: Before, published: Published, keep_rows: int) -> str:
    """Return all labelled rows as CSV: row number, actor and time of the label, and cells.

    The column of the labels has the name that it has in the table, so that the file can be learnt from.
    """
    label = label_column(published.settings)
    given = {one["row"]: one for one in history(connection, before.model, None, 0, ALL)}
    frames = []
    for rows, frame in numbered_rows(connection, before, keep_rows, label):
        places = frame[label].notna().to_numpy().nonzero()[0].tolist()
        numbers = [rows[place] for place in places]
        some = frame.iloc[places]
        entries = [given.get(row) for row in numbers]
        added = {
            "row": numbers,
            "labelled by": [FROM_THE_TABLE if one is None else one["actor"] for one in entries],
            "labelled at": [None if one is None else _moment(one["time"]) for one in entries],
        }
        for place, (name, values) in enumerate(added.items()):
            some.insert(place, _free(name, frame.columns), pandas().Series(values, dtype=object, index=some.index))
        frames.append(some)
    return csv_text(pandas().concat(frames, ignore_index=True), index=False)


def _free(name: str, taken: Iterable[str]) -> str:
    """Return a name that no column has."""
    known = set(taken)
    while name in known:
        name = f"{name} of the row"
    return name


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
