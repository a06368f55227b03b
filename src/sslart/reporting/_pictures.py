"""The pictures of a report: displays as images inside the page, each with a text for readers who cannot see it."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sslart._data.labels import UNLABELLED
from sslart._utils.optional import optional
from sslart.plotting import BoxesDisplay, CoverageCorrectnessDisplay, RuleHeatmapDisplay
from sslart.reporting._summary import Observed
from sslart.rules import RuleSet

PIXELS_PER_POINT = 96 / 72


@dataclass(frozen=True)
class Picture:
    """An image as a data URL, its width in pixels, a text in its place, and how to read it."""

    title: str
    source: str
    width: int
    alternative: str
    caption: str


def pictures_of(observed: Observed, rules: RuleSet, X: Any, y: Any) -> list[Picture]:
    """Draw what there is to draw."""
    pictures = [_of_rules(rules)]
    if len(observed.view.feature_names) - len(observed.view.members[0].encoder.categorical) >= 2:
        pictures.append(_of_boxes(observed, X, y))
    depth_matters = observed.has_search_depth and any((one.labels == UNLABELLED).any() for one in observed.view.members)
    if depth_matters and any(label is not None for label in observed.truth):
        pictures.append(_of_coverage(observed, X, y))
    return pictures


def _of_rules(rules: RuleSet) -> Picture:
    display, source, width = _drawn(lambda: RuleHeatmapDisplay.from_rules(rules, max_features=8))
    return Picture(
        "The rules at a glance",
        source,
        width,
        f"{len(display.rules)} rules by {len(display.features)} features. The table of rules has the same in words.",
        "One row per rule, with its class and, in brackets, the number of its samples. The bar in a cell is the part "
        "of the range that the rule allows, in levels; “any” means that the rule has no condition on this feature.",
    )


def _of_boxes(observed: Observed, X: Any, y: Any) -> Picture:
    display, source, width = _drawn(lambda: BoxesDisplay.from_estimator(observed.model, X, y))
    first, second = display.feature_names
    return Picture(
        "Boxes and samples over two features",
        source,
        width,
        f"{len(display.nodes)} of {display.n_nodes} boxes, {len(display.samples)} samples, over {first} and {second}.",
        "The two features in which the boxes of different classes lie furthest apart. Each rectangle is a box around "
        "similar samples that the model has learnt. Markers are the samples of this report. Dotted grey boxes have no "
        "label. Boxes that overlap here may be separate in other features.",
    )


def _of_coverage(observed: Observed, X: Any, y: Any) -> Picture:
    display, source, width = _drawn(lambda: CoverageCorrectnessDisplay.from_estimator(observed.model, X, y))
    curve = display.curve
    points = "; ".join(
        f"{'no limit' if depth is None else depth}: {coverage:.0%} predicted, {correctness:.0%} of them right"
        for depth, coverage, correctness in zip(*curve, strict=True)
    )
    return Picture(
        "Coverage and correctness",
        source,
        width,
        f"By search depth: {points}.",
        "With a small search depth (left) the model predicts fewer samples; with a larger one (right) it predicts "
        "more, from boxes that fit less well. Measured on the labelled samples of this report.",
    )


def _drawn(draw: Callable[[], Any]) -> tuple[Any, str, int]:
    """Return a display, its image and the width of it."""
    matplotlib, pyplot = optional("matplotlib", "report"), optional("matplotlib.pyplot", "report")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["svg.hashsalt"] = "sslart"
        display = draw()
        file = io.BytesIO()
        display.figure_.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
        pyplot.close(display.figure_)
    image = file.getvalue()
    points = float(re.findall(rb'width="([0-9.]+)pt"', image)[0])
    return display, f"data:image/svg+xml;base64,{base64.b64encode(image).decode()}", round(points * PIXELS_PER_POINT)
