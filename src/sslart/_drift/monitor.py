"""What is measured of the samples of a stream before they are learnt, and the drifts found in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    are_checked,
    block_sums,
    joined,
    n_complete,
    series_of,
)
from sslart._drift.buckets import COUNT, END
from sslart._drift.events import CLASSES, FEATURES, MEASURES, NOVELTY, DriftEvent, events_from_state, events_to_state
from sslart._drift.feature_drift import AFTER, feature_change, is_looked_at
from sslart._drift.features import FeatureHistory, Values
from sslart._drift.timeline import Timeline
from sslart._drift.window import AdaptiveWindow, Cut
from sslart._utils.arrays import BoolArray, IntArray

__all__ = ["NO_DRIFT", "Context", "DriftMonitor", "Learnt"]

PREDICTED_OF = 4  # samples in succession: of them the first labelled one is predicted before it is learnt
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
    windows: tuple[AdaptiveWindow, ...] = (AdaptiveWindow(),) * len(MEASURES)
    history: FeatureHistory = field(default_factory=FeatureHistory)
    timeline: Timeline = field(default_factory=Timeline)
    events: tuple[DriftEvent, ...] = ()

    def to_predict(self, known: BoolArray) -> BoolArray:
        """Return which of the next samples are predicted before they are learnt, given which have a label."""
        places = known.nonzero()[0]
        if not len(places):
            return known
        groups = (self.n_samples + places) // PREDICTED_OF
        wanted = np.zeros(len(known), dtype=bool)
        wanted[places[1:][groups[1:] > groups[:-1]]] = True
        wanted[places[0]] = groups[0] > self.last_predicted
        return wanted

    def after(self, learnt: Learnt, table: Table, context: Context) -> DriftMonitor:
        """Return the monitor after samples have been learnt."""
        n_samples, last = self.n_samples + len(learnt.codes), self.last_predicted
        labelled = (learnt.codes != UNLABELLED).nonzero()[0]
        if len(labelled):
            last = (self.n_samples + int(labelled[-1])) // PREDICTED_OF
        history, values = self.history.reading(table)
        pending = (*self.pending, Chunk(learnt, values))
        waiting = DriftMonitor(n_samples, last, pending, self.windows, history, self.timeline, self.events)
        start, end = n_complete(self.n_samples), n_complete(n_samples)
        return waiting._taking(start, end, context) if end > start else waiting

    def _taking(self, start: int, end: int, context: Context) -> DriftMonitor:
        """Return the monitor after it has taken account of pending samples, given where these start and end."""
        whole = joined(self.pending, len(self.history.first))
        ends = np.arange(start + BLOCK, end + 1, BLOCK)
        own = whole.rows(slice(0, end - start))
        sums = block_sums(own.learnt, ends, self._n_classes())
        rest = () if end == self.n_samples else (whole.rows(slice(end - start, None)),)
        windows, history, events = list(self.windows), self.history, self.events
        checks = np.flatnonzero(are_checked(ends)) + 1
        series = [rows[rows[:, COUNT] > 0] for rows in series_of(sums)]
        places = [np.searchsorted(rows[:, END], ends[checks - 1], side="right").tolist() for rows in series]
        windows = [window.widened((rows.shape[1] - 2) // 2) for window, rows in zip(windows, series, strict=True)]
        before = [0] * len(MEASURES)
        taken = 0
        for number, stop in enumerate(checks.tolist()):
            cuts = []
            for kind, rows in enumerate(series):
                place = places[kind][number]
                if place > before[kind]:
                    windows[kind], cut = windows[kind].adding(rows[before[kind] : place])
                    cuts += [] if cut is None else [(cut, MEASURES[kind])]
                    before[kind] = place
            end = int(ends[stop - 1])
            due = is_looked_at(end)
            if cuts or due:
                history, taken = _added(history, own.values, ends, taken, stop), stop
                events = _with_events(events, cuts, history, context)
            if due:
                events = _with_moved(events, history, end, context)
        history = _added(history, own.values, ends, taken, len(ends))
        timeline = self.timeline.adding(sums)
        return DriftMonitor(self.n_samples, self.last_predicted, rest, tuple(windows), history, timeline, events)

    def _n_classes(self) -> int:
        return max(0, int(self.timeline.rows.shape[1]) - FIRST_CLASS)

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
        history = FeatureHistory.from_state(state["features"], n_columns, n_samples)
        own, n = state["pending"], n_samples - n_complete(n_samples)
        learnt = Learnt(
            saved_array(own, "novelty", np.float64, n, low=0, high=1),
            saved_array(own, "codes", np.int64, n, low=UNLABELLED),
            saved_array(own, "wrong", np.float64, n),
        )
        require((np.isnan(learnt.wrong) | ((learnt.wrong >= 0) & (learnt.wrong <= 1))).all(), "the errors")
        numbers, places = (
            saved_array(own, "numbers", np.float64, n, None),
            saved_array(own, "places", np.int64, n, None),
        )
        require(places.max(initial=-1) < len(history.categories) and not np.isinf(numbers).any(), "the features")
        require(numbers.shape[1] <= len(history.first) and places.shape[1] in (0, numbers.shape[1]), "the features")
        n_series = (1, 1, n_classes)
        windows = [
            AdaptiveWindow.from_state(one, n, n_samples) for one, n in zip(state["windows"], n_series, strict=True)
        ]
        n_sums = FIRST_CLASS + n_classes if n_samples >= BLOCK else 1
        timeline = Timeline.from_state(state["timeline"], n_sums)
        require(timeline.n_blocks * BLOCK == n_complete(n_samples), "the timeline")
        return cls(
            n_samples,
            last_predicted,
            (Chunk(learnt, Values(numbers, places)),) if n else (),
            tuple(windows),
            history,
            timeline,
            events_from_state(state["events"]),
        )


NO_DRIFT = DriftMonitor()


def _added(history: FeatureHistory, values: Values, ends: IntArray, start: int, stop: int) -> FeatureHistory:
    """Return the history after some of the blocks of samples."""
    if start == stop:
        return history
    rows = slice(start * BLOCK, stop * BLOCK)
    return history.adding(Values(values.numbers[rows], values.places[rows]), ends[start:stop])


def _with_events(
    events: tuple[DriftEvent, ...], cuts: list[tuple[Cut, str]], history: FeatureHistory, context: Context
) -> tuple[DriftEvent, ...]:
    for cut, kind in cuts:
        event = _event(cut, kind, history, context, events)
        events = events if event is None else (*events, event)[-MAX_EVENTS:]
    return events


def _with_moved(
    events: tuple[DriftEvent, ...], history: FeatureHistory, end: int, context: Context
) -> tuple[DriftEvent, ...]:
    """Return the events after features have been looked at: with one more where any moved that was not named yet."""
    change = feature_change(history, end, context.column_names)
    if change is None or change <= _last_of(FEATURES, events):
        return events
    moved = history.shifts(0, change, context.column_names())
    named = {one.name for event in events if event.since >= change - AFTER for one in event.features}
    if named.issuperset(one.name for one in moved):
        return events
    event = DriftEvent(FEATURES, end, change + 1, moved[0].before, moved[0].after, None, moved)
    return (*events, event)[-MAX_EVENTS:]


def _last_of(kind: str, events: Sequence[DriftEvent]) -> int:
    """Return the sample at which the last event of a kind was found; 0: there was none."""
    return max((event.sample for event in events if event.kind == kind), default=0)


def _event(
    cut: Cut, kind: str, history: FeatureHistory, context: Context, events: Sequence[DriftEvent]
) -> DriftEvent | None:
    """Return what a cut is reported as; None where it is no drift, or one that has been reported.

    Novelty and errors that fall are what learning is for. A change before the last event of that kind is the same one.
    """
    total = 2 if kind == NOVELTY else 1 + cut.series  # of novelty the squares of the roots are reported
    before, after = (part.item(total) / part.item(0) for part in (cut.before, cut.after))
    if cut.change < _last_of(kind, events) or (kind != CLASSES and after <= before):
        return None
    label = None
    if kind == CLASSES and cut.series < min(len(context.classes), MAX_CLASSES - 1):
        label = context.classes[cut.series]
    features = history.shifts(cut.start, cut.change, context.column_names())
    return DriftEvent(kind, cut.end, cut.change + 1, before, after, label, features)
