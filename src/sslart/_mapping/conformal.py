"""Prediction sets and limits of error from left-out labels.

A limit of error is kept in one of two senses. On average: the mean over all training sets that might have been drawn
(conformal prediction). With a stated certainty: for this model, by testing thresholds of confidence in a fixed sequence
with exact binomial bounds (Learn then Test: Angelopoulos et al. 2021).
"""

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
from sslart._mapping.loo_predictions import ANSWERS, FOUND, GIVEN
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.optional import heavy
from sslart._utils.text import category_text, html_table, list_text, plural

if TYPE_CHECKING:
    from sslart._mapping.loo_predictions import LooPredictions
    from sslart._mapping.model_view import ModelView

EXACT = 1e-9  # sums of weights and levels are compared up to this
NEVER = np.inf  # the confidence from which on a model predicts, where none is high enough
SHOWN_CLASSES = 10  # in a message
MORE = (2, 3, 5, 10)  # times the labels: whether these would suffice
MAX_LABELS = 2.0**53  # more than any model has
COVERAGE = 0.9  # of the sets whose worst class is shown
LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2)
CERTAINTY = 0.9  # with which a limit of error holds for a model, where nothing else is set
FIRST_TESTED = 0.4  # share of the units that the first threshold answers
LEAST_TESTED = 45  # units that are answered where a further sequence of tests begins


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
    answered: FloatArray  # sum of the weights of the left-out predictions with this confidence or more
    wrong: FloatArray  # sum of the weights of the wrong ones among these
    error: FloatArray  # the smallest error that can be promised for these

    @property
    def smallest_error(self) -> float:
        """The smallest error that any confidence threshold guarantees."""
        return float(self.error.min()) if len(self.error) else 1.0

    @property
    def n_answered(self) -> float:
        """Number of answers without any threshold."""
        return float(self.answered[-1]) if len(self.answered) else 0.0

    def share_answered(self, level: float) -> float:
        """Return the share of the left-out predictions that are answered at a level of error."""
        place = self.place(level)
        return 0.0 if place is None else float(self.answered[place]) / self.n_answered

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
    """Return the error that is kept on average, and the number of answered labels, for each confidence threshold.

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
    values, answered, errors = _cumulated(confidence, wrong, weights)
    return ErrorCurve(values, answered, errors, (1.0 + errors) / (1.0 + answered))


def certain_error_curve(confidence: FloatArray, wrong: BoolArray, certainty: float) -> ErrorCurve:
    """Return the error that is kept with a stated certainty for each confidence threshold.

    Predictions are independent: one of each unit. Thresholds are tested in a fixed sequence, each one answering more
    than the one before, by the upper Clopper-Pearson bound of the share of wrong predictions. The error of a threshold
    is the highest bound up to there, so that the sequence ends at the first threshold whose bound exceeds a level; but
    while no prediction is wrong it goes on, since nothing better could be shown. Several sequences, which begin at
    different shares of answers, divide the uncertainty.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart._mapping.conformal import certain_error_curve
    >>> curve = certain_error_curve(np.linspace(1, 0.5, 40), np.arange(40) == 39, 0.9)
    >>> round(float(curve.error[-1]), 3), curve.least_confidence(0.1), curve.least_confidence(0.05)
    (0.094, 0.0, inf)
    """
    values, answered, errors = _cumulated(confidence, wrong, np.ones(len(confidence)))
    found, starts = np.ones(len(values)), first_tested(len(confidence))
    for start in starts:
        place = int(np.searchsorted(answered, start))
        bounds = upper_bound(errors[place:], answered[place:], 1.0 - (1.0 - certainty) / len(starts))
        highest = np.maximum.accumulate(np.where(errors[place:] > 0.0, bounds, 0.0))
        found[place:] = np.minimum(found[place:], np.maximum(bounds, highest))
    return ErrorCurve(values, answered, errors, found)


def _cumulated(
    confidence: FloatArray, wrong: BoolArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return distinct confidences, falling, and the weights of all and of the wrong predictions from each one up."""
    order = np.argsort(-confidence, kind="stable")
    values, own = confidence[order], weights[order]
    answered, errors = np.cumsum(own), np.cumsum(own * wrong[order])
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)) if len(values) else np.zeros(0, dtype=np.int64)
    return values[ends], answered[ends], errors[ends]


def first_tested(n_units: int) -> list[int]:
    """Return the numbers of answers at which sequences of tests begin.

    Examples
    --------
    >>> [first_tested(n) for n in (20, 100, 400)]
    [[8], [40], [160, 80]]
    """
    starts = [math.ceil(FIRST_TESTED * n_units - EXACT)]
    while starts[-1] >= 2 * LEAST_TESTED:
        starts.append(starts[-1] // 2)
    return starts


def upper_bound(wrong: FloatArray, answered: FloatArray, certainty: float) -> FloatArray:
    """Return the upper Clopper-Pearson bound of a share: exact for independent observations.

    Examples
    --------
    >>> import numpy as np
    >>> upper_bound(np.array([0.0, 1.0, 2.0]), np.array([22.0, 22.0, 2.0]), 0.9).round(3)
    array([0.099, 0.166, 1.   ])
    """
    right = np.maximum(answered - wrong, EXACT)
    bounds = heavy("scipy.special").betaincinv(wrong + 1.0, right, certainty)
    return np.asarray(np.where(answered - wrong < 0.5, 1.0, bounds))


def labels_for_certainty(error: float, certainty: float) -> int:
    """Return the fewest labels with which an error can be promised with certainty: if all are predicted correctly.

    Examples
    --------
    >>> [labels_for_certainty(error, 0.9) for error in (0.05, 0.1, 0.2)]
    [45, 22, 11]
    """
    n, least = 0, 1.0
    while n < least and error < 1.0:
        n = math.ceil(least)
        needed = math.log((1.0 - certainty) / len(first_tested(n))) / math.log1p(-error)
        least = min(needed - EXACT, MAX_LABELS)
    return n


def labels_needed(error: float, certainty: float | None) -> int:
    """Return the fewest labels with which an error can be kept, on average or with certainty: if all are right."""
    if certainty is not None:
        return labels_for_certainty(error, certainty)
    return math.ceil(min(1.0 / error, MAX_LABELS) - 1.0 - EXACT)


@dataclass(frozen=True, eq=False)
class ConformalPredictor:
    """Prediction sets and limits of error, from leave-one-out predictions."""

    left_out: LooPredictions
    classes: NDArray[Any]  # sorted
    abstain_below: float | None = None

    @cached_property
    def n_labels(self) -> float:
        """Number of labels; a group of samples counts as one."""
        return float(self.left_out.weights.sum())

    @cached_property
    def _representatives(self) -> BoolArray:
        """A mask of one label of each group, drawn at random: these are independent."""
        order = np.random.RandomState(0).permutation(len(self.left_out.groups))
        mask = np.zeros(len(order), dtype=bool)
        mask[order[np.unique(self.left_out.groups[order], return_index=True)[1]]] = True
        return mask

    def may_answer(self, proba: FloatArray) -> BoolArray:
        """Return a mask of samples that `abstain_below` lets the model answer."""
        return np.asarray(proba.max(axis=1) >= (0.0 if self.abstain_below is None else self.abstain_below))

    def curve(self, certainty: float | None, index: int | None = None, times: int = 1) -> ErrorCurve:
        """Return errors and answers by the least confidence: of all predictions, or those of one class.

        The errors are kept with this certainty, or on average if it is None; as if there were so many times the labels.
        """
        found = self.left_out
        rows = self.may_answer(found.proba)
        if index is not None:
            rows &= found.predicted == index
        if certainty is None:
            return error_curve(found.confidence[rows], ~found.right[rows], found.weights[rows])
        rows &= self._representatives
        return certain_error_curve(
            np.repeat(found.confidence[rows], times), np.repeat(~found.right[rows], times), certainty
        )

    def confidence_limits(self, levels: ErrorLevels) -> FloatArray:
        """Return the confidence from which each class is predicted: 0 for always, `NEVER` for never."""
        limits = np.zeros(len(self.classes))
        for index, level in levels.each():
            limits[slice(None) if index is None else index] = self.curve(levels.certainty, index).least_confidence(
                level
            )
        return limits

    def obstacles(self, levels: ErrorLevels) -> list[str]:
        """Return why levels are kept at no confidence, what follows, and the remedies; empty where all are kept."""
        certainty = levels.certainty
        found = [(self.curve(certainty, index), level, index) for index, level in levels.each()]
        return [self._obstacle(*one, certainty) for one in found if one[0].place(one[1]) is None]

    def _obstacle(self, curve: ErrorCurve, level: float, index: int | None, certainty: float | None) -> str:
        needed, n = labels_needed(level, certainty), math.floor(self.n_labels + EXACT)
        counted, which, nowhere = f"with {self._counted()}", "", "abstains from every prediction"
        if index is not None:
            name, n = repr(self.classes[index].item()), math.floor(curve.n_answered + EXACT)
            counted = f"for class {name}, which is predicted for {plural(n, f'left-out {self.unit}')}"
            which, nowhere = f" that are predicted as {name}", f"abstains where class {name} is the most probable"
        smallest = percent_up(curve.smallest_error)
        held = "on average" if certainty is None else f"with {certainty_text(certainty)}"
        reason = f"max_error={level:g} cannot be kept {held} {counted}, so that the model {nowhere}: "
        if n < needed:
            reason += f"it needs at least {plural(needed, self.unit)}{which}, all of them predicted correctly. "
        else:
            reason += f"too many left-out {self.unit}s are predicted wrongly; the smallest error is {smallest}. "
            more = MORE if certainty is not None else ()
            enough = (times for times in more if self.curve(certainty, index, times).place(level) is not None)
            if (times := next(enough, None)) is not None:
                reason += f"{times} times as many would do, if no larger share of them is predicted wrongly. "
        answered = 0.0 if certainty is None else self.curve(None, index).share_answered(level)
        average = f", or set confidence=None: on average it is kept for {100 * answered:.0f} % of these"
        return f"{reason}Label more samples, or raise max_error{average if answered else ''}."

    def _counted(self) -> str:
        """Return the number of labels in words."""
        n_labels, n_groups = len(self.left_out.truth), math.floor(self.n_labels + EXACT)
        labels = plural(n_labels, "label") + (" of samples drawn at random" if self.left_out.is_sequential else "")
        if self.unit == "label":
            return labels
        why = {GIVEN: "", FOUND: " of dependent rows", ANSWERS: " by one answer"}.get(self.left_out.kind, " of copies")
        return f"{labels} in {plural(n_groups, 'group')}{why}"

    @property
    def unit(self) -> str:
        """Unit of `n_labels` in messages: "label", or "group" if labels are grouped."""
        return "label" if len(self.left_out.truth) == round(self.n_labels) else "group"

    def sets(self, proba: FloatArray, coverage: float, *, per_class: bool) -> BoolArray:
        """Return prediction sets as masks over classes; with a warning where labels are too few to exclude a class."""
        self._warn_of_few(coverage, per_class=per_class)
        own = self.left_out
        return class_sets(proba, own.proba, own.truth, own.weights, coverage, per_class=per_class)

    def _warn_of_few(self, coverage: float, *, per_class: bool) -> None:
        counts = self.left_out.by_class() if per_class else np.array([self.n_labels])
        few = np.flatnonzero(1.0 / (1.0 + counts) > 1.0 - coverage + EXACT)
        if not few.size:
            return
        needed = plural(labels_needed(1.0 - coverage, None), self.unit)
        if not per_class:
            held, wanted = f"every set holds all classes: there are {self._counted()}, and", f"needs at least {needed}"
        else:
            names = [f"{self.classes[index].item()!r}: {math.floor(counts[index] + EXACT)}" for index in few]
            classes = "class" if len(few) == 1 else "classes"
            held = f"every set holds the {classes} with so few labels ({list_text(names, SHOWN_CLASSES)}):"
            wanted = f"needs at least {needed} of each class to exclude it"
        warnings.warn(
            f"{held} a coverage of {100 * coverage:g} % {wanted}. Label more samples, or lower coverage.",
            UserWarning,
            stacklevel=2,
        )

    def worst_class(self, coverage: float) -> ClassCoverage | None:
        """Return the class whose left-out labels are least often in their sets; None without left-out labels."""
        own = self.left_out
        if not len(own.truth):
            return None
        scores, total = 1.0 - own.proba[np.arange(len(own.truth)), own.truth], self.n_labels
        # each label is the new one in turn: it is among those that it is compared with
        p_values = (conformal_p_values(scores, scores, own.weights) * (1.0 + total) - 1.0) / total
        kept = (p_values > 1.0 - coverage + EXACT) | (own.proba.argmax(axis=1) == own.truth)
        n_labels, n_kept = own.by_class(), np.bincount(own.truth, own.weights * kept, len(self.classes))
        shares = np.where(n_labels > 0, n_kept / np.maximum(n_labels, EXACT), np.inf)
        worst = int(shares.argmin())
        return ClassCoverage(self.classes[worst].item(), float(shares[worst]), round(float(n_labels[worst])), coverage)


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


def certainty_text(certainty: float) -> str:
    """Return a certainty in words."""
    return f"{round(100 * certainty, 6):g} % certainty"


@dataclass(frozen=True)
class Answered:
    """Share of samples that a model answers so that a limit of error is kept in one sense.

    Attributes
    ----------
    share : float
        Share of the left-out labels that are answered: an estimate of the share of new samples. 0 where the limit
        cannot be kept.
    least_confidence : float or None
        Samples are answered whose confidence is at least this; None where the limit cannot be kept.
    labels_needed : int
        The fewest labels with which the limit can be kept: more are needed where some are predicted wrongly.
    """

    share: float
    least_confidence: float | None
    labels_needed: int

    def text(self, noun: str, n_labels: int, unit: str) -> str:
        """Return in words how much is answered; `noun`: what is answered; `unit`: what the labels are counted in."""
        if self.least_confidence is not None:
            return f"answers {100 * self.share:.0f} % of the {noun}"
        if n_labels < self.labels_needed:
            return f"needs at least {plural(self.labels_needed, unit)}, and there are {n_labels}"
        return f"answers no {noun}, since too many left-out {unit}s are predicted wrongly"


@dataclass(frozen=True)
class Guarantee:
    """Limit of error of a model, `max_error`, and how much it answers within it.

    Attributes
    ----------
    max_error : float
        At most this share of the answered samples are wrong.
    certainty : float
        Probability with which that holds for this model.
    n_labels : int
        Labels that there are; those that are left out together count one.
    unit : {"label", "group"}
        What is counted: groups where labels are left out together.
    certain : Answered
        What is answered so that the limit holds with this certainty.
    on_average : Answered
        What is answered so that the limit holds on average over training sets.
    """

    max_error: float
    certainty: float
    n_labels: int
    unit: str
    certain: Answered
    on_average: Answered

    @property
    def is_possible(self) -> bool:
        """True if the limit can be kept with certainty."""
        return self.certain.least_confidence is not None

    def sentence(self, noun: str = "samples") -> str:
        """Return the guarantee in words; `noun`: what is answered."""
        certain, on_average = (one.text(noun, self.n_labels, self.unit) for one in (self.certain, self.on_average))
        if self.is_possible and self.on_average.least_confidence is not None:
            on_average = f"{100 * self.on_average.share:.0f} %"
        wrong = f"at most {round(100 * self.max_error, 6):g} % wrong with {certainty_text(self.certainty)}"
        return f"{wrong}: {certain}; on average: {on_average}"


@dataclass(frozen=True)
class ClassCoverage:
    """Share of the labels of a class that are in their prediction sets.

    Attributes
    ----------
    label : class
    share : float
        Share of the left-out labels of this class that their set contains.
    n_labels : int
        Labels of this class.
    coverage : float
        Coverage of the sets over all classes.
    """

    label: Any
    share: float
    n_labels: int
    coverage: float

    def __str__(self) -> str:
        return (
            f"sets of coverage {100 * self.coverage:g} % contain the true class for {100 * self.share:.0f} % of the "
            f"{plural(self.n_labels, 'label')} of {category_text(self.label)}, the worst class; "
            "predict_set(per_class=True) keeps the coverage in each class"
        )


@dataclass(frozen=True)
class Guarantees:
    """Limits of error that a model can keep with its labels.

    `str()` gives it in words; notebooks show a table.

    Attributes
    ----------
    n_labels : int
        Number of labels; copies and groups count one.
    unit : {"label", "group"}
        What is counted: groups where labels are left out together.
    certainty : float
        Probability with which limits hold for this model.
    smallest_error : float
        The smallest `max_error` with which the model answers anything, with this certainty.
    levels : tuple of Guarantee
        What it answers with several values of `max_error`.
    worst_class : ClassCoverage or None
        The class whose labels are least often in their sets of coverage 90 %.
    """

    n_labels: int
    unit: str
    certainty: float
    smallest_error: float
    levels: tuple[Guarantee, ...]
    worst_class: ClassCoverage | None

    def __str__(self) -> str:
        smallest = f"{percent_up(self.smallest_error)} with {certainty_text(self.certainty)}"
        lines = [f"{plural(self.n_labels, self.unit)}: the smallest error that can be promised is {smallest}"]
        lines += [one.sentence() for one in self.levels]
        lines += [] if self.worst_class is None else [str(self.worst_class)]
        return "\n".join(f"{line[0].upper()}{line[1:]}." for line in lines)

    def _repr_html_(self) -> str:
        rows = [
            [
                f"{one.max_error:g}",
                *(
                    f"{kept.share:.0%}" if kept.least_confidence is not None else "nothing"
                    for kept in (one.certain, one.on_average)
                ),
                "" if one.certain.least_confidence is None else f"{one.certain.least_confidence:.3f}",
                str(one.certain.labels_needed),
            ]
            for one in self.levels
        ]
        head = ["max_error", f"answered with {certainty_text(self.certainty)}", "answered on average"]
        return html_table([*head, "confidence from", "labels needed"], rows)


def guarantees_of(
    promises: ConformalPredictor, max_errors: Iterable[float] = LEVELS, certainty: float = CERTAINTY
) -> Guarantees:
    """Return the guarantees at some levels of error."""
    curves, n = {one: promises.curve(one) for one in (certainty, None)}, promises.n_labels
    found = []
    for level in max_errors:
        certain, on_average = (_answered(curve, level, sense, n) for sense, curve in curves.items())
        found.append(Guarantee(level, certainty, round(n), promises.unit, certain, on_average))
    smallest = curves[certainty].smallest_error
    return Guarantees(round(n), promises.unit, certainty, smallest, tuple(found), promises.worst_class(COVERAGE))


def _answered(curve: ErrorCurve, level: float, certainty: float | None, n: float) -> Answered:
    """Return the answers of a model at a level of error, as a share of `n` labels."""
    limit, place = curve.least_confidence(level), curve.place(level)
    share = 0.0 if place is None else float(curve.answered[place] / n)
    return Answered(share, None if limit == NEVER else limit, labels_needed(level, certainty))


def measured_guarantees(view: ModelView) -> Guarantees | None:
    """Return the guarantees of a model; None if it stores no labels, or too few to measure its accuracy."""
    left_out = view.left_out
    if left_out is None or not left_out.is_measurable:
        return None
    return guarantees_of(view.promises, certainty=view.certainty)
