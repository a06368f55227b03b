"""The plots of the report. matplotlib is imported only when something is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reproduction.framework.experiment import Results, Summary

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":", "-", "--", "-.", ":")


def panels(n: int, *, height: float = 3.1) -> tuple[Any, list[Any]]:
    """Return a figure and its panels, two in a row."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(n, 2)
    rows = -(-n // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.6 * columns, height * rows + 0.7), squeeze=False)
    flat = list(axes.flat)
    for unused in flat[n:]:
        unused.remove()
    for axis in flat[:n]:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, flat[:n]


def finish(figure: Any, axes: Sequence[Any]) -> Any:
    """Put one legend below all panels."""
    handles, labels = axes[0].get_legend_handles_labels()
    columns = max(1, min(len(labels), 3 if len(labels) > 4 else 2, len(labels)))
    rows = -(-len(labels) // columns)
    height = figure.get_figheight()
    figure.legend(handles, labels, loc="lower center", ncols=columns, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, (0.24 * rows + 0.1) / height, 1, 1))
    return figure


def _line(axis: Any, place: int, x: Sequence[float], summaries: Sequence[Any], label: str) -> None:
    style = {"color": COLOURS[place % 8], "marker": MARKERS[place % 8], "linestyle": DASHES[place % 8]}
    axis.plot(x, [one.mean for one in summaries], label=label, markersize=4, linewidth=1.3, **style)
    axis.fill_between(
        x, [one.low for one in summaries], [one.high for one in summaries], color=COLOURS[place % 8], alpha=0.13, lw=0
    )


def curves(
    results: Results,
    dataset: str,
    methods: Sequence[str],
    measures: Sequence[str | tuple[str, str]],
    *,
    along: str,
    label: str,
    vigilance: float | None = None,
) -> Any:
    """Draw each measure against vigilance, or against the number that leads the condition; bands are 95 % intervals.

    Of a pair of measures the first is drawn dotted, in the panel of the second.
    """
    figure, axes = panels(len(measures))

    def points(method: str, measure: str) -> list[tuple[float, Summary]]:
        found = []
        for value in results.distinct(along):
            at = (value,) if along == "vigilance" else (vigilance, value)
            summary = results.summary(dataset, method, measure, *at)
            if summary is not None:
                found.append((leading_number(value), summary))
        return sorted(found, key=lambda point: point[0])

    for axis, shown in zip(axes, measures, strict=True):
        dotted, measure = shown if isinstance(shown, tuple) else (None, shown)
        for place, method in enumerate(methods):
            found = points(method, measure)
            if found:
                _line(axis, place, [x for x, _ in found], [summary for _, summary in found], method)
            below = [(x, one.mean) for x, one in points(method, dotted) if one.mean > 0] if dotted else []
            if below:
                style = {"color": COLOURS[place % 8], "marker": MARKERS[place % 8], "markerfacecolor": "white"}
                axis.plot(*zip(*below, strict=True), linestyle=":", markersize=3, linewidth=1, **style)
        title = measure + ("" if measure.startswith("nodes") else ", %") + (f" (dotted: {dotted})" if dotted else "")
        axis.set(xlabel=label, title=title)
    return finish(figure, axes)


def leading_number(condition: Any) -> float:
    """Return the number that a condition such as "300 labels" starts with."""
    return float(condition) if isinstance(condition, float | int) else float(str(condition).split()[0].rstrip("%"))


def dots(
    title: str, names: Sequence[str], series: Mapping[str, Sequence[tuple[float, float, float] | None]], label: str
) -> Any:
    """Draw one row per name and one mark per series: a mean with its interval, hollow where it is only quoted."""
    figure, axes = panels(1, height=0.42 * len(names) + 0.8)
    axis = axes[0]
    figure.set_figwidth(7.2)
    offsets = np.linspace(-0.25, 0.25, len(series))
    for place, (name, points) in enumerate(series.items()):
        quoted = name.endswith("printed")
        known = [(row, point) for row, point in enumerate(points) if point is not None]
        if not known:
            continue
        means = [mean for _, (mean, _, _) in known]
        axis.errorbar(
            means,
            [row + offsets[place] for row, _ in known],
            xerr=[[mean - low for _, (mean, low, _) in known], [high - mean for _, (mean, _, high) in known]],
            fmt=MARKERS[place % 8],
            color=COLOURS[place % 8],
            markerfacecolor="white" if quoted else COLOURS[place % 8],
            markersize=5,
            linewidth=1,
            label=name,
        )
    axis.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5), xlabel=label, title=title)
    return finish(figure, axes)
