"""A model of a service, as commands ask it about the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sslart._tables import pandas
from sslart._tables.columns import blank_rows, frame_of_row
from sslart._utils.text import listed
from sslart.cli._predictions import with_blank_rows

BATCH = 1000  # rows in one request


class ServedModel:
    """A model of a service, for the rows of a table.

    Parameters
    ----------
    client : Client
    name : str
        Of the model.
    data : str
        The table, for messages.

    Attributes
    ----------
    described : dict
        What the service tells of the model.
    features : list of str
        The columns that it has learnt from; none where it has learnt nothing.
    classes : array
    """

    def __init__(self, client: Any, name: str, data: str) -> None:
        self.client, self.name, self._data = client, name, data
        self.described: dict[str, Any] = client.model(name)
        self.features: list[str] = self.described.get("features", [])
        self.classes = np.asarray(self.described["classes"])

    def columns(self, frame: Any) -> Any:
        """Return the columns that the model has learnt from, or raise a ValueError where one is not there."""
        missing = [name for name in self.features if name not in frame.columns]
        if len(missing) == len(self.features) == len(frame.columns) and _have_no_names(self.features):
            return frame.set_axis(self.features, axis=1)
        if missing:
            raise ValueError(
                f"{self._data} lacks {listed(missing)}, which the model has learnt from: add a column of this name, "
                "blank where not known."
            )
        return frame[self.features]

    def row(self, number: int, encoding: str | None) -> dict[str, Any]:
        """Return a row of the table, counted from 1 below the header."""
        (found,) = self.columns(frame_of_row(self._data, number, encoding)).to_dict("records")
        return dict(found)

    def predict(self, frame: Any, abstain_below: float | None = None) -> Any:
        """Return the predictions for the rows of a frame; for blank ones the model abstains."""
        samples = self.columns(frame)
        blank = blank_rows(samples, self.features, self._data)
        parts = [
            self.asked(some, "predict", abstain_below=abstain_below).to_frame() for some in batches(samples[~blank])
        ]
        predictions = pandas().concat(parts, ignore_index=True)
        return with_blank_rows(predictions, ~blank) if blank.any() else predictions

    def asked(self, samples: Any, method: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the client for rows; errors mention the row numbers."""
        try:
            return getattr(self.client, method)(self.name, samples, *arguments, **options)
        except ValueError as error:
            first, last = samples.index[[0, -1]] + 1
            rows = f"row {first}" if first == last else f"rows {first} to {last}"
            raise ValueError(f"{self._data}, {rows}: {error}") from error


def _have_no_names(features: list[str]) -> bool:
    return features == [f"x{place}" for place in range(len(features))]


def batches(frame: Any) -> Iterator[Any]:
    """Yield some rows of a frame at a time."""
    for start in range(0, len(frame), BATCH):
        yield frame.iloc[start : start + BATCH]
