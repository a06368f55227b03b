"""Expected benefit of more labels, for a report."""

from __future__ import annotations

from dataclasses import dataclass

from sslart._utils.intervals import Estimate
from sslart.active import LearningCurve, learning_curve
from sslart.reporting._summary import Observed

TIMES = (1, 2, 4, 10)  # as many labels


@dataclass(frozen=True)
class ExpectedLine:
    """The accuracy to expect with a number of labels, with its 95 % interval."""

    n_labels: int
    expected: Estimate


@dataclass(frozen=True)
class MoreLabels:
    """Expected accuracy with more labels.

    Attributes
    ----------
    n_labels : int
        How many there are.
    lines : tuple of ExpectedLine
        Empty where nothing can be estimated.
    why_not : str
        The reason then.
    """

    n_labels: int
    lines: tuple[ExpectedLine, ...]
    why_not: str


def curve_of(observed: Observed) -> LearningCurve | None:
    """Return the learning curve of a model that keeps labels; None for others."""
    return learning_curve(observed.model) if observed.view.left_out is not None else None


def more_labels(curve: LearningCurve | None) -> MoreLabels | None:
    """Return the expected accuracy with more labels; None without a curve."""
    if curve is None:
        return None
    numbers = () if curve.why_not else tuple(times * curve.n_now for times in TIMES)
    return MoreLabels(curve.n_now, tuple(ExpectedLine(n, curve.at(n)) for n in numbers), curve.why_not)
