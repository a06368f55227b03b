"""The drift monitor: measurements of a stream taken before learning, and the drifts detected in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from sslart._art.backend import backend
from sslart._data.samples import Table
from sslart._data.saved import MAX_COUNT, require, saved_array, saved_whole
from sslart._data.stream_sums import BLOCK, COUNT, END, FIRST_FEATURE, MAX_CLASSES, ROOTS
from sslart._drift.blocks import (
    FIRST_CLASS,
    Learnt,
    Shape,
    checks_between,
    n_classes_of,
    n_complete,
    series_of,
    step_after,
)
from sslart._drift.events import CLASSES, FEATURES, MEASURES, NOVELTY, DriftEvent, events_from_state, events_to_state
from sslart._drift.feature_drift import AFTER, feature_change, is_looked_at
from sslart._drift.features import FeatureHistory
from sslart._drift.timeline import Timeline
from sslart._drift.window import AdaptiveWindow, Cut
from sslart._utils.arrays import FloatArray, IntArray

__all__ = ["NO_DRIFT", "Context", "DriftMonitor", "Learnt"]

MAX_TOGETHER = 16_384  # samples
MAX_EVENTS = 1000


class Context(NamedTuple):
    """Names for the text of an event: column names (computed on demand), and classes by code."""

    column_names: Callable[[], Sequence[str]]
    classes: Sequence[Any]


@dataclass(eq=False)  # not frozen: that would take longer to make, once for each call
class DriftMonitor:
    """Windows over the novelty, the errors and the classes of a stream, and the drifts found. Immutable.

    It does not depend on how the stream is cut into calls, and its size grows with the logarithm of the stream.
    """

    n_samples: int = 0
    n_checked: int = 0  # samples that windows have taken account of
    due: int = BLOCK  # after so many samples windows are checked again
    sums: FloatArray = field(default_factory=lambda: np.empty((0, Shape().width)))  # since the last check
    windows: tuple[AdaptiveWindow, ...] = (AdaptiveWindow(), AdaptiveWindow(), AdaptiveWindow().widened(0))
    history: FeatureHistory = field(default_factory=FeatureHistory)
    timeline: Timeline = field(default_factory=Timeline)
    events: tuple[DriftEvent, ...] = ()

    def after(self, learnt: Learnt, table: Table, context: Context) -> DriftMonitor:
        """Return the monitor after samples have been learnt."""
        values, monitor = table.values, self
        n = len(values)
        if n > MAX_TOGETHER:
            for start in range(0, n, MAX_TOGETHER):
                rows = slice(start, start + MAX_TOGETHER)
                monitor = monitor.after(learnt.rows(rows), table[rows], context)
            return monitor
        sums = None
        if not table.categories and values.shape[1] == len(self.history.first):
            sums = self._summed(learnt, values, None)
        if sums is None:
            history, places = self.history.reading(table)
            monitor = self._meeting(history, n_classes_of(learnt.codes))
            sums = monitor._summed(learnt, values, places)
            assert sums is not None
        n_samples, history = self.n_samples + n, monitor.history
        waiting = DriftMonitor(
            n_samples, self.n_checked, self.due, sums, monitor.windows, history, monitor.timeline, self.events
        )
        return waiting if n_samples < self.due else waiting._checked(context)

    def _summed(self, learnt: Learnt, values: FloatArray, places: IntArray | None) -> FloatArray | None:
        """Return the sums with further samples; None where there is no column for something in them."""
        gaps, room, codes, predicted, wrong = learnt
        history, before = self.history, self.sums
        n_filled = self.n_samples - self.n_checked
        after = np.empty((-(-(n_filled + len(values)) // BLOCK), before.shape[1]))
        is_complete = backend().drift_sums(
            np.ascontiguousarray(values),
            places,
            history.first,
            gaps,
            room,
            codes,
            predicted,
            wrong,
            len(history.categories),
            n_filled,
            before,
            after,
        )
        return after if is_complete else None

    def _meeting(self, history: FeatureHistory, n_classes: int) -> DriftMonitor:
        """Return the monitor widened to further columns, categories, and classes."""
        now = self._shape()
        wider = Shape(len(history.first), len(history.categories), max(n_classes, now.n_classes))
        novelty, errors, classes = self.windows
        return replace(
            self,
            sums=now.widened(self.sums, wider),
            windows=(novelty, errors, classes.widened(wider.n_classes)),
            history=history,
            timeline=self.timeline.widened(FIRST_CLASS + wider.n_classes),
        )

    def _shape(self) -> Shape:
        history = self.history
        shape = Shape(len(history.first), len(history.categories))
        return shape._replace(n_classes=self.sums.shape[1] - shape.width)

    def _checked(self, context: Context) -> DriftMonitor:
        """Return the monitor after windows have taken account of all samples up to the last check that is due."""
        start, end = self.n_checked, n_complete(self.n_samples)
        sums, n_classes = self.sums[: (end - start) // BLOCK], self._shape().n_classes
        sums[:, END] = np.arange(start + BLOCK, end + 1, BLOCK)
        first_class = sums.shape[1] - n_classes
        measured = np.concatenate([sums[:, :FIRST_FEATURE], sums[:, first_class:]], axis=1)
        features = np.concatenate([sums[:, : COUNT + 1], sums[:, FIRST_FEATURE:first_class]], axis=1)
        checks = checks_between(start, end)
        stops = (checks - start) // BLOCK
        windows, found = list(self.windows), []
        for kind, rows in enumerate(series_of(measured)):
            windows[kind], cuts = windows[kind].adding(rows, stops)
            found += [(int(np.searchsorted(checks, cut.end)), kind, cut) for cut in cuts]
        buckets = self.history.buckets.copy(len(sums))
        history, events, taken = self.history.after(buckets), self.events, 0
        for number, check in enumerate(checks.tolist()):
            own_cuts = [(kind, cut) for at, kind, cut in found if at == number]
            looks = is_looked_at(check)
            if own_cuts or looks:
                stop = int(stops[number])
                buckets.push(features[taken:stop])
                taken = stop
                events = _with_events(events, own_cuts, history, context)
            if looks:
                events = _with_moved(events, history, check, context)
        buckets.push(features[taken:])
        timeline, rest = self.timeline.adding(measured), self.sums[len(sums) :].copy()
        due = end + step_after(end)
        return DriftMonitor(self.n_samples, end, due, rest, tuple(windows), history, timeline, events)

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: plain values and arrays."""
        return {
            "n_samples": self.n_samples,
            "n_classes": self._shape().n_classes,
            "sums": self.sums,
            "windows": [window.to_state() for window in self.windows],
            "features": self.history.to_state(),
            "timeline": self.timeline.to_state(),
            "events": events_to_state(self.events),
        }

    @classmethod
    def from_state(cls, state: Any, n_columns: int) -> DriftMonitor:
        """Return the monitor of a saved state, after checking that it can be one."""
        n_samples = saved_whole(state, "n_samples", 0, MAX_COUNT)
        n_classes = saved_whole(state, "n_classes", 0, MAX_CLASSES)
        history = FeatureHistory.from_state(state["features"], n_columns, n_samples)
        n_checked = n_complete(n_samples)
        shape = Shape(len(history.first), len(history.categories), n_classes)
        sums = saved_array(state, "sums", np.float64, -(-(n_samples - n_checked) // BLOCK), shape.width)
        require(np.isfinite(sums).all() and sums[:, COUNT].sum() == n_samples - n_checked, "the sums")
        require(((sums[:, ROOTS:FIRST_FEATURE] >= 0) & (sums[:, ROOTS:FIRST_FEATURE] <= BLOCK)).all(), "the sums")
        windows = [
            AdaptiveWindow.from_state(one, n, n_samples)
            for one, n in zip(state["windows"], (1, 1, n_classes), strict=True)
        ]
        timeline = Timeline.from_state(state["timeline"], FIRST_CLASS + n_classes)
        require(timeline.n_blocks * BLOCK == n_checked, "the timeline")
        events = events_from_state(state["events"])
        due = n_checked + step_after(n_checked)
        return cls(n_samples, n_checked, due, sums, tuple(windows), history, timeline, events)


NO_DRIFT = DriftMonitor()


def _with_events(
    events: tuple[DriftEvent, ...], cuts: list[tuple[int, Cut]], history: FeatureHistory, context: Context
) -> tuple[DriftEvent, ...]:
    for kind, cut in cuts:
        event = _event(cut, MEASURES[kind], history, context, events)
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
    """Return the event of a cut; None if it is no drift, or has been reported already.

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
