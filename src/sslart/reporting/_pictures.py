"""The pictures of a report: displays as images that stand in the page itself, each with words for who cannot see it."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sslart.plotting import BoxesDisplay, CoverageCorrectnessDisplay, RuleHeatmapDisplay
from sslart.reporting._summary import Observed, may_abstain
from sslart.rules import RuleSet

PIXELS_PER_POINT = 96 / 72


@dataclass(frozen=True)
class Picture:
    """An image as a data address, its width in pixels, what it shows, and how to read it."""

    title: str
    source: str
    width: int
    alternative: str
    caption: str


def pictures_of(observed: Observed, rules: RuleSet, X: Any, y: Any) -> list[Picture]:
    """Draw what there is to draw."""
    made = [_of_rules(rules)]
    if len(observed.names) - len(observed.members[0]._categorical_columns()) >= 2:
        made.append(_of_boxes(observed, X, y))
    model = observed.model
    gaps = may_abstain(model) and model.n_labelled_nodes_ < model.n_nodes_
    if gaps and any(label is not None for label in observed.truth):
        made.append(_of_coverage(observed, X, y))
    return made


def _of_rules(rules: RuleSet) -> Picture:
    display, source, width = _drawn(lambda: RuleHeatmapDisplay.from_rules(rules, max_features=8))
    return Picture(
        "The rules at a glance",
        source,
        width,
        f"{len(display.rules)} rules by {len(display.features)} features. The table of rules says the same in words.",
        "One row per rule, with its class and, in brackets, the number of samples it holds. The bar in a cell is the "
        "part of the range that the rule allows, in levels; “any” means that it asks nothing of this feature.",
    )


def _of_boxes(observed: Observed, X: Any, y: Any) -> Picture:
    display, source, width = _drawn(lambda: BoxesDisplay.from_estimator(observed.model, X, y))
    first, second = display.feature_names
    return Picture(
        "Boxes and samples over two features",
        source,
        width,
        f"{len(display.nodes)} of {display.n_nodes} boxes, {len(display.samples)} samples, over {first} and {second}.",
        "The two features by which the boxes of different classes lie furthest apart. Each rectangle is a box: what "
        "the model has learnt to be alike. Marks are the samples of this report. Dotted grey boxes have no label. "
        "Boxes that overlap here may be apart in other features.",
    )


def _of_coverage(observed: Observed, X: Any, y: Any) -> Picture:
    display, source, width = _drawn(lambda: CoverageCorrectnessDisplay.from_estimator(observed.model, X, y))
    curve = display.curve
    said = "; ".join(
        f"{'no limit' if depth is None else depth}: {coverage:.0%} answered, {correctness:.0%} of them right"
        for depth, coverage, correctness in zip(*curve, strict=True)
    )
    return Picture(
        "How often it answers, and how often it is right",
        source,
        width,
        f"By search depth: {said}.",
        "A model that may ask only its few best boxes (left) answers less often; one that may ask on (right) answers "
        "more often, by boxes that fit less well. Measured on the labelled samples of this report.",
    )


def _drawn(draw: Callable[[], Any]) -> tuple[Any, str, int]:
    """Return a display, its image and the width of it."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams["svg.hashsalt"] = "sslart"
        display = draw()
        file = io.BytesIO()
        display.figure_.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(display.figure_)
    image = file.getvalue()
    points = float(re.findall(rb'width="([0-9.]+)pt"', image)[0])
    return display, f"data:image/svg+xml;base64,{base64.b64encode(image).decode()}", round(points * PIXELS_PER_POINT)
