"""The display of drift: novelty, errors and class shares over a stream, with the detected drifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sslart._data.stream_sums import COUNT, END, N_LABELLED, N_PREDICTED, NOVEL, WRONG
from sslart._drift.monitor import CLASSES, ERROR, FEATURES, FIRST_CLASS, NOVELTY, DriftEvent, DriftMonitor
from sslart._mapping.model_view import view_of
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.optional import optional
from sslart._utils.text import category_text, list_text, number_text, plural
from sslart.plotting import _base as draw
from sslart.plotting._base import Display, at_least_one

HEIGHT = 0.78  # of a band; with the space above it the height is 1
NAMES = {
    NOVELTY: "mean novelty of samples",
    ERROR: "wrong predictions of labelled samples",
    CLASSES: "shares of the classes among the labels",
}
STEPS = (1, 2, 5, 10, 20, 30, 50, 75, 100)  # %, possible upper limits of a band
MIN_NAMED = 0.06  # minimum height of a class area for its name, relative to the band
APART = 0.03  # minimum distance of two numbers, relative to the width


@dataclass(eq=False, repr=False)
class DriftDisplay(Display):
    """Novelty, error rate, and class shares over a stream, with detected drifts.

    Drifts are numbered lines at the location of the change, those of features in the band of novelty. The legend names
    the changed features. Made by `from_estimator`.

    Attributes
    ----------
    samples : array of shape (n_parts,)
        The last sample of each part of the stream. Parts are of equal length, except for the last one.
    novelty, errors : arrays of shape (n_parts,)
        Mean novelty, and the share of wrong predictions; NaN without predictions.
    class_shares : array of shape (n_parts, n_classes)
        Share of each class among the labels; NaN without labels.
    classes : sequence
        The classes in that order.
    events : list of DriftEvent
    max_events : int
        Maximum number of listed events, the last ones.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart import FuzzyART
    >>> from sslart.plotting import DriftDisplay
    >>> X = np.random.default_rng(0).normal(size=(3000, 2))
    >>> X[1500:, 0] += 6
    >>> display = DriftDisplay.from_estimator(FuzzyART().partial_fit(X))
    >>> display.events[0].features[0].name
    'x0'
    """

    samples: IntArray
    novelty: FloatArray
    errors: FloatArray
    class_shares: FloatArray
    classes: Sequence[Any]
    events: list[DriftEvent]
    max_events: int = 6

    @classmethod
    def from_estimator(cls, model: Any, *, max_events: int = 6, ax: Any = None) -> Self:
        """Draw the drift of the stream that a model has learnt by `partial_fit`.

        Parameters
        ----------
        model : fitted estimator
        max_events : int, default=6
            Maximum number of drifts listed with their features, the last ones.
        ax : matplotlib axis, default=None
        """
        seen = view_of(model, "a fitted estimator of sslart", any_estimator=True).class_table.seen
        monitor: DriftMonitor = model.__sslart_drift__()
        rows = monitor.timeline.rows
        if not len(rows):
            raise ValueError(
                "There is no stream to draw: drift is looked for in samples that partial_fit has learnt since the last "
                "fit, 32 at least. Continue learning with partial_fit."
            )
        with np.errstate(invalid="ignore"):
            errors, shares = rows[:, WRONG] / rows[:, N_PREDICTED], rows[:, FIRST_CLASS:] / rows[:, [N_LABELLED]]
        ends, novelty = rows[:, END].astype(np.int64), rows[:, NOVEL] / rows[:, COUNT]
        most, classes = at_least_one("max_events", max_events), seen[: shares.shape[1]]
        return cls(ends, novelty, errors, shares, classes, list(monitor.events), most).plot(ax)

    def _draw(self, ax: Any) -> None:
        axis = self._open(ax, 7.2, 4.8)
        kinds = [NOVELTY]
        kinds += [] if np.isnan(self.errors).all() else [ERROR]
        kinds += [CLASSES] if len(self.classes) else []
        base_of = {kind: len(kinds) - 1 - place for place, kind in enumerate(kinds)}
        tops = {
            NOVELTY: self._draw_line(axis, base_of[NOVELTY], self.novelty, 0),
            ERROR: self._draw_line(axis, base_of[ERROR], self.errors, 1) if ERROR in kinds else 0.0,
            CLASSES: self._draw_classes(axis, base_of[CLASSES]) if CLASSES in kinds else 0.0,
        }
        ticks = [(base_of[kind] + part * HEIGHT, part * tops[kind]) for kind in kinds for part in (0.0, 1.0)]
        axis.set_yticks([at for at, _ in ticks], [f"{100 * share:g} %" for _, share in ticks], fontsize=8)
        for kind, base in base_of.items():
            axis.axhline(base, color=draw.GREY, linewidth=0.6)
            axis.text(0.01, base + HEIGHT + 0.03, NAMES[kind], transform=axis.get_yaxis_transform(), fontsize=8)
        axis.set(xlabel="sample", xlim=(0, 1.02 * self.samples[-1]), ylim=(-0.04, len(kinds)))
        handles = self._mark_drifts(axis, base_of)
        found = f"{plural(len(self.events), 'drift')} found"
        if len(handles) < len(self.events):
            found += f", listed from number {len(self.events) - len(handles) + 1} on"
        draw.set_title(axis, found, below=draw.legend_above(axis, handles) if handles else 6.0)

    def _draw_line(self, axis: Any, base: int, values: FloatArray, look: int) -> float:
        """Draw a measure in a band; return the value at the top of the band."""
        top = next((step / 100 for step in STEPS if step / 100 >= np.nanmax(values)), 1.0)
        own = draw.style(look)
        axis.plot(self._middles(), base + HEIGHT * values / top, color=own.colour, linestyle="-", linewidth=1.3)
        return top

    def _draw_classes(self, axis: Any, base: int) -> float:
        """Draw the shares of the classes as stacked areas, with their names on the right."""
        lower = np.full(len(self.samples), float(base))
        shares, names = HEIGHT * self.class_shares, draw.distinct([category_text(one) for one in self.classes], 14)
        known = np.flatnonzero(~np.isnan(shares).all(axis=1))
        for place, name in enumerate(names):
            upper = lower + np.nan_to_num(shares[:, place])
            where = ~np.isnan(shares[:, place])
            axis.fill_between(self._middles(), lower, upper, where=where, alpha=0.75, **draw.area(place))
            if len(known) and shares[known[-1], place] > MIN_NAMED:
                middle = (lower[known[-1]] + upper[known[-1]]) / 2
                look = {"fontsize": 8, "va": "center", "clip_on": False, "color": draw.style(place).colour}
                axis.text(1.01, middle, name, transform=axis.get_yaxis_transform(), **look)
            lower = upper
        return 1.0

    def _middles(self) -> FloatArray:
        starts = np.concatenate([[0], self.samples[:-1]])
        return np.asarray((starts + self.samples) / 2)

    def _mark_drifts(self, axis: Any, base_of: dict[str, int]) -> list[Any]:
        """Draw a line at every drift; return one for each that is listed, for a legend."""
        lines = optional("matplotlib.lines", "plot")
        handles, line = [], {"color": draw.DARK, "linestyle": "--", "linewidth": 1.0}
        numbers: dict[tuple[int, float], list[int]] = {}  # by band and place
        for number, event in enumerate(self.events, 1):
            base = base_of.get(event.kind, base_of[NOVELTY])
            axis.plot([event.since] * 2, [base, base + HEIGHT], **line)
            if number > len(self.events) - self.max_events:
                near = APART * self.samples[-1]
                place = next((at for at in numbers if at[0] == base and abs(at[1] - event.since) < near), None)
                numbers.setdefault(place or (base, event.since), []).append(number)
                label = f"{number}: {event.kind} since {event.since}, {_levels(event)}{_moved(event)}"
                handles.append(lines.Line2D([], [], label=draw.short(label, 96), **line))
        for (base, since), together in numbers.items():
            where = {"ha": "center", "va": "bottom", "clip_on": False}
            axis.text(since, base + HEIGHT, ", ".join(map(str, together)), fontsize=8, **where)
        return handles


def _levels(event: DriftEvent) -> str:
    if event.kind == FEATURES:
        return f"{number_text(event.before, 3)} to {number_text(event.after, 3)}"
    levels = f"{100 * event.before:.0f} to {100 * event.after:.0f} %"
    return levels if event.label is None else f"class {category_text(event.label)} {levels}"


def _moved(event: DriftEvent) -> str:
    return f"; moved: {list_text([one.name for one in event.features], 3)}" if event.features else ""
