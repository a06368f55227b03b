"""Base class of the displays, and helpers: styles of classes, shortened names, titles, legends."""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.optional import optional
from sslart._utils.text import DateName, number_text, plural, printable
from sslart._utils.text import value_text as text_of_value
from sslart._utils.validation import check_whole
from sslart.explain import Explanation

# Okabe and Ito: distinguishable with any kind of colour vision. Grey is for unlabelled items.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
HATCHES = ("", "////", "xxxx", "....")
OPEN_HATCHES = ("///", "\\\\\\", "xxx", "---")
GREY, PALE, DARK = "#8a8a8a", "#ececec", "#333333"
CHARACTER = 0.62  # mean width of a character relative to the font size


@dataclass(eq=False, repr=False)
class Display:
    """Base class of displays, as in scikit-learn: data that can be drawn on an axis."""

    ax_: Any = field(init=False)
    figure_: Any = field(init=False)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axis, or on a new one."""
        self._draw(ax)
        return self

    @abstractmethod
    def _draw(self, ax: Any) -> None: ...

    def _open(self, ax: Any, width: float, height: float) -> Any:
        """Return the given axis, or one of a new figure of a size in inches."""
        if ax is None:
            _, ax = optional("matplotlib.pyplot", "plot").subplots(figsize=(width, height), layout="constrained")
        elif not hasattr(ax, "add_patch"):
            kind = type(ax).__name__
            raise ValueError(f"ax must be one matplotlib axis or None, got {kind}. For an array pass axes[0].")
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def at_least_one(name: str, value: Any) -> int:
    """Validate a positive integer parameter."""
    return check_whole("the display", name, value) or 1


def check_type(name: str, value: Any, wanted: type, origin: str) -> None:
    """Raise a TypeError with a remedy unless a value is of the wanted class."""
    if not isinstance(value, wanted):
        raise TypeError(f"{name} must be {origin}, got a {type(value).__name__}.")


def an_explanation(value: Any) -> Explanation:
    """Validate an explanation."""
    check_type("explanation", value, Explanation, "one that model.explain(X) gives, such as model.explain(X)[0]")
    return value  # type: ignore[no-any-return]


def one_sample(x: Any) -> Any:
    """Return one sample as a table of one row."""
    if hasattr(x, "to_frame") and hasattr(x, "infer_objects"):
        return x.to_frame().T.infer_objects()
    if not hasattr(x, "columns") and np.asarray(x, dtype=object).ndim == 1:
        return np.asarray(x)[None, :] if hasattr(x, "dtype") else [x]
    if _num_samples(x) != 1:
        raise ValueError(f"x must be one sample, got {_num_samples(x)}: give X[0] of an array, X.iloc[[0]] of a frame.")
    return x


class Style(NamedTuple):
    """Drawing style of a class for lines, markers, and areas."""

    colour: str
    dash: Any
    marker: str
    hollow: bool
    hatch: str

    @property
    def line(self) -> dict[str, Any]:
        """Colour and dash."""
        return {"color": self.colour, "linestyle": self.dash}


def style(index: int) -> Style:
    """Return the style of a class by its index; no two of the first 28 share colour and hatch, or colour and dash."""
    if index == UNLABELLED:
        return Style(GREY, ":", ".", False, "")
    turn, one = divmod(index, len(COLOURS))
    dash, hatch = DASHES[(one + turn) % len(DASHES)], HATCHES[turn % len(HATCHES)]
    return Style(COLOURS[one], dash, MARKERS[index % len(MARKERS)], turn > 0, hatch)


def area(index: int) -> dict[str, Any]:
    """Return the fill style of an area that belongs to a class."""
    look = style(index)
    return {"facecolor": look.colour, "edgecolor": "white", "hatch": look.hatch, "linewidth": 0}


def patch(label: str, **look: Any) -> Any:
    """Return an area with its name, for a legend."""
    return optional("matplotlib.patches", "plot").Patch(label=label, **look)


def room(ax: Any, taken: float = 0.0) -> tuple[float, float]:
    """Return the approximate width and height of an axis in points, given the width taken by labels and legend."""
    figure, box = ax.figure, ax.get_window_extent()
    width, height = 72 * box.width / figure.dpi, 72 * box.height / figure.dpi
    if taken and len(figure.axes) == 1 and figure.get_layout_engine() is not None:
        width = 72 * figure.bbox.width / figure.dpi - taken
    return max(width, 1.0), max(height, 1.0)


def text_width(texts: Iterable[str], size: float) -> float:
    """Return the approximate width of the widest text, in points."""
    return CHARACTER * size * max((len(text) for text in texts), default=0)


def short(text: Any, length: int = 26) -> str:
    """Return a text, truncated if it is too long."""
    return _plain(_end_cut(_one_line(text), length))


def distinct(texts: Iterable[Any], length: int = 26) -> list[str]:
    """Truncate texts such that different texts remain different.

    >>> distinct(["protein number 1 (ng)", "protein number 2 (ng)"], 14)
    ['protein…1 (ng)', 'protein…2 (ng)']
    """
    words = [_one_line(text) for text in texts]
    start = _shared(words)
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words), 1)}
    ways = (
        [_middle_cut(word, length) for word in words],
        [_end_cut("…" + word[start:], length) for word in words],
        [_end_cut(word, length) for word in words],
    )
    numbered = [_end_cut(f"{numbers[word]}: {word}", length) for word in words]
    return [_plain(word) for word in next((cut for cut in ways if len(set(cut)) == len(numbers)), numbered)]


def _shared(words: Sequence[str]) -> int:
    """Return the length of the common prefix of all texts, in whole words."""
    first, last = min(words, default=""), max(words, default="")
    pairs = zip(first, last, strict=False)
    same = next((index for index, (one, other) in enumerate(pairs) if one != other), 0)
    return first.rfind(" ", 0, same) + 1


def _one_line(text: Any) -> str:
    return printable(" ".join(str(text).split()))


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
    """Return a number with a typographic minus sign."""
    text = number_text(value)
    return text.replace("-", "\N{MINUS SIGN}", 1) if value < 0 else text


def value_text(feature: str, value: Any) -> str:
    """Return the text of a sample's value: a number, a date, a category, or "missing"."""
    if isinstance(feature, DateName):
        return text_of_value(feature, value)
    if isinstance(value, float | int) and not isinstance(value, bool):
        return number(value)
    return short(number_text(value), 16)


def part(shown: int, total: int, noun: str, by: str) -> str:
    """Return a text with the number of drawn items, and the selection if not all are drawn."""
    return plural(total, noun) if shown == total else f"{shown} of {plural(total, noun)}: {by}"


def prediction_title(explanation: Explanation) -> str:
    """Return the prediction and its confidence."""
    if explanation.abstained:
        return "The model abstains"
    return f"Prediction: {short(explanation.prediction, 70)} (confidence {explanation.confidence:.2f})"


def set_title(ax: Any, *lines: str, below: float = 6.0, taken: float = 0.0) -> None:
    """Set a title, wrapped to the width of the axis, `below` points above it."""
    length = max(24, int(room(ax, taken)[0] / (9 * CHARACTER)))
    rows = [row for line in lines for row in textwrap.wrap(line, length)]
    ax.set_title("\n".join(rows), fontsize=10, loc="left", pad=below)


def legend_above(ax: Any, handles: Sequence[Any] | None = None) -> float:
    """Put a legend between axis and title; return its height in points."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
    ax.legend(handles=handles, frameon=False, fontsize=8, **place)
    return 9.0 + 13.0 * len(handles)


def legend_beside(ax: Any, handles: Sequence[Any] | None = None, title: str | None = None) -> None:
    """Put a legend to the right of the axis, or inside it if the figure has no layout that makes room for it."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    look: dict[str, Any] = {"loc": "best", "framealpha": 0.85}
    if ax.figure.get_layout_engine() is not None:
        look = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "frameon": False, "handlelength": 3}
    legend = ax.legend(handles=handles, fontsize=8, title=title, **look)
    legend.get_title().set_fontsize(8)


def feature_ticks(ax: Any, names: Sequence[str], taken: float) -> None:
    """Label the horizontal axis with features, rotated if they would not fit."""
    column = room(ax, taken)[0] / max(len(names), 1)
    turned: dict[str, Any] = {}
    if text_width(names, 8) + 4 > column:
        slanted = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        turned = slanted if column > 18 else {**slanted, "rotation": 90, "va": "center"}
    ax.set_xticks(range(len(names)), names, fontsize=8 if column > 11 else 6, **turned)


def name_rows(ax: Any, names: Sequence[str], margin: float) -> None:
    """Name rows of bars, the first at the top, with a margin above and below them."""
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(len(names) - 1 + margin, -margin)


def class_handles(classes: Sequence[Any], indices: Iterable[int]) -> list[Any]:
    """Return a line with its marker for each class that is drawn, for a legend."""
    line = optional("matplotlib.lines", "plot").Line2D
    drawn = sorted({int(index) for index in indices}, key=lambda index: (index == UNLABELLED, index))
    names = distinct(classes, 30)
    handles = []
    for index in drawn:
        look, bare = style(index), index == UNLABELLED
        marker = {"marker": look.marker, "markersize": 4 if bare else 6}
        face = "white" if look.hollow else look.colour
        name = "no label" if bare else names[index]
        handles.append(line([], [], label=name, markerfacecolor=face, linewidth=1.3, **marker, **look.line))
    return handles


def most(values: FloatArray, n: int) -> IntArray:
    """Return the indices of the n largest values, ascending; the first on ties."""
    return np.sort(np.argsort(-values, kind="stable")[:n])


def draw_lines(ax: Any, x: Any, lines: Sequence[tuple[str, Any]], *, markers: bool = True) -> None:
    """Draw named lines that differ by colour, dash and marker."""
    for index, (label, values) in enumerate(lines):
        look = style(index)
        ax.plot(x, values, marker=look.marker if markers else None, markersize=4.5, label=label, **look.line)
    ax.grid(alpha=0.3)
