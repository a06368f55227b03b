"""Conformal prediction on left-out labels: prediction sets, confidence thresholds, and guaranteed errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sslart._mapping.decision_rules import ErrorLevels
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.text import html_table, list_text, plural

if TYPE_CHECKING:
    from sslart._mapping.loo_predictions import LooPredictions
    from sslart._mapping.model_view import ModelView

EXACT = 1e-9  # sums of weights and levels are compared up to this
NEVER = np.inf  # the confidence from which on a model predicts, where none is high enough
SHOWN_CLASSES = 10  # in a message
MAX_LABELS = 2.0**53  # more than any model has
LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2)


def conformal_p_values(scores: FloatArray, left_out: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the p-value of each score: the share of scores at least as high, with the new one among them.

    (1 + sum of the weights of the left-out scores that are at least as high) / (1 + sum of all weights)

    Scores are nonconformities of new samples and of left-out labels: the higher, the stranger. Weights sum to one for
    each group of labels that belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart._mapping.conformal import conformal_p_values
    >>> conformal_p_values(np.array([0.0, 0.3, 0.9]), np.array([0.1, 0.2, 0.3, 0.4]), np.ones(4))
    array([1. , 0.6, 0.2])
    """
    order = np.argsort(left_out, kind="stable")
    above = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
    return np.asarray((1.0 + above[np.searchsorted(left_out[order], scores)]) / (1.0 + weights.sum()))


def class_sets(
    proba: FloatArray,
    left_out: FloatArray,
    truth: IntArray,
    weights: FloatArray,
    coverage: float,
    *,
    per_class: bool,
) -> BoolArray:
    """Return prediction sets as masks: classes with a p-value above 1 - coverage, and the best class.

    The nonconformity of a class is one minus its probability (least ambiguous sets: Sadinle, Lei and Wasserman 2019).
    Per class, each class is compared with the labels of that class alone.
    """
    own = 1.0 - left_out[np.arange(len(truth)), truth]
    if per_class:
        groups = [truth == index for index in range(proba.shape[1])]
        columns = [
            conformal_p_values(1.0 - proba[:, index], own[group], weights[group]) for index, group in enumerate(groups)
        ]
        p_values = np.stack(columns, axis=1)
    else:
        p_values = conformal_p_values(1.0 - proba, own, weights)
    sets = np.asarray(p_values > 1.0 - coverage + EXACT)
    sets[np.arange(len(sets)), proba.argmax(axis=1)] = True
    return sets


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Guaranteed error and number of answered labels for each confidence threshold, highest first."""

    confidence: FloatArray  # distinct, falling
    answered: FloatArray  # how many left-out predictions have this confidence or more: the sum of their weights
    error: FloatArray  # the smallest error that can be promised for these

    @property
    def smallest_error(self) -> float:
        """The smallest error that any confidence threshold guarantees."""
        return float(self.error.min()) if len(self.error) else 1.0

    def place(self, level: float) -> int | None:
        """Return the index of the lowest confidence whose error is at most `level`; None if there is none."""
        suffices = np.flatnonzero(self.error <= level + EXACT)
        return int(suffices[-1]) if suffices.size else None

    def steps(self) -> tuple[FloatArray, FloatArray]:
        """Return the levels, rising, from which on more is answered, and how many then are."""
        order = np.argsort(self.error, kind="stable")
        places = np.maximum.accumulate(order) if len(order) else order
        new = np.diff(places, prepend=-1) > 0
        return self.error[order][new], self.answered[places[new]]

    def least_confidence(self, level: float) -> float:
        """Return the lowest confidence to answer at a level of error: 0 to answer always, `NEVER` for never."""
        place = self.place(level)
        if place is None:
            return NEVER
        return 0.0 if place == len(self.error) - 1 else float(self.confidence[place])


def error_curve(confidence: FloatArray, wrong: BoolArray, weights: FloatArray) -> ErrorCurve:
    """Return the guaranteed error and the number of answered labels for each confidence threshold.

    The error is (1 + wrong) / (1 + answered), both summed over the left-out predictions of at least that confidence:
    the new sample counts as if it were answered, and wrong. Weights are those of `conformal_p_values`.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart._mapping.conformal import error_curve
    >>> confidence = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
    >>> curve = error_curve(confidence, np.array([True, True, False, False, False]), np.ones(5))
    >>> curve.error
    array([0.5       , 0.33333333, 0.25      , 0.4       , 0.5       ])
    >>> curve.least_confidence(0.25), curve.least_confidence(0.5), curve.least_confidence(0.1)
    (0.7, 0.0, inf)
    """
    order = np.argsort(-confidence, kind="stable")
    values, own = confidence[order], weights[order]
    answered, errors = np.cumsum(own), np.cumsum(own * wrong[order])
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)) if len(values) else np.zeros(0, dtype=np.int64)
    return ErrorCurve(values[ends], answered[ends], (1.0 + errors[ends]) / (1.0 + answered[ends]))


def labels_needed(error: float) -> int:
    """Return the fewest labels with which an error can be guaranteed: those of 1 / (1 + labels) ≤ error."""
    return math.ceil(min(1.0 / error, MAX_LABELS) - 1.0 - EXACT)


def smallest_error(n_labels: float) -> float:
    """Return the smallest error that `n_labels` labels can guarantee if all are predicted correctly."""
    return 1.0 / (1.0 + n_labels)


@dataclass(frozen=True, eq=False)
class ConformalPredictor:
    """Conformal predictor built on leave-one-out predictions."""

    left_out: LooPredictions
    classes: NDArray[Any]  # sorted
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
        """Return the confidence from which each class is predicted: 0 for always, `NEVER` for never.

        A level that is too low for the number of labels is a ValueError.
        """
        limits = np.zeros(len(self.classes))
        if levels.overall is not None:
            nowhere = "predicts nothing and abstains everywhere"
            limits[:] = self._limit(levels.overall, self.n_labels, self.curve(), f"with {self._counted()}", "", nowhere)
        for index, level in levels.by_class:
            name, n = (
                repr(self.classes[index].item()),
                float(self.left_out.weights[self.left_out.predicted == index].sum()),
            )
            counted = (
                f"for class {name}, which is predicted for {plural(math.floor(n + EXACT), f'left-out {self._unit}')}"
            )
            nowhere = f"predicts class {name} never and abstains where it is the most probable"
            limits[index] = self._limit(level, n, self.curve(index), counted, f" that are predicted as {name}", nowhere)
        return limits

    def _limit(self, level: float, n: float, curve: ErrorCurve, counted: str, which: str, nowhere: str) -> float:
        """Return the confidence from which a level is kept; a warning where there is none."""
        smallest = percent_up(curve.smallest_error)
        if smallest_error(n) > level + EXACT:
            raise ValueError(
                f"max_error={level:g} cannot be promised {counted}: the smallest error that can be promised is "
                f"{smallest}, and {100 * level:g} % needs at least {plural(labels_needed(level), self._unit)}{which}. "
                "Label more samples, or raise max_error."
            )
        limit = curve.least_confidence(level)
        if limit == NEVER:
            warnings.warn(
                f"max_error={level:g} is less than this model can promise at any confidence, so that it {nowhere}. The "
                f"smallest error that can be promised is {smallest}: raise max_error, or label more samples.",
                UserWarning,
                stacklevel=2,
            )
        return limit

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
        """Return prediction sets as masks over classes; a ValueError where labels are too few for the coverage."""
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
            highest = math.floor(1000 * (1.0 - smallest_error(n_labels)) + EXACT) / 10
            cure = ", lower coverage, or leave per_class out" if per_class else ", or lower coverage"
            raise ValueError(
                f"coverage={coverage:g} cannot be promised {with_labels}: every set would hold {held}. The highest "
                f"coverage that can be promised is {highest:g} %, and "
                f"{100 * coverage:g} % needs at least {plural(labels_needed(1.0 - coverage), self._unit)}{of_class}. "
                f"Label more samples{cure}."
            )


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


@dataclass(frozen=True)
class Guarantee:
    """Guarantee of a model for one `max_error`.

    Attributes
    ----------
    max_error : float
        At most this share of the answered samples are wrong.
    answered : float
        Share of the left-out labels that are answered: an estimate of the share of new samples. 0 where the error
        cannot be promised.
    least_confidence : float or None
        Samples are answered whose confidence is at least this; None where the error cannot be promised.
    n_labels : int
        Labels that there are.
    labels_needed : int
        The fewest labels with which this error can be promised: more are needed where some are predicted wrongly.
    """

    max_error: float
    answered: float
    least_confidence: float | None
    n_labels: int
    labels_needed: int

    @property
    def is_possible(self) -> bool:
        """True if the error can be guaranteed."""
        return self.least_confidence is not None

    def sentence(self, noun: str = "samples") -> str:
        """Return the guarantee in words; `noun`: what is answered."""
        aim = f"to be right {round(100 * (1 - self.max_error), 6):g} times in 100"
        if self.is_possible:
            return f"{aim}, it answers {100 * self.answered:.0f} % of the {noun}"
        if self.n_labels < self.labels_needed:
            needed = plural(self.labels_needed, "label")
            return f"{aim}, it needs at least {needed}, and there are {self.n_labels}"
        return f"{aim}, it answers no {noun}: at every confidence too many left-out labels are predicted wrongly"


@dataclass(frozen=True)
class Guarantees:
    """Guarantees that a model can give with its labels.

    `str()` gives it in words; notebooks show a table.

    Attributes
    ----------
    n_labels : int
        Number of labels; copies and groups count one.
    smallest_error : float
        The smallest `max_error` with which the model answers anything.
    levels : tuple of Guarantee
        What it answers with several values of `max_error`.
    """

    n_labels: int
    smallest_error: float
    levels: tuple[Guarantee, ...]

    def __str__(self) -> str:
        first = f"{plural(self.n_labels, 'label')}: the smallest error that can be promised is "
        lines = [f"{first}{percent_up(self.smallest_error)}."]
        for one in self.levels:
            sentence = one.sentence()
            lines.append(f"{sentence[0].upper()}{sentence[1:]}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [
                f"{one.max_error:g}",
                f"{one.answered:.0%}" if one.is_possible else "cannot be promised",
                "" if one.least_confidence is None else f"{one.least_confidence:.3f}",
                str(one.labels_needed),
            ]
            for one in self.levels
        ]
        return html_table(["max_error", "answered", "confidence from", "labels needed"], rows)


def guarantees_of(promises: ConformalPredictor, max_errors: Iterable[float] = LEVELS) -> Guarantees:
    """Return the guarantees at some levels of error."""
    curve, n = promises.curve(), promises.n_labels
    found = []
    for level in max_errors:
        limit, place = curve.least_confidence(level), curve.place(level)
        answered = 0.0 if place is None else float(curve.answered[place] / n)
        n_needed = labels_needed(level)
        found.append(Guarantee(level, answered, None if limit == NEVER else limit, round(n), n_needed))
    return Guarantees(round(n), curve.smallest_error, tuple(found))


def measured_guarantees(view: ModelView) -> Guarantees | None:
    """Return the guarantees of a model; None if it stores no labels, or too few to measure its accuracy."""
    left_out = view.left_out
    return None if left_out is None or left_out.accuracy() is None else guarantees_of(view.promises)
