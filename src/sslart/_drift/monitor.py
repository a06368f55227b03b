"""What is measured of the samples of a stream before they are learnt, and the drifts found in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._data.saved import MAX_COUNT, require, saved_array, saved_whole
from sslart._drift.blocks import (
    BLOCK,
    FIRST_CLASS,
    MAX_CLASSES,
    Chunk,
    Learnt,
    block_sums,
    joined,
    series_of,
)
from sslart._drift.buckets import COUNT
from sslart._drift.events import CLASSES, KINDS, NOVELTY, DriftEvent, events_from_state, events_to_state
from sslart._drift.features import FeatureHistory, Values
from sslart._drift.timeline import Timeline
from sslart._drift.window import AdaptiveWindow, Cut
from sslart._utils.arrays import BoolArray, IntArray

__all__ = ["NO_DRIFT", "Context", "DriftMonitor", "Learnt"]

PREDICTED_OF = 8  # samples in succession: of them the first labelled one is predicted before it is learnt
MAX_EVENTS = 1000


class Context(NamedTuple):
    """Words for what an event is about: names of the columns, and the classes by code; made when they are needed."""

    column_names: Callable[[], Sequence[str]]
    classes: Sequence[Any]


@dataclass(frozen=True, eq=False)
class DriftMonitor:
    """Windows over the novelty, the errors and the classes of a stream, and the drifts found. Immutable.

    It does not depend on how the stream is cut into calls, and its size grows with the logarithm of the stream.
    """

    n_samples: int = 0
    last_predicted: int = -1  # which PREDICTED_OF samples in succession had the last label
    pending: tuple[Chunk, ...] = ()
    windows: tuple[AdaptiveWindow, ...] = (AdaptiveWindow(),) * len(KINDS)
    history: FeatureHistory = field(default_factory=FeatureHistory)
    timeline: Timeline = field(default_factory=Timeline)
    events: tuple[DriftEvent, ...] = ()

    def to_predict(self, known: BoolArray) -> BoolArray:
        """Return which of the next samples are predicted before they are learnt, given which have a label."""
        places = np.flatnonzero(known)
        groups = (self.n_samples + places) // PREDICTED_OF
        wanted = np.zeros(len(known), dtype=bool)
        wanted[places[np.diff(groups, prepend=self.last_predicted) > 0]] = True
        return wanted

    def after(self, learnt: Learnt, table: Table, context: Context) -> DriftMonitor:
        """Return the monitor after samples have been learnt."""
        n_samples = self.n_samples + len(table)
        labelled = np.flatnonzero(learnt.codes != UNLABELLED)
        last = (self.n_samples + int(labelled[-1])) // PREDICTED_OF if len(labelled) else self.last_predicted
        history, values = self.history.reading(table)
        pending = (*self.pending, Chunk(learnt, values))
        n_blocks = n_samples // BLOCK - self.n_samples // BLOCK
        waiting = replace(self, n_samples=n_samples, last_predicted=last, pending=pending, history=history)
        return waiting._with_blocks(n_blocks, context) if n_blocks else waiting

    def _with_blocks(self, n_blocks: int, context: Context) -> DriftMonitor:
        """Return the monitor after the pending samples have completed some blocks."""
        whole = joined(self.pending, len(self.history.first))
        n_in_blocks = n_blocks * BLOCK
        ends = (self.n_samples // BLOCK - n_blocks + 1 + np.arange(n_blocks)) * BLOCK
        blocks = block_sums(whole.rows(slice(0, n_in_blocks)).learnt, ends, self._n_classes())
        rest = () if len(whole.learnt.codes) == n_in_blocks else (whole.rows(slice(n_in_blocks, None)),)
        windows, cuts = [], []
        for kind, window, rows in zip(KINDS, self.windows, series_of(blocks), strict=True):
            after, found = window.widened((rows.shape[1] - 2) // 2).adding(rows[rows[:, COUNT] > 0])
            windows.append(after)
            cuts += [(cut, kind) for cut in found]
        history, events = self._looking_back(whole, ends, cuts, context)
        return replace(
            self,
            pending=rest,
            windows=tuple(windows),
            history=history,
            timeline=self.timeline.adding(blocks),
            events=events,
        )

    def _n_classes(self) -> int:
        return max(0, int(self.timeline.rows.shape[1]) - FIRST_CLASS)

    def _looking_back(
        self, whole: Chunk, ends: IntArray, cuts: list[tuple[Cut, str]], context: Context
    ) -> tuple[FeatureHistory, tuple[DriftEvent, ...]]:
        """Return the history of features after some blocks, and the events, each with the history as it was then."""
        history, events, done = self.history, self.events, 0
        for cut, kind in sorted(cuts, key=lambda one: one[0].end):
            due = int(np.searchsorted(ends, cut.end, side="right"))
            history, done = _added(history, whole, ends, done, due), due
            event = _event(cut, kind, history, context, events)
            events = events if event is None else (*events, event)[-MAX_EVENTS:]
        return _added(history, whole, ends, done, len(ends)), events

    def to_state(self) -> dict[str, Any]:
        """Return what must be saved: plain values and arrays."""
        whole = joined(self.pending, len(self.history.first))
        return {
            "n_samples": self.n_samples,
            "last_predicted": self.last_predicted,
            "pending": {**whole.learnt._asdict(), **whole.values._asdict()},
            "n_classes": self._n_classes(),
            "windows": [window.to_state() for window in self.windows],
            "features": self.history.to_state(),
            "timeline": self.timeline.to_state(),
            "events": events_to_state(self.events),
        }

    @classmethod
    def from_state(cls, state: Any, n_columns: int) -> DriftMonitor:
        """Return the monitor of a saved state, after checking that it can be one."""
        n_samples = saved_whole(state, "n_samples", 0, MAX_COUNT)
        last_predicted = saved_whole(state, "last_predicted", -1, MAX_COUNT)
        n_classes = saved_whole(state, "n_classes", 0, MAX_CLASSES)
        history = FeatureHistory.from_state(state["features"], n_columns)
        own, n = state["pending"], n_samples % BLOCK
        learnt = Learnt(
            saved_array(own, "novelty", np.float64, n, low=0, high=1),
            saved_array(own, "codes", np.int64, n, low=UNLABELLED),
            saved_array(own, "wrong", np.float64, n),
        )
        numbers, places = (
            saved_array(own, "numbers", np.float64, n, None),
            saved_array(own, "places", np.int64, n, None),
        )
        require(places.max(initial=-1) < len(history.categories), "the features")
        require(numbers.shape[1] <= len(history.first) and places.shape[1] in (0, numbers.shape[1]), "the features")
        n_series = (1, 1, n_classes)
        windows = [AdaptiveWindow.from_state(*pair) for pair in zip(state["windows"], n_series, strict=True)]
        n_sums = FIRST_CLASS + n_classes if n_samples >= BLOCK else 1
        return cls(
            n_samples,
            last_predicted,
            (Chunk(learnt, Values(numbers, places)),) if n else (),
            tuple(windows),
            history,
            Timeline.from_state(state["timeline"], n_sums),
            events_from_state(state["events"]),
        )


NO_DRIFT = DriftMonitor()


def _added(history: FeatureHistory, whole: Chunk, ends: IntArray, start: int, stop: int) -> FeatureHistory:
    """Return the history after some of the blocks of samples."""
    if start == stop:
        return history
    return history.adding(whole.rows(slice(start * BLOCK, stop * BLOCK)).values, ends[start:stop])


def _event(
    cut: Cut, kind: str, history: FeatureHistory, context: Context, events: Sequence[DriftEvent]
) -> DriftEvent | None:
    """Return what a cut is reported as; None where it is no drift, or one that has been reported.

    Novelty and errors that fall are what learning is for. A change before the last event of that kind is the same one.
    """
    last = max((event.sample for event in events if event.kind == kind), default=0)
    total = 2 if kind == NOVELTY else 1 + cut.series  # of novelty the squares of the roots are reported
    before, after = (part.item(total) / part.item(0) for part in (cut.before, cut.after))
    if cut.change < last or (kind != CLASSES and after <= before):
        return None
    label = None
    if kind == CLASSES and cut.series < MAX_CLASSES - 1:
        label = context.classes[cut.series]
    features = history.shifts(cut.start, cut.change, context.column_names())
    return DriftEvent(kind, cut.end, cut.change + 1, before, after, label, features)
