"""Drift of samples that are predicted, whether a model learns them or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._drift.events import DriftEvent
from sslart._drift.monitor import NO_DRIFT, Context, Learnt
from sslart._utils.arrays import FloatArray


class PredictedDrift:
    """Drift detection on predicted rows: rates of novel and wrongly predicted rows, and class shares."""

    def __init__(self) -> None:
        self._monitor = NO_DRIFT
        self._codes: dict[Any, int] = {}

    def after(
        self,
        table: Table,
        novel: FloatArray,
        predicted: Sequence[Any],
        labels: Sequence[Any],
        numbers: Sequence[int],
        names: Sequence[str],
    ) -> list[DriftEvent]:
        """Return the drifts found in further rows, in which `sample` and `since` are numbers of rows.

        Parameters
        ----------
        table : Table
        novel : array
            1 for rows that are novel, 0 for others.
        predicted, labels : sequences
            Predicted and true classes, None where there is none.
        numbers : sequence of int
            The numbers of the rows.
        names : sequence of str
            Of the columns of the table.
        """
        n_before, n_events = self._monitor.n_samples, len(self._monitor.events)
        codes = [UNLABELLED if label is None else self._codes.setdefault(label, len(self._codes)) for label in labels]
        wrong = [
            np.nan if None in (label, found) else float(label != found)
            for label, found in zip(labels, predicted, strict=True)
        ]
        learnt = Learnt(novel, codes=np.array(codes, dtype=np.int64), wrong=np.array(wrong, dtype=np.float64))
        self._monitor = self._monitor.after(learnt, table, Context(lambda: names, tuple(self._codes)))
        events = self._monitor.events[n_events:]
        rows = [numbers[max(0, event.sample - n_before - 1)] for event in events]
        return [
            replace(event, sample=row, since=max(1, row - (event.sample - event.since)))
            for event, row in zip(events, rows, strict=True)
        ]
