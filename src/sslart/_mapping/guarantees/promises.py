"""Confidence thresholds and prediction sets that the labels of a model guarantee, or the reason why they cannot."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sslart._mapping.guarantees.errors import NEVER, ErrorCurve, ErrorLevels, error_curve
from sslart._mapping.guarantees.sets import EXACT, class_sets
from sslart._utils.arrays import BoolArray, FloatArray
from sslart._utils.text import list_text, plural

if TYPE_CHECKING:
    from sslart._mapping.left_out import LeftOut

SHOWN_CLASSES = 10  # in a message
MAX_LABELS = 2.0**53  # more than any model has


def labels_needed(error: float) -> int:
    """Return the fewest labels with which an error can be guaranteed: those of 1 / (1 + labels) ≤ error."""
    return math.ceil(min(1.0 / error, MAX_LABELS) - 1.0 - EXACT)


def smallest_error(n_labels: float) -> float:
    """Return the smallest error that `n_labels` labels can guarantee if all are predicted correctly."""
    return 1.0 / (1.0 + n_labels)


@dataclass(frozen=True, eq=False)
class Promises:
    """Conformal predictor built on leave-one-out predictions.

    Attributes
    ----------
    left_out : LeftOut
    classes : array
        Sorted.
    abstain_below : float or None
    """

    left_out: LeftOut
    classes: NDArray[Any]
    abstain_below: float | None = None

    @cached_property
    def n_labels(self) -> float:
        """Number of labels; a group of samples counts as one."""
        return float(self.left_out.weights.sum())

    def may_answer(self, proba: FloatArray) -> BoolArray:
        """Return a mask of samples that `abstain_below` lets the model answer."""
        return np.asarray(proba.max(axis=1) >= (0.0 if self.abstain_below is None else self.abstain_below))

    def curve(self, index: int | None = None) -> ErrorCurve:
        """Return errors and answers by the least confidence: of all predictions, or those of one class."""
        found = self.left_out
        answered = self.may_answer(found.proba)
        rows = answered if index is None else answered & (found.predicted == index)
        return error_curve(found.confidence[rows], ~found.right[rows], found.weights[rows])

    def confidence_limits(self, levels: ErrorLevels) -> FloatArray:
        """Return from which confidence on each class is predicted: 0 for always, `NEVER` for never.

        Raises
        ------
        ValueError
            If a level is lower than can be promised with the labels there are.
        """
        limits = np.zeros(len(self.classes))
        if levels.overall is not None:
            curve = self.curve()
            _check_error(levels.overall, self.n_labels, curve, f"with {self._counted()}", self._unit)
            limits[:] = _limit(levels.overall, curve, "nothing", "everywhere")
        for index, level in levels.by_class:
            name = repr(self.classes[index].item())
            n, curve = float(self.left_out.weights[self.left_out.predicted == index].sum()), self.curve(index)
            counted = plural(math.floor(n + EXACT), f"left-out {self._unit}")
            _check_error(level, n, curve, f"for class {name}, which is predicted for {counted}", self._unit, name)
            limits[index] = _limit(level, curve, f"class {name} never", "where it is the most probable")
        return limits

    def _counted(self) -> str:
        """Return the number of labels in words."""
        n_labels, n_groups = len(self.left_out.truth), math.floor(self.n_labels + EXACT)
        if self._unit == "label":
            return plural(n_labels, "label")
        return f"{plural(n_labels, 'label')} of {plural(n_groups, 'group')} (copies of a sample are one group)"

    @property
    def _unit(self) -> str:
        """Unit of `n_labels` in messages: "label", or "group" if labels are grouped."""
        return "label" if len(self.left_out.truth) == round(self.n_labels) else "group"

    def sets(self, proba: FloatArray, coverage: float, *, per_class: bool) -> BoolArray:
        """Return the prediction set of each sample as a mask over classes.

        Raises
        ------
        ValueError
            If the coverage is higher than can be promised with the labels there are.
        """
        self._check_coverage(coverage, per_class)
        own = self.left_out
        return class_sets(proba, own.proba, own.truth, own.weights, coverage, per_class=per_class)

    def _check_coverage(self, coverage: float, per_class: bool) -> None:
        n_labels, with_labels, of_class, held = self.n_labels, f"with {self._counted()}", "", "all classes"
        if per_class:
            by_class = self.left_out.by_class()
            n_labels = float(by_class.min())
            few = np.flatnonzero(1.0 / (1.0 + by_class) > 1.0 - coverage + EXACT)
            names = [f"{self.classes[index].item()!r}: {math.floor(by_class[index] + EXACT)}" for index in few]
            with_labels = f"for each class with so few labels (class {list_text(names, SHOWN_CLASSES)})"
            of_class, held = " of each class", "these classes" if len(few) > 1 else "this class"
        if smallest_error(n_labels) > 1.0 - coverage + EXACT:
            cure = ", lower coverage, or leave per_class out" if per_class else ", or lower coverage"
            raise ValueError(
                f"coverage={coverage:g} cannot be promised {with_labels}: every set would hold {held}. The highest "
                f"coverage that can be promised is {_percent_down(1.0 - smallest_error(n_labels))}, and "
                f"{100 * coverage:g} % needs at least {plural(labels_needed(1.0 - coverage), self._unit)}{of_class}. "
                f"Label more samples{cure}."
            )


def _check_error(
    level: float, n_labels: float, curve: ErrorCurve, with_labels: str, unit: str, predicted_as: str | None = None
) -> None:
    """Raise a ValueError where a level is too low for the number of labels, were all of them predicted rightly."""
    if smallest_error(n_labels) > level + EXACT:
        which = "" if predicted_as is None else f" that are predicted as {predicted_as}"
        raise ValueError(
            f"max_error={level:g} cannot be promised {with_labels}: the smallest error that can be promised is "
            f"{percent_up(curve.smallest_error)}, and {100 * level:g} % needs at least "
            f"{plural(labels_needed(level), unit)}{which}. Label more samples, or raise max_error."
        )


def _limit(level: float, curve: ErrorCurve, never: str, where: str) -> float:
    """Return from which confidence on a level is kept; with a warning where there is none."""
    limit = curve.least_confidence(level)
    if limit == NEVER:
        warnings.warn(
            f"max_error={level:g} is less than this model can promise at any confidence, so that it predicts {never} "
            f"and abstains {where}. The smallest error that can be promised is {percent_up(curve.smallest_error)}: "
            "raise max_error, or label more samples.",
            UserWarning,
            stacklevel=2,
        )
    return limit


def no_promise(owner: str) -> str:
    """Return the reason why a model without evidence mapping cannot guarantee anything."""
    return (
        f"This {owner} keeps no labelled samples, so that nothing can be promised for new ones: max_error and "
        "predict_set need evidence mapping. Fit AutoSSLART, or set mapping='evidence' and fit again; abstain_below "
        "works without it."
    )


def percent_up(share: float) -> str:
    """Return a share in percent, rounded up to a tenth."""
    return f"{math.ceil(1000 * share - EXACT) / 10:g} %"


def _percent_down(share: float) -> str:
    return f"{math.floor(1000 * share + EXACT) / 10:g} %"
