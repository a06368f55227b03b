"""Drift events: time, measure, levels before and after, and the features that shifted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sslart._data.saved import MAX_COUNT, require, saved_whole
from sslart._utils.text import category_text, number_text, printable

NOVELTY, ERROR, CLASSES = MEASURES = ("novelty", "error", "classes")
FEATURES = "features"
KINDS = (*MEASURES, FEATURES)


@dataclass(frozen=True)
class FeatureShift:
    """A feature whose mean differs before and after a drift.

    Attributes
    ----------
    name : str
        The feature; feature=category for a category, of which `before` and `after` are the shares.
    before, after : float
        The mean in the user's units.
    shift : float
        The difference, in standard deviations of the feature before the drift.
    """

    name: str
    before: float
    after: float
    shift: float

    def __str__(self) -> str:
        distance = f"{abs(self.shift):.1f} standard deviations"
        return f"{printable(self.name)} from {number_text(self.before, 3)} to {number_text(self.after, 3)} ({distance})"

    def to_dict(self) -> dict[str, Any]:
        """Return the shift as plain values."""
        return {"name": self.name, **{name: _rounded(getattr(self, name)) for name in ("before", "after", "shift")}}


@dataclass(frozen=True)
class DriftEvent:
    """A drift that `partial_fit` has found in a stream; `str` describes it in words.

    Attributes
    ----------
    kind : {"novelty", "error", "classes", "features"}
        What has changed: samples fit the model worse, more of them are predicted wrongly before they are learnt, the
        share of a class among the labels is another, or the values of a feature are where they never were.
    sample : int
        The sample after which the drift was found, counted from 1 since the last `fit`.
    since : int
        The first sample after the change, as far as it can be located.
    before, after : float
        The mean of the measure on either side of the change; for features, of the one that moved most.
    label : int, str, bool or None
        The class whose share has changed; None for other kinds.
    features : tuple of FeatureShift
        The features that moved at the same time, the one that moved most first; at most five.

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
    x0 from 0.0012 to 1.71 (1.7 standard deviations)
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
            FEATURES: "values are where they never were",
        }[self.kind]
        moved = f" Features that moved: {'; '.join(map(str, self.features))}." if self.features else ""
        return f"Since {noun} {self.since} {what}; found at {noun} {self.sample}.{moved}"

    def to_dict(self, noun: str = "sample") -> dict[str, Any]:
        """Return the event as plain values, such as JSON holds, with another noun for a sample, such as row."""
        return {
            "kind": self.kind,
            noun: self.sample,
            "since": self.since,
            "before": _rounded(self.before),
            "after": _rounded(self.after),
            **({} if self.label is None else {"label": self.label}),
            "features": [feature.to_dict() for feature in self.features],
            "description": self.described_by(noun),
        }


def events_to_state(events: tuple[DriftEvent, ...]) -> list[dict[str, Any]]:
    """Return events as plain values to save."""
    return [{**vars(event), "features": [vars(one) for one in event.features]} for event in events]


def events_from_state(state: Any) -> tuple[DriftEvent, ...]:
    """Return the events of a saved state, after checking that they can be such."""
    events = []
    for one in state:
        require(one["kind"] in KINDS and isinstance(one["label"], int | str | bool | None), "the drifts")
        sample, since = (saved_whole(one, name, 0, MAX_COUNT) for name in ("sample", "since"))
        features = tuple(FeatureShift(_text(shift["name"]), *_numbers(shift, "shift")) for shift in one["features"])
        before, after = _numbers(one)
        events.append(DriftEvent(one["kind"], sample, since, before, after, one["label"], features))
    return tuple(events)


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def _text(value: Any) -> str:
    require(isinstance(value, str), "the drifts")
    return str(value)


def _numbers(state: Any, *more: str) -> list[float]:
    values = [state[name] for name in ("before", "after", *more)]
    require(all(type(value) is float for value in values), "the drifts")
    return values
