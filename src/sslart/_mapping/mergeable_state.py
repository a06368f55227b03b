"""Mergeable state of the parts of a table that are learnt separately and then merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._data.encoder import Encoder
from sslart._data.joining import joined_tables
from sslart._data.labels import ClassTable, Labels
from sslart._data.samples import Table
from sslart._utils.arrays import IntArray, KeyArray


@dataclass(frozen=True, eq=False)
class Shared:
    """Encoder and classes shared by all parts of a table."""

    encoder: Encoder  # holds every value of all parts
    class_table: ClassTable  # the classes of all parts


@dataclass(frozen=True, eq=False)
class MeasuredSamples:
    """Samples behind the fits of a novelty calibration."""

    keys: KeyArray  # ascending
    table: Table


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Labelled samples of a part of a table, to be learnt after the boxes of all parts have been joined."""

    table: Table
    labels: Labels  # all known
    numbers: IntArray  # part and row of each sample as one number, ascending
    shared: Shared
    seed: int  # of the order in which they are learnt

    @property
    def n_presented(self) -> int:
        """Number of presentations of samples to the boxes."""
        times = self.labels.presentations
        return len(self.numbers) if times is None else int(times.sum())

    @classmethod
    def joined(cls, parts: Sequence[LabelledRows]) -> LabelledRows | None:
        """Return the samples of several parts, sorted, so that the order of parts does not matter; None without any."""
        if len(parts) < 2:
            return parts[0] if parts else None
        parts = sorted(parts, key=lambda part: int(part.numbers[0]))
        numbers = np.concatenate([part.numbers for part in parts])
        labels = [part.labels for part in parts]
        beside: list[Any] = [
            None if getattr(labels[0], name) is None else np.concatenate([getattr(one, name) for one in labels])
            for name in ("groups", "weights", "answers", "at_random")
        ]
        values = np.concatenate([one.values for one in labels])
        joined = Labels(values, np.ones(len(values), dtype=bool), *beside)
        order = np.argsort(numbers)
        table = joined_tables([part.table for part in parts])
        return cls(table[order], joined[order], numbers[order], parts[0].shared, parts[0].seed)
