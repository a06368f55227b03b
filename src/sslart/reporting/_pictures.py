"""Figures of a report: displays embedded as images, each with an alternative text."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from sslart._data.labels import UNLABELLED
from sslart._mapping.conformal import measured_guarantees
from sslart._utils.optional import optional
from sslart.active import LearningCurve
from sslart.explain import FeatureContributions, contributions_of
from sslart.plotting import (
    BoxesDisplay,
    CoverageCorrectnessDisplay,
    DependenceDisplay,
    GuaranteeDisplay,
    LearningCurveDisplay,
    RuleHeatmapDisplay,
)
from sslart.reporting._summary import Observed
from sslart.rules import RuleSet

PIXELS_PER_POINT = 96 / 72
NARROW = 3.7  # inches: about the width of a phone
N_DEPENDENCE = 3
MAX_POINTS = 150
HOW_TO_READ = (
    "Each point is a sample of this report. Above 0, its value raises the score of the class, compared with an average "
    "sample; below 0, it lowers it. Samples with the same value differ because the contribution also depends on the "
    "other features. Lines are means; grey bars show how many samples have a value."
)


class Picture(NamedTuple):
    """An image as a data URL, its width in pixels, alternative text, and caption.

    `narrow` is the same image for a narrow screen; empty if the image is narrow itself. Several narrow images are side
    by side, below the caption of the first.
    """

    title: str
    source: str
    narrow: str
    width: int
    alternative: str
    caption: str


def pictures_of(observed: Observed, rules: RuleSet, X: Any, y: Any, curve: LearningCurve | None) -> list[Picture]:
    """Draw all figures that apply to the model."""
    model, members = observed.model, observed.view.members
    pictures = [
        _drawn(
            "The rules of the boxes at a glance",
            lambda ax: RuleHeatmapDisplay.from_rules(rules, max_features=8 if ax is None else 4, ax=ax),
            lambda shown: (
                f"{len(shown.rules)} rules by {len(shown.features)} features. The table of rules has the same in words."
            ),
            "One row per rule, with its class and, in brackets, the number of its samples. The bar in a cell is the "
            "part of the range that the rule allows, in levels; “any” means that the rule has no condition on this "
            "feature.",
        ),
        *_of_dependence(observed, X),
    ]
    if len(members[0].encoder.numeric) >= 2:
        pictures += [
            _drawn(
                "Boxes and samples over two features",
                lambda ax: BoxesDisplay.from_estimator(model, X, y, ax=ax),
                lambda shown: (
                    f"{len(shown.nodes)} of {shown.n_nodes} boxes, {len(shown.samples)} samples, over "
                    f"{' and '.join(shown.feature_names)}."
                ),
                "The two features in which the boxes of different classes lie furthest apart. Each rectangle is a box "
                "around similar samples that the model has learnt. Markers are the samples of this report. Dotted grey "
                "boxes have no label. Boxes that overlap here may be separate in other features.",
            )
        ]
    if measured_guarantees(observed.view) is not None:
        pictures += [
            _drawn(
                "What can be promised",
                lambda ax: GuaranteeDisplay.from_estimator(model, ax=ax),
                lambda shown: f"{shown.guarantees}",
                "How many samples get a prediction (upwards) if at most so many of the predictions may be wrong (to "
                "the right). Measured on the labels that the model has learnt, each predicted from all other labels. "
                "Where the picture is hatched, nothing can be promised with these labels.",
            )
        ]
    if curve is not None and not curve.why_not:
        pictures += [
            _drawn(
                "What more labels would bring",
                lambda ax: LearningCurveDisplay.from_curve(curve, ax=ax),
                lambda _: f"Accuracy to expect: {curve}.",
                "Right predictions (upwards) by number of labels (to the right). Grey: some of the labels predict the "
                "others, a little too well, because settings were chosen with all labels; only the course counts. "
                "Point: all labels, each predicted from all others. Dashed, with its interval: what to expect of more "
                "labels.",
            )
        ]
    depth_matters = observed.has_search_depth and any((one.labels == UNLABELLED).any() for one in members)
    if depth_matters and any(label is not None for label in observed.truth):
        pictures += [
            _drawn(
                "Coverage and correctness",
                lambda ax: CoverageCorrectnessDisplay.from_estimator(model, X, y, ax=ax),
                lambda shown: f"By search depth: {_points_text(shown.curve)}.",
                "With a small search depth (left) the model predicts fewer samples; with a larger one (right) it "
                "predicts more, from boxes that fit less well. Measured on the labelled samples of this report.",
            )
        ]
    return pictures


def _points_text(curve: Any) -> str:
    return "; ".join(
        f"{'no limit' if depth is None else depth}: {coverage:.0%} predicted, {correctness:.0%} of them right"
        for depth, coverage, correctness in zip(*curve, strict=True)
    )


def _of_dependence(observed: Observed, X: Any) -> list[Picture]:
    """Draw the dependence of contributions on the values of the most important features; empty without evidence."""
    if not observed.view.uses_evidence:
        return []
    found = observed.importances
    columns = [column for column in found.order[:N_DEPENDENCE].tolist() if found.importances[column] > 0]
    n, most = len(observed), MAX_POINTS
    rows = np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.int64)
    parts = contributions_of(observed.model, _safe_indexing(X, rows)) if columns else None
    names = [found.feature_names[column] for column in columns]
    return [
        _of_feature(parts, name, found.direction_text(name), HOW_TO_READ if name == names[0] else "")
        for name in names
        if parts is not None
    ]


def _of_feature(parts: FeatureContributions, name: str, direction: str, caption: str) -> Picture:
    with _style() as pyplot:
        _, axis = pyplot.subplots(figsize=(NARROW, NARROW), layout="constrained")
        image = _image(DependenceDisplay.from_contributions(parts, name, ax=axis).figure_)
    return Picture(
        f"What {name} contributes",
        _as_url(image),
        "",
        _width(image),
        f"Contributions of {name} to the scores of the classes against its value. {direction}.",
        caption,
    )


def _drawn(title: str, draw: Callable[[Any], Any], alternative: Callable[[Any], str], caption: str) -> Picture:
    """Return the picture of a display, drawn a second time for a narrow screen."""
    with _style() as pyplot:
        display = draw(None)
        height = display.figure_.get_figheight()
        wide = _image(display.figure_)
        narrow = _image(draw(pyplot.subplots(figsize=(NARROW, height), layout="constrained")[1]).figure_)
    return Picture(title, _as_url(wide), _as_url(narrow), _width(wide), alternative(display), caption)


@contextmanager
def _style() -> Iterator[Any]:
    """Context manager: draw with matplotlib's defaults, and deterministic SVG ids."""
    matplotlib = optional("matplotlib", "report")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["svg.hashsalt"] = "sslart"
        yield optional("matplotlib.pyplot", "report")


def _image(figure: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    optional("matplotlib.pyplot", "report").close(figure)
    return file.getvalue()


def _width(image: bytes) -> int:
    return round(float(re.findall(rb'width="([0-9.]+)pt"', image)[0]) * PIXELS_PER_POINT)


def _as_url(image: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(image).decode()}"
