"""What the displays draw with: colours, marks, names that fit, titles and legends."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import FloatArray, IntArray
from sslart.rules._scales import Rule, RuleCondition, Scale

# Okabe and Ito: told apart with any kind of colour vision. Grey is kept for what has no label.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
HATCHES = ("", "////", "xxxx", "....")
OPEN_HATCHES = ("///", "\\\\\\", "xxx", "---")
GREY, PALE, DARK = "#8a8a8a", "#ececec", "#333333"
CHARACTER = 0.62  # width of a character, in parts of the size of the font


class Style(NamedTuple):
    """How a class is drawn: as a line, a mark, or an area."""

    colour: str
    dash: Any
    marker: str
    hollow: bool
    hatch: str


def style(place: int) -> Style:
    """Return the style of the class at a place; no two of the first 28 share colour and hatch, or colour and dash."""
    if place == UNLABELLED:
        return Style(GREY, ":", ".", False, "")
    turn, one = divmod(place, len(COLOURS))
    dash, hatch = DASHES[(one + turn) % len(DASHES)], HATCHES[turn % len(HATCHES)]
    return Style(COLOURS[one], dash, MARKERS[place % len(MARKERS)], turn > 0, hatch)


def area(place: int) -> dict[str, Any]:
    """Return how to fill an area that belongs to a class."""
    look = style(place)
    return {"facecolor": look.colour, "edgecolor": "white", "hatch": look.hatch, "linewidth": 0}


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


def room(ax: Any, taken: float = 0.0) -> tuple[float, float]:
    """Return about how wide and high an axis will be, in points, where labels and legend take so much of its width."""
    figure, box = ax.figure, ax.get_window_extent()
    width, height = 72 * box.width / figure.dpi, 72 * box.height / figure.dpi
    if taken and len(figure.axes) == 1 and figure.get_layout_engine() is not None:
        width = 72 * figure.bbox.width / figure.dpi - taken
    return max(width, 1.0), max(height, 1.0)


def text_width(texts: Iterable[str], size: float) -> float:
    """Return about how wide the widest text is, in points."""
    return CHARACTER * size * max((len(text) for text in texts), default=0)


def short(text: Any, length: int = 26) -> str:
    """Return a text, cut where it is too long for an axis."""
    return _plain(_end_cut(_one_line(text), length))


def distinct(texts: Iterable[Any], length: int = 26) -> list[str]:
    """Return texts cut to a length such that those that differ still do.

    >>> distinct(["protein number 1 (ng)", "protein number 2 (ng)"], 14)
    ['protein…1 (ng)', 'protein…2 (ng)']
    """
    words = [_one_line(text) for text in texts]
    start = _shared(words)
    ways: tuple[Callable[[str], str], ...] = (
        lambda word: _middle_cut(word, length),
        lambda word: _end_cut("…" + word[start:], length),
        lambda word: _end_cut(word, length),
    )
    for way in ways:
        cut = [way(word) for word in words]
        if len(set(cut)) == len(set(words)):
            return [_plain(word) for word in cut]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words), 1)}
    return [_plain(_end_cut(f"{numbers[word]}: {word}", length)) for word in words]


def _shared(words: Sequence[str]) -> int:
    """Return how many characters, in whole words, all texts begin with."""
    first, last = min(words, default=""), max(words, default="")
    pairs = zip(first, last, strict=False)
    same = next((place for place, (one, other) in enumerate(pairs) if one != other), 0)
    return first.rfind(" ", 0, same) + 1


def _one_line(text: Any) -> str:
    return " ".join(str(text).split())


def _plain(text: str) -> str:
    return text.replace("$", r"\$")


def _end_cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _middle_cut(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    end = text[-(length // 2) :]
    if " " in end[:-3]:
        end = end.split(" ", 1)[1]
    return text[: length - 1 - len(end)].rstrip() + "…" + end


def number(value: float) -> str:
    """Return a number as people write it."""
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}", 1) if value < 0 else f"{value:.4g}"


def value_text(value: Any) -> str:
    """Return the value that a sample has: a number, a category, or that it is missing."""
    if value is None:
        return "missing"
    return number(value) if isinstance(value, float | int) and not isinstance(value, bool) else short(value, 16)


def plural(n: int, noun: str) -> str:
    """Return how many of something there are."""
    return f"{n} {noun}{'' if n == 1 else 'es' if noun.endswith(('x', 's')) else 's'}"


def part(shown: int, total: int, noun: str, by: str) -> str:
    """Return how many are drawn, and which where that is not all of them."""
    return plural(total, noun) if shown == total else f"{shown} of {plural(total, noun)}: {by}"


def entitle(ax: Any, *lines: str, below: float = 6.0, taken: float = 0.0) -> None:
    """Set a title of several lines that end with the axis, some points above it."""
    length = max(24, int(room(ax, taken)[0] / (9 * CHARACTER)))
    rows = [row for line in lines for row in textwrap.wrap(line, length)]
    ax.set_title("\n".join(rows), fontsize=10, loc="left", pad=below)


def legend_above(ax: Any, handles: Sequence[Any] | None = None) -> float:
    """Put a legend between axis and title, where it hides nothing; return how many points the title is to clear."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    ax.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize=8, borderaxespad=0.2
    )
    return 9.0 + 13.0 * len(handles)


def legend_beside(ax: Any, handles: Sequence[Any] | None = None, title: str | None = None) -> None:
    """Put a legend to the right of the axis, or inside it where the figure makes no room for it by itself."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    look: dict[str, Any] = {"loc": "best", "framealpha": 0.85}
    if ax.figure.get_layout_engine() is not None:
        look = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "frameon": False, "handlelength": 3}
    legend = ax.legend(handles=handles, fontsize=8, title=title, **look)
    legend.get_title().set_fontsize(8)


def feature_ticks(ax: Any, names: Sequence[str], taken: float) -> None:
    """Name the features along the horizontal axis, slanted or upright where they would not fit."""
    column = room(ax, taken)[0] / max(len(names), 1)
    turned: dict[str, Any] = {}
    if text_width(names, 8) + 4 > column:
        turned = {"rotation": 40 if column > 18 else 90, "ha": "right", "rotation_mode": "anchor"}
    if turned.get("rotation") == 90:
        turned["va"] = "center"
    ax.set_xticks(range(len(names)), names, fontsize=8 if column > 11 else 6, **turned)


def class_handles(classes: Sequence[Any], places: Iterable[int]) -> list[Any]:
    """Return a line with its mark for each class that is drawn, to be named in a legend."""
    from matplotlib.lines import Line2D

    drawn = sorted({int(place) for place in places}, key=lambda place: (place == UNLABELLED, place))
    names = distinct(classes, 30)
    handles = []
    for place in drawn:
        look = style(place)
        mark: dict[str, Any] = {"marker": look.marker, "markersize": 4 if place == UNLABELLED else 6}
        face = "white" if look.hollow else look.colour
        name = "no label" if place == UNLABELLED else names[place]
        line: dict[str, Any] = {"color": look.colour, "linestyle": look.dash, "linewidth": 1.3}
        handles.append(Line2D([], [], label=name, markerfacecolor=face, **mark, **line))
    return handles


def asked_share(condition: RuleCondition, scale: Scale) -> float:
    """Return the part of the range that a condition rules out: 0 where it asks nothing."""
    if condition.full_range:
        return 0.0
    if scale.categories is not None:
        return 1 - len(condition.categories or ()) / len(scale.categories)
    span = scale.high - scale.low
    return 1 - (condition.high_value - condition.low_value) / span if span > 0 else 0.0


def bands(condition: RuleCondition, scale: Scale) -> list[tuple[float, float]]:
    """Return the stretches of its scale that a condition allows, from 0 to 1; one for each category."""
    if condition.full_range:
        return [(0.0, 1.0)]
    if scale.categories is not None:
        n = len(scale.categories)
        places = sorted(scale.categories.index(one) for one in condition.categories or ())
        return [(place / n, (place + 1) / n) for place in places] or [(0.0, 1.0)]
    span = scale.high - scale.low
    if not span > 0:
        return [(0.5, 0.5)]
    return [((condition.low_value - scale.low) / span, (condition.high_value - scale.low) / span)]


def band(condition: RuleCondition, scale: Scale) -> tuple[float, float]:
    """Return from where to where a condition reaches on its scale, both from 0 to 1."""
    stretches = bands(condition, scale)
    return stretches[0][0], stretches[-1][1]


def blocks(condition: RuleCondition, scale: Scale) -> list[tuple[float, float]]:
    """Return where the bars of a cell start and how long they are, in parts of the cell; none where all is allowed."""
    if condition.full_range:
        return []
    if scale.categories is not None:
        return [(low, high - low) for low, high in bands(condition, scale)]
    n, low, high = len(scale.terms), condition.low_level or 1, condition.high_level or 1
    return [((low - 1) / n, (high - low + 1) / n)]


def level_text(condition: RuleCondition) -> str:
    """Return the levels or categories of a condition in a few characters."""
    if condition.full_range:
        return "any"
    if condition.categories is not None:
        return short("|".join(map(str, condition.categories)), 14)
    low, high = condition.low_level, condition.high_level
    return str(low) if low == high else f"{low}–{high}"


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


def draw_lines(ax: Any, x: Any, lines: Sequence[tuple[str, Any]], *, marks: bool = True) -> None:
    """Draw named lines that differ by colour, dash and mark."""
    for place, (label, values) in enumerate(lines):
        look = style(place)
        mark = look.marker if marks else None
        ax.plot(x, values, color=look.colour, linestyle=look.dash, marker=mark, markersize=4.5, label=label)
    ax.grid(alpha=0.3)
