"""The drift monitor: measurements of a stream taken before learning, and the drifts detected in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from sslart._art.backend import backend
from sslart._art.boxes import LearnResult
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._data.stream_sums import (
    BLOCK,
    COUNT,
    END,
    FIRST_FEATURE,
    MAX_CLASSES,
    N_LABELLED,
    N_PREDICTED,
    NOVEL,
    ROOTS,
    WRONG_SQUARES,
)
from sslart._drift.features import FeatureCut, FeatureHistory, FeatureShift, n_read, places_of_features, rounded
from sslart._drift.windows import AdaptiveWindow, Cut, Timeline
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.text import category_text, number_text
from sslart._utils.validation import MAX_COUNT, require, saved_array, saved_whole

NOVELTY, ERROR, CLASSES = MEASURES = ("novelty", "error", "classes")
FEATURES = "features"
KINDS = (*MEASURES, FEATURES)

# pairs (first sample of a stream, interval of checks): rarer in long streams, to save time
STEPS = ((0, BLOCK), (1024, 4 * BLOCK), (4096, 8 * BLOCK), (16_384, 16 * BLOCK))
FIRST_CLASS = FIRST_FEATURE  # column of the first class in rows without features
MAX_TOGETHER = 16_384  # samples processed at once, to bound memory
MAX_EVENTS = 1000  # the last ones are kept
SAME_CHANGE = 128  # samples between two changes that are reported as one
TINY = 1e-300  # avoids a division by zero with vigilance 1


@dataclass(frozen=True)
class DriftEvent:
    """A drift found by `partial_fit` in a stream; `str` describes it in words.

    Attributes
    ----------
    kind : {"novelty", "error", "classes", "features"}
        The change: samples fit the model worse, more of them are predicted wrongly before they are learnt, the share of
        a class among the labels changed, or the mean of a feature changed.
    sample : int
        The sample after which the drift was found, counted from 1 since the last `fit`.
    since : int
        The first sample after the change, as far as it can be located.
    before, after : float
        The mean of the measure before and after the change; for features, of the one with the largest shift.
    label : int, str, bool or None
        The class whose share has changed; None for other kinds.
    features : tuple of FeatureShift
        The features that changed at the same time, the largest shift first; at most five.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart import FuzzyART
    >>> X = np.random.default_rng(0).normal(size=(3000, 2))
    >>> X[1500:, 0] += 6
    >>> event = FuzzyART().partial_fit(X).drift_[0]
    >>> event.kind, event.sample
    ('features', 1536)
    >>> print(event.features[0])
    x0 from 0.0169 to 6.33 (5.9 standard deviations)
    """

    kind: str
    sample: int
    since: int
    before: float
    after: float
    label: Any = None
    features: tuple[FeatureShift, ...] = ()

    def __str__(self) -> str:
        return self.described_by("sample")

    def described_by(self, noun: str) -> str:
        """Return the event in words, with another noun for a sample, such as row."""
        levels = f"from {number_text(self.before, 2)} to {number_text(self.after, 2)}"
        direction = "rose" if self.after > self.before else "fell"
        what = {
            NOVELTY: f"{noun}s fit the model worse: their mean novelty rose {levels}",
            ERROR: f"more {noun}s are predicted wrongly: the share of errors rose {levels}",
            CLASSES: f"the share of class {category_text(self.label)} among the labels {direction} {levels}",
            FEATURES: "feature means changed",
        }[self.kind]
        moved = f" Features that moved: {'; '.join(map(str, self.features))}." if self.features else ""
        return f"Since {noun} {self.since} {what}; found at {noun} {self.sample}.{moved}"

    def to_dict(self, noun: str = "sample") -> dict[str, Any]:
        """Return the event as plain values for JSON, with another noun for a sample, such as row."""
        return {
            "kind": self.kind,
            noun: self.sample,
            "since": self.since,
            "before": rounded(self.before),
            "after": rounded(self.after),
            **({} if self.label is None else {"label": self.label}),
            "features": [feature.to_dict() for feature in self.features],
            "description": self.described_by(noun),
        }


class Measurements(NamedTuple):
    """Measurements of samples, taken before they were learnt.

    Attributes
    ----------
    gaps : array of length n_samples
        Distance of each sample from its box; NaN if no box passed vigilance.
    room : float
        The largest possible gap.
    codes, predicted : arrays of int, or None
        Class codes, -1 where unlabelled, and codes of the predicted classes, -1 for none. None: no classes.
    wrong : array, or None
        Instead of `predicted`: error of the prediction, from 0 to 1; NaN if nothing was predicted.
    """

    gaps: FloatArray
    room: float = 1.0
    codes: IntArray | None = None
    predicted: IntArray | None = None
    wrong: FloatArray | None = None

    @classmethod
    def of(
        cls,
        learnt: LearnResult,
        vigilance: float,
        codes: IntArray | None = None,
        better: Sequence[tuple[slice, IntArray]] = (),
    ) -> Measurements:
        """Return the measurements of samples by a network; `better`: predictions of the mapping, by rows."""
        predicted = learnt.predicted if codes is not None and len(learnt.predicted) else None
        if better and predicted is not None:
            predicted = predicted.copy()
            for rows, own in better:
                predicted[rows] = own
        return cls(learnt.gaps, max(1.0 - vigilance, TINY), codes, predicted)

    @classmethod
    def of_members(cls, novelty: FloatArray, right: BoolArray, codes: IntArray) -> Measurements:
        """Return the measurements averaged over the members of an ensemble, given the correct predictions of each."""
        return cls(novelty, 1.0, codes, None, np.where(codes == UNLABELLED, np.nan, 1.0 - right.mean(axis=0)))

    @property
    def novelty(self) -> FloatArray:
        """From 0 for a sample inside its box to 1 for a sample that no box can learn."""
        return np.fmin(self.gaps / self.room, 1.0)

    def rows(self, rows: slice) -> Measurements:
        """Return the measurements of the given rows."""
        others: list[Any] = [None if one is None else one[rows] for one in self[2:]]
        return Measurements(self.gaps[rows], self.room, *others)


class StreamNames(NamedTuple):
    """Names for the text of an event: column names (computed on demand), and classes by code."""

    column_names: Callable[[], Sequence[str]]
    classes: Sequence[Any]


@dataclass(eq=False)  # not frozen, which would make construction slower
class DriftMonitor:
    """Windows over the novelty, the errors and the classes of a stream, and the drifts found. Immutable.

    It does not depend on how the stream is split into calls. Its size grows with the logarithm of the stream.
    """

    n_samples: int = 0
    n_checked: int = 0  # samples processed by the windows
    n_read: int = 0  # samples whose features have been read
    sums: FloatArray = field(default_factory=lambda: np.empty((0, FIRST_FEATURE)))  # since the last check
    windows: tuple[AdaptiveWindow, ...] = (AdaptiveWindow(), AdaptiveWindow(), AdaptiveWindow().widened(0))
    history: FeatureHistory = field(default_factory=FeatureHistory)
    timeline: Timeline = field(default_factory=Timeline)
    events: tuple[DriftEvent, ...] = ()

    def after(self, learnt: Measurements, table: Table, names: StreamNames) -> DriftMonitor:
        """Return the monitor after samples have been learnt."""
        values, monitor = table.values, self
        n = len(values)
        if n > MAX_TOGETHER:
            for start in range(0, n, MAX_TOGETHER):
                rows = slice(start, start + MAX_TOGETHER)
                monitor = monitor.after(learnt.rows(rows), table[rows], names)
            return monitor
        sums = None
        if not table.categories and values.shape[1] == len(self.history.first):
            sums = self._summed(learnt, values, None)
        if sums is None:
            history, places = self.history.reading(table)
            n_classes = 0 if learnt.codes is None else int(learnt.codes.max(initial=UNLABELLED)) + 1
            monitor = self._widened(history, min(n_classes, MAX_CLASSES))
            sums = monitor._summed(learnt, values, places)
            assert sums is not None
        n_samples, history = self.n_samples + n, monitor.history
        waiting = DriftMonitor(
            n_samples, self.n_checked, self.n_read, sums, monitor.windows, history, monitor.timeline, self.events
        )
        return waiting._checked(names) if n_read(n_samples) > self.n_read else waiting

    def _summed(self, learnt: Measurements, values: FloatArray, places: IntArray | None) -> FloatArray | None:
        """Return the sums with further samples; None if they need further columns."""
        history, before = self.history, self.sums
        n_filled = self.n_samples - self.n_checked
        after = np.empty((-(-(n_filled + len(values)) // BLOCK), before.shape[1]))
        n_categories = len(history.categories)
        is_complete = backend().drift_sums(
            np.ascontiguousarray(values), places, history.first, *learnt, n_categories, n_filled, before, after
        )
        return after if is_complete else None

    def _widened(self, history: FeatureHistory, n_classes: int) -> DriftMonitor:
        """Return the monitor with further columns, categories, and classes."""
        before, n_now = self.history, self._n_classes()
        n_classes = max(n_classes, n_now)
        n_features = 3 * len(history.first) + len(history.categories)
        sums = np.zeros((len(self.sums), FIRST_FEATURE + n_features + n_classes))
        features = places_of_features(FIRST_FEATURE, before, len(history.first))
        classes = FIRST_FEATURE + n_features + np.arange(n_now)
        sums[:, np.concatenate([np.arange(FIRST_FEATURE), features, classes])] = self.sums
        novelty, errors, shares = self.windows
        windows, timeline = (novelty, errors, shares.widened(n_classes)), self.timeline.widened(FIRST_CLASS + n_classes)
        return replace(self, sums=sums, windows=windows, history=history, timeline=timeline)

    def _n_classes(self) -> int:
        """Return the number of classes that are counted."""
        width: int = self.sums.shape[1]
        return width - FIRST_FEATURE - 3 * len(self.history.first) - len(self.history.categories)

    def _checked(self, names: StreamNames) -> DriftMonitor:
        """Return the monitor after the features, and the windows that are due, have processed further samples."""
        start, end, read = self.n_checked, _n_complete(self.n_samples), n_read(self.n_samples)
        blocks = self.sums[: (read - start) // BLOCK]
        blocks[:, END] = np.arange(start + BLOCK, read + 1, BLOCK)
        first_class = blocks.shape[1] - self._n_classes()
        features = np.concatenate([blocks[:, : COUNT + 1], blocks[:, FIRST_FEATURE:first_class]], axis=1)
        windows, cuts, timeline, sums = self.windows, list[tuple[int, Cut]](), self.timeline, self.sums
        if end > start:
            n_blocks = (end - start) // BLOCK
            measured = np.concatenate([blocks[:n_blocks, :FIRST_FEATURE], blocks[:n_blocks, first_class:]], axis=1)
            windows, cuts = _cut(windows, measured, start, end)
            timeline, sums = timeline.adding(measured), sums[n_blocks:].copy()
        history, events = self.history.copy((read - self.n_read) // BLOCK), self.events
        taken = (self.n_read - start) // BLOCK
        for kind, cut in [*cuts, (None, None)]:
            stop = len(features) if cut is None else (cut.end - start) // BLOCK
            while taken < stop:
                n_taken, change = history.push(features[taken:stop])
                taken += n_taken
                if change is not None:
                    events = _adding(events, _moved(change, history, names, events))
            if kind is not None and cut is not None:
                events = _adding(events, _event(cut, MEASURES[kind], history, names, events))
        return DriftMonitor(self.n_samples, end, read, sums, windows, history, timeline, events)

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: plain values and arrays."""
        return {
            "n_samples": self.n_samples,
            "n_classes": self._n_classes(),
            "sums": self.sums,
            "windows": [window.to_state() for window in self.windows],
            "features": self.history.to_state(),
            "timeline": self.timeline.to_state(),
            "events": [{**vars(event), "features": [vars(one) for one in event.features]} for event in self.events],
        }

    @classmethod
    def from_state(cls, state: Any, n_columns: int) -> DriftMonitor:
        """Restore the monitor from a saved state after validating it."""
        n_samples = saved_whole(state, "n_samples", 0, MAX_COUNT)
        n_classes = saved_whole(state, "n_classes", 0, MAX_CLASSES)
        history = FeatureHistory.from_state(state["features"], n_columns, n_samples)
        n_checked = _n_complete(n_samples)
        width = FIRST_FEATURE + 3 * len(history.first) + len(history.categories) + n_classes
        sums = saved_array(state, "sums", np.float64, -(-(n_samples - n_checked) // BLOCK), width)
        require(np.isfinite(sums).all() and sums[:, COUNT].sum() == n_samples - n_checked, "the sums")
        require(((sums[:, ROOTS:FIRST_FEATURE] >= 0) & (sums[:, ROOTS:FIRST_FEATURE] <= BLOCK)).all(), "the sums")
        windows = tuple(
            AdaptiveWindow.from_state(one, n, n_samples)
            for one, n in zip(state["windows"], (1, 1, n_classes), strict=True)
        )
        timeline = Timeline.from_state(state["timeline"], FIRST_CLASS + n_classes)
        require(timeline.n_blocks * BLOCK == n_checked, "the timeline")
        events = tuple(_saved_event(one) for one in state["events"])
        return cls(n_samples, n_checked, n_read(n_samples), sums, windows, history, timeline, events)


NO_DRIFT = DriftMonitor()


def _step_after(n_samples: int) -> int:
    """Return the number of samples between two checks of the windows, after `n_samples` samples."""
    return next(step for start, step in reversed(STEPS) if n_samples >= start)


def _n_complete(n_samples: int) -> int:
    """Return the number of samples of a stream that the windows have processed."""
    step = _step_after(n_samples)
    return n_samples // step * step


def _series(measured: FloatArray) -> list[FloatArray]:
    """Return the input of each window, by kind: last sample, number of values, sums, and sums of squares."""
    novelty = measured[:, : NOVEL + 1]
    if not measured[:, N_LABELLED].any():
        return [novelty]
    ends, classes = measured[:, : END + 1], measured[:, FIRST_CLASS:]  # squares of zeros and ones are equal
    errors = np.concatenate([ends, measured[:, N_PREDICTED : WRONG_SQUARES + 1]], axis=1)
    return [novelty, errors, np.concatenate([ends, measured[:, N_LABELLED:], classes], axis=1)]


def _adding(events: tuple[DriftEvent, ...], event: DriftEvent | None) -> tuple[DriftEvent, ...]:
    return events if event is None else (*events, event)[-MAX_EVENTS:]


def _last_of(kind: str, events: Sequence[DriftEvent]) -> int:
    """Return the sample at which the last event of a kind was found; 0 if there was none."""
    return max((event.sample for event in events if event.kind == kind), default=0)


def _cut(
    windows: tuple[AdaptiveWindow, ...], measured: FloatArray, start: int, end: int
) -> tuple[tuple[AdaptiveWindow, ...], list[tuple[int, Cut]]]:
    """Return the windows after the blocks from `start` to `end`, and their cuts by kind, in the order of the stream."""
    checks, now = [], start
    while now < end:
        now += _step_after(now)
        checks.append(now)
    stops = (np.array(checks) - start) // BLOCK
    after, found = list(windows), []
    for kind, rows in enumerate(_series(measured)):
        after[kind], cuts = windows[kind].adding(rows, stops)
        found += [(int(np.searchsorted(checks, cut.end)), kind, cut) for cut in cuts]
    found.sort(key=lambda one: one[:2])
    return tuple(after), [(kind, cut) for _, kind, cut in found]


def _moved(
    cut: FeatureCut, history: FeatureHistory, names: StreamNames, events: Sequence[DriftEvent]
) -> DriftEvent | None:
    """Return the event of changed features; None if all of them have been reported already."""
    change, moved = history.changed(cut, names.column_names())
    if not moved or change <= _last_of(FEATURES, events):
        return None
    named = {one.name for event in events if event.since >= change - SAME_CHANGE for one in event.features}
    if named.issuperset(one.name for one in moved):
        return None
    return DriftEvent(FEATURES, cut.end, change + 1, moved[0].before, moved[0].after, None, moved)


def _event(
    cut: Cut, kind: str, history: FeatureHistory, names: StreamNames, events: Sequence[DriftEvent]
) -> DriftEvent | None:
    """Return the event of a cut; None if it is not a drift, or has been reported already.

    Decreasing novelty and errors are the effect of learning. A change before the last event of that kind is the same.
    """
    total = 2 if kind == NOVELTY else 1 + cut.series  # windows have roots of novelty, whose squares are reported
    before, after = (part.item(total) / part.item(0) for part in (cut.before, cut.after))
    if cut.change < _last_of(kind, events) or (kind != CLASSES and after <= before):
        return None
    label = None
    if kind == CLASSES and cut.series < min(len(names.classes), MAX_CLASSES - 1):
        label = names.classes[cut.series]
    features = history.shifts(cut.start, cut.change, names.column_names())
    return DriftEvent(kind, cut.end, cut.change + 1, before, after, label, features)


def _saved_event(state: Any) -> DriftEvent:
    """Restore the event from a saved state after validating it."""
    require(state["kind"] in KINDS and isinstance(state["label"], int | str | bool | None), "the drifts")
    sample, since = (saved_whole(state, name, 0, MAX_COUNT) for name in ("sample", "since"))
    shifts = [(one["name"], one["before"], one["after"], one["shift"]) for one in state["features"]]
    numbers = [state["before"], state["after"], *(value for _, *values in shifts for value in values)]
    require(all(type(value) is float for value in numbers), "the drifts")
    require(all(isinstance(name, str) for name, *_ in shifts), "the drifts")
    features = tuple(FeatureShift(*shift) for shift in shifts)
    return DriftEvent(state["kind"], sample, since, state["before"], state["after"], state["label"], features)


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
        """Return the drifts found in further rows, with row numbers as `sample` and `since`.

        `novel` is 1 for novel rows, else 0; `predicted` and `labels` are classes, None if there is none; `numbers` are
        row numbers, and `names` column names.
        """
        n_before, n_events = self._monitor.n_samples, len(self._monitor.events)
        codes = [UNLABELLED if label is None else self._codes.setdefault(label, len(self._codes)) for label in labels]
        wrong = [
            np.nan if None in (label, found) else float(label != found)
            for label, found in zip(labels, predicted, strict=True)
        ]
        learnt = Measurements(novel, codes=np.array(codes, dtype=np.int64), wrong=np.array(wrong, dtype=np.float64))
        self._monitor = self._monitor.after(learnt, table, StreamNames(lambda: names, tuple(self._codes)))
        events = self._monitor.events[n_events:]
        rows = [numbers[max(0, event.sample - n_before - 1)] for event in events]
        return [
            replace(event, sample=row, since=max(1, row - (event.sample - event.since)))
            for event, row in zip(events, rows, strict=True)
        ]
