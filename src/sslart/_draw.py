"""How the displays draw: colours, marks and axes, and one function per picture, from plain data to an axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sslart._levels import Condition, Rule, Scale
from sslart._validate import UNLABELLED, FloatArray, IntArray

# Okabe and Ito: told apart with any kind of colour vision. Grey is kept for what has no label.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
WINNER: dict[str, Any] = {"color": COLOURS[0]}
RIVAL: dict[str, Any] = {"facecolor": "white", "edgecolor": COLOURS[1], "hatch": "////", "linewidth": 1.0}
GREY, PALE, DARK = "#8a8a8a", "#ececec", "#333333"


def colour(place: int) -> str:
    """Return the colour of the class at a place; grey for none."""
    return GREY if place == UNLABELLED else COLOURS[place % len(COLOURS)]


def dash(place: int) -> Any:
    """Return the line style of the class at a place; another after each round of the colours."""
    return ":" if place == UNLABELLED else DASHES[(place + place // len(COLOURS)) % len(DASHES)]


def canvas(ax: Any, width: float, height: float) -> tuple[Any, Any]:
    """Return the given axis and its figure, or an axis in a figure of its own, of a size in inches."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Displays are drawn with matplotlib: pip install "sslart[plot]".') from error
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    elif not hasattr(ax, "add_patch"):
        raise ValueError(f"ax must be one matplotlib axis or None, got {type(ax).__name__}. Of an array give axes[0].")
    ax.spines[["top", "right"]].set_visible(False)
    return ax, ax.figure


def short(text: Any, length: int = 26) -> str:
    """Return a text, cut where it is too long for an axis."""
    words = str(text)
    words = words if len(words) <= length else words[: length - 1].rstrip() + "…"
    return words.replace("$", r"\$")


def number(value: float) -> str:
    """Return a number as people write it."""
    return f"{value:.4g}"


def value_text(value: Any) -> str:
    """Return the value that a sample has: a number, a category, or that it is missing."""
    if value is None:
        return "missing"
    return number(value) if isinstance(value, float | int) and not isinstance(value, bool) else short(value, 12)


def off_by(condition: Any) -> str:
    """Return how far a sample is off one side of a box, in the units of the feature."""
    if condition.inside is None:
        return "not known"
    if condition.inside:
        return "inside"
    return number(condition.outside_by) if condition.categories is None else "other category"


def plural(n: int, noun: str) -> str:
    """Return how many of something there are."""
    return f"{n} {noun}{'' if n == 1 else 'es' if noun.endswith(('x', 's')) else 's'}"


def part(shown: int, total: int, noun: str, by: str) -> str:
    """Return how many are drawn, and by what they were picked where that is not all of them."""
    return plural(total, noun) if shown == total else f"{shown} of {plural(total, noun)}, {by}"


def entitle(ax: Any, *lines: str) -> None:
    """Set a title with smaller print below it."""
    ax.set_title("\n".join(line for line in lines if line), fontsize=10, loc="left")


def beside(ax: Any, title: str | None = None) -> None:
    """Put the legend to the right of the axis, where it hides nothing."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8, title=title)


def feature_ticks(ax: Any, names: Sequence[str]) -> None:
    """Name the features along the horizontal axis, slanted where they would not fit."""
    flat = sum(len(short(name)) for name in names) < 70
    turned: dict[str, Any] = {} if flat else {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(len(names)), [short(name) for name in names], fontsize=8, **turned)


def asked_share(condition: Condition, scale: Scale) -> float:
    """Return the part of the range that a condition rules out: 0 where it asks nothing."""
    if condition.full_range:
        return 0.0
    if scale.categories is not None:
        return 1 - len(condition.categories or ()) / len(scale.categories)
    span = scale.high - scale.low
    return 1 - (condition.high_value - condition.low_value) / span if span > 0 else 0.0


def band(condition: Condition, scale: Scale) -> tuple[float, float]:
    """Return from where to where a condition reaches on its scale, both from 0 to 1."""
    if condition.full_range:
        return 0.0, 1.0
    if scale.categories is not None:
        places = [scale.categories.index(one) / max(len(scale.categories) - 1, 1) for one in condition.categories or ()]
        return (min(places), max(places)) if places else (0.0, 1.0)
    span = scale.high - scale.low
    if not span > 0:
        return 0.5, 0.5
    return (condition.low_value - scale.low) / span, (condition.high_value - scale.low) / span


def worth(rules: Sequence[Rule], scales: Sequence[Scale]) -> FloatArray:
    """Return how much the rules differ in each feature: the variance of their middles, or else what they ask of it."""
    support = np.array([rule.support for rule in rules], dtype=float)
    pairs = [list(zip(rule.conditions, scales, strict=True)) for rule in rules]
    middles = np.array([[sum(band(*pair)) / 2 for pair in row] for row in pairs])
    asked = np.array([[asked_share(*pair) for pair in row] for row in pairs])
    spread = (middles - np.average(middles, axis=0, weights=support)) ** 2
    return np.asarray(np.average(spread + 1e-6 * asked, axis=0, weights=support))


def most(values: FloatArray, n: int) -> IntArray:
    """Return the places of the greatest values, in their own order; the first on ties."""
    return np.sort(np.argsort(-values, kind="stable")[:n])


def draw_boxes(ax: Any, lower: FloatArray, upper: FloatArray, places: IntArray) -> None:
    """Draw boxes over two features as rectangles, those with a label above those without."""
    from matplotlib.patches import Rectangle

    alpha = min(0.12, max(0.02, 0.8 / max(len(lower), 1)))
    for low, high, place in zip(lower, upper, places.tolist(), strict=True):
        width = 0.8 if place == UNLABELLED else 1.3
        shape = {"facecolor": colour(place), "edgecolor": "none", "alpha": alpha}
        outline = {"fill": False, "edgecolor": colour(place), "linestyle": dash(place), "linewidth": width}
        for style in (shape, outline):
            order = 1 if place == UNLABELLED else 1.5
            ax.add_patch(Rectangle(tuple(low), *(high - low), zorder=order, joinstyle="round", **style))
    ax.update_datalim(np.concatenate([lower, upper]))
    ax.margins(0.05)
    ax.autoscale_view()


def draw_samples(ax: Any, samples: FloatArray, places: IntArray) -> None:
    """Draw samples as marks, one shape and colour per class, small dots for those without a label."""
    for place in np.unique(places).tolist():
        own = samples[places == place]
        if place == UNLABELLED:
            ax.scatter(*own.T, s=7, c=GREY, alpha=0.5, linewidths=0, zorder=2)
            continue
        hollow = place >= len(COLOURS)
        face = "none" if hollow else colour(place)
        edge = colour(place) if hollow else "white"
        mark = MARKERS[place % len(MARKERS)]
        line = 0.8 if hollow else 0.4
        ax.scatter(*own.T, s=20, marker=mark, facecolors=face, edgecolors=edge, linewidths=line, zorder=2.5)


def class_legend(ax: Any, classes: Sequence[Any], places: Iterable[int]) -> None:
    """Name the classes that are drawn."""
    from matplotlib.lines import Line2D

    drawn = sorted({int(place) for place in places}, key=lambda place: (place == UNLABELLED, place))
    handles = []
    for place in drawn:
        style: dict[str, Any] = {"color": colour(place), "linestyle": dash(place), "marker": ".", "markersize": 4}
        if place != UNLABELLED:
            face = "white" if place >= len(COLOURS) else colour(place)
            style |= {"marker": MARKERS[place % len(MARKERS)], "markersize": 5, "markerfacecolor": face}
        name = "no label" if place == UNLABELLED else short(classes[place])
        handles.append(Line2D([], [], label=name, linewidth=1.3, **style))
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8, handlelength=3)


def draw_parallel(
    ax: Any, low: FloatArray, high: FloatArray, scales: Sequence[Scale], places: Sequence[int], labels: Sequence[str]
) -> None:
    """Draw each rule as a band across the features, with a line and marks of its own through the middle."""
    across = np.arange(len(scales))
    reach = np.stack([across - 0.12, across + 0.12], axis=1).ravel()
    for row, (place, label) in enumerate(zip(places, labels, strict=True)):
        below, above = np.repeat(low[row], 2), np.repeat(high[row], 2)
        ax.fill_between(reach, below, above, color=colour(place), alpha=0.08, linewidth=0)
        style: dict[str, Any] = {"color": colour(place), "linestyle": DASHES[row % len(DASHES)]}
        for side in (below, above):
            ax.plot(reach, side, linewidth=0.7, alpha=0.7, **style)
        mark = MARKERS[row % len(MARKERS)]
        ax.plot(across, (low[row] + high[row]) / 2, marker=mark, markersize=5, linewidth=1.6, label=label, **style)
    for column, scale in enumerate(scales):
        ax.axvline(column, color=DARK, linewidth=0.6, zorder=1)
        if len(scales) <= 12:
            lowest, highest = number(scale.low), number(scale.high)
            if scale.categories is not None:
                lowest, highest = short(scale.terms[0], 9), short(scale.terms[-1], 9)
            ax.text(column, -0.02, lowest, ha="center", va="top", fontsize=7, color=DARK)
            ax.text(column, 1.02, highest, ha="center", va="bottom", fontsize=7, color=DARK)
    ax.set_ylim(-0.09, 1.09)
    ax.set_xlim(-0.4, len(scales) - 0.6)
    ax.set_yticks([0, 0.5, 1], ["lowest", "middle", "highest"], fontsize=8)
    ax.set_ylabel("value, in the learnt range")


def draw_heatmap(ax: Any, rules: Sequence[Rule], columns: Sequence[int], scales: Sequence[Scale], places: Any) -> None:
    """Draw rules by features: in each cell the levels as a bar on a pale track, and in figures above it."""
    for row, (rule, place) in enumerate(zip(rules, places, strict=True)):
        bars = []
        for cell, column in enumerate(columns):
            condition, scale = rule.conditions[column], scales[column]
            look = {"fontsize": 7, "color": GREY} if condition.full_range else {"fontsize": 8, "color": DARK}
            ax.text(cell, row - 0.12, level_text(condition), ha="center", va="center", **look)
            bars += [(cell - 0.44 + 0.88 * start, 0.88 * length) for start, length in _blocks(condition, scale)]
        ax.broken_barh([(cell - 0.44, 0.88) for cell in range(len(columns))], (row + 0.08, 0.28), facecolor=PALE)
        ax.broken_barh(bars, (row + 0.08, 0.28), facecolor=colour(place))
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(rules) - 0.5, -0.5)
    ax.hlines(np.arange(len(rules) - 1) + 0.5, -0.5, len(columns) - 0.5, color=PALE, linewidth=0.8)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    for artist in (*ax.texts, *ax.collections):  # all inside the axis: nothing to make room for
        artist.set_in_layout(False)


def _blocks(condition: Condition, scale: Scale) -> list[tuple[float, float]]:
    """Return where the bars of a cell start and how long they are, in parts of the cell; none where all is allowed."""
    if condition.full_range:
        return []
    if scale.categories is not None:
        n = len(scale.categories)
        return [(scale.categories.index(one) / n, 1 / n) for one in condition.categories or ()]
    n, low, high = len(scale.terms), condition.low_level or 1, condition.high_level or 1
    return [((low - 1) / n, (high - low + 1) / n)]


def level_text(condition: Condition) -> str:
    """Return the levels or categories of a condition in a few characters."""
    if condition.full_range:
        return "any"
    if condition.categories is not None:
        return short("|".join(map(str, condition.categories)), 11)
    low, high = condition.low_level, condition.high_level
    return str(low) if low == high else f"{low}–{high}"


def draw_reasons(ax: Any, own: FloatArray, rival: FloatArray | None, offs: Sequence[Any], names: Sequence[str]) -> None:
    """Draw for each feature how far the sample is off the two boxes, and beside the bars how far in its own units."""
    rows = np.arange(len(names))
    height = 0.8 if rival is None else 0.38
    shift = 0.0 if rival is None else 0.2
    sides: list[tuple[FloatArray, Any, dict[str, Any], list[str]]] = [
        (own, rows - shift, WINNER, [off[0] for off in offs])
    ]
    if rival is not None:
        sides.append((rival, rows + shift, RIVAL, [off[1] for off in offs]))
    longest = max([float(lengths.max(initial=0)) for lengths, *_ in sides]) or 1.0
    for lengths, where, style, texts in sides:
        ax.barh(where, lengths, height=height, **style)
        for length, y, text in zip(lengths, where, texts, strict=True):
            ax.text(length + 0.01 * longest, y, text, va="center", fontsize=7, color=DARK)
    ax.set_yticks(rows, names, fontsize=8)
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.set_xlim(0, 1.25 * longest)
    ax.set_xlabel("distance, in learnt ranges (beside the bars: in units of the feature)")


def box_legend(ax: Any, own: str, rival: str | None) -> None:
    """Name the two boxes that bars measure the way to; the shortest bars are at the bottom."""
    from matplotlib.patches import Patch

    handles = [Patch(label=own, **WINNER)] + ([] if rival is None else [Patch(label=rival, **RIVAL)])
    ax.legend(handles=handles, loc="lower right", fontsize=8, framealpha=0.9)


def draw_votes(ax: Any, rows: Sequence[tuple[str, int, Sequence[tuple[int, float]], bool]]) -> None:
    """Draw one bar per class, made of the votes of its members; each vote bears the number of its member."""
    total = max([sum(weight for _, weight in votes) for *_, votes, _ in rows] + [1e-9])
    for row, (_, place, votes, wins) in enumerate(rows):
        start = 0.0
        for member, weight in votes:
            hatch = None if wins else "///"
            face = colour(place) if wins else "white"
            edge = "white" if wins else colour(place)
            ax.barh(row, weight, left=start, height=0.7, facecolor=face, edgecolor=edge, hatch=hatch, linewidth=1.2)
            if weight > 0.025 * total:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.9}
                ax.text(start + weight / 2, row, str(member), ha="center", va="center", fontsize=7, bbox=box)
            start += weight
        ax.text(start + 0.01 * total, row, number(start), va="center", fontsize=8, color=DARK)
    ax.set_yticks(range(len(rows)), [name for name, *_ in rows], fontsize=8)
    ax.set_ylim(len(rows) - 0.45, -0.55)
    ax.set_xlim(0, 1.12 * total)


def draw_lines(ax: Any, x: Any, lines: Sequence[tuple[str, Any]], *, marks: bool = True) -> None:
    """Draw named lines that differ by colour, dash and mark."""
    for place, (label, values) in enumerate(lines):
        mark = MARKERS[place] if marks else None
        ax.plot(x, values, color=COLOURS[place], linestyle=DASHES[place], marker=mark, markersize=4, label=label)
    ax.grid(alpha=0.3)
