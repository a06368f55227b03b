"""Scores for models that may abstain: coverage and correctness, their curve, and comparisons over data sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sslart._art.boxes import NO_LIMIT
from sslart._data.labels import NO_TRUTH, UNLABELLED, Labels, read_labels
from sslart._data.samples import is_missing, without_mask
from sslart._mapping.model_view import view_of
from sslart._utils.arrays import BoolArray, FloatArray
from sslart._utils.validation import check_whole


def coverage_score(y_true: Any, y_pred: Any, *, abstained: Any = UNLABELLED) -> float:
    """Return the coverage: the share of samples with a prediction, correct or wrong.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, one for every sample.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    abstained : label or None, default=-1
        The value in `y_pred` that means abstention. None, NaN and pandas.NA always do; pass None if -1 is a class.

    Examples
    --------
    >>> from sslart.metrics import coverage_score
    >>> coverage_score([0, 0, 1, 1], [0, -1, 1, 0])
    0.75
    >>> coverage_score(["cat", "dog"], ["cat", None])
    0.5
    """
    return float(_read_pair(y_true, y_pred, abstained)[1].known.mean())


def correctness_score(y_true: Any, y_pred: Any, *, abstained: Any = UNLABELLED) -> float:
    """Return the accuracy on the samples with a prediction; NaN without predictions.

    Parameters
    ----------
    y_true, y_pred, abstained
        See `coverage_score`.

    Examples
    --------
    >>> from sslart.metrics import correctness_score
    >>> correctness_score([0, 0, 1, 1, 1], [0, -1, 0, -1, -1])
    0.5
    >>> correctness_score([0, 1], [-1, -1])
    nan
    """
    return _correctness(*_read_pair(y_true, y_pred, abstained))


def sensitivity_score(y_true: Any, y_pred: Any, *, pos_label: Any, abstained: Any = UNLABELLED) -> float:
    """Return the sensitivity (recall) of a class on the samples with a prediction.

    Parameters
    ----------
    y_true, y_pred, abstained
        See `coverage_score`.
    pos_label : label or None
        The positive class. None, for more than two classes: the mean over the classes of `y_true`, without those
        without predictions.

    Returns
    -------
    float
        NaN if no sample of the class has a prediction.

    Examples
    --------
    >>> from sslart.metrics import sensitivity_score
    >>> sensitivity_score(["ill", "ill", "ill", "well"], ["ill", "well", None, "well"], pos_label="ill")
    0.5
    """
    return _mean_over_classes(y_true, y_pred, pos_label, abstained, of_others=False)


def specificity_score(y_true: Any, y_pred: Any, *, pos_label: Any, abstained: Any = UNLABELLED) -> float:
    """Return the specificity of a class (recall of all other classes together) on the samples with a prediction.

    Parameters
    ----------
    y_true, y_pred, abstained
        See `coverage_score`.
    pos_label : label or None
        The positive class. None, for more than two classes: the mean over the classes of `y_true`.

    Returns
    -------
    float
        NaN if no sample of another class has a prediction.

    Examples
    --------
    >>> from sslart.metrics import specificity_score
    >>> specificity_score(["well", "well", "well", "ill"], ["well", "ill", None, "ill"], pos_label="ill")
    0.5
    """
    return _mean_over_classes(y_true, y_pred, pos_label, abstained, of_others=True)


class CoverageCorrectness(NamedTuple):
    """Coverage and correctness at each search depth; correctness is NaN if the model always abstains."""

    depths: tuple[int | None, ...]
    coverage: FloatArray
    correctness: FloatArray


def coverage_correctness_curve(estimator: Any, X: Any, y: Any, depths: Iterable[int | None]) -> CoverageCorrectness:
    """Return coverage and correctness of a fitted model at several search depths T.

    The model is not changed.

    Parameters
    ----------
    estimator : SSLART or WESSLART
        A fitted model with a parameter `search_depth`.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True classes. Unlabelled samples are ignored.
    depths : iterable of int or None
        Values of `search_depth`, from 1 up; None searches until a box with a label is found.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> from sslart.metrics import coverage_correctness_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(150) if i % 10]] = -1  # keep one label in ten
    >>> model = SSLART(vigilance=0.9, random_state=0).fit(X, few)
    >>> curve = coverage_correctness_curve(model, X, y, [1, 3, None])
    >>> curve.coverage.round(2)
    array([0.27, 0.65, 1.  ])
    >>> curve.correctness.round(2)
    array([1.  , 0.98, 0.91])
    """
    name = type(estimator).__name__
    if not hasattr(estimator, "get_params") or "search_depth" not in estimator.get_params(deep=False):
        raise ValueError(
            f"{name} has no search_depth to vary. Give a fitted SSLART or WESSLART; of a pipeline, its last step and "
            "the transformed X."
        )
    limits = tuple(check_whole(name, "search_depth", depth, or_none=True) for depth in depths)
    if not limits:
        raise ValueError("depths is empty: give at least one search depth, such as [1, 2, 3, None].")
    view = view_of(estimator)
    by_depth = view.predict_at_depths(view.read(X), (depth or NO_LIMIT for depth in limits))
    pairs = [_labelled_pair(y, view.labels_of(indices, may_abstain=True), view.classes) for indices in by_depth]
    return CoverageCorrectness(
        limits,
        np.array([predicted.known.mean() for _, predicted in pairs]),
        np.array([_correctness(truth, predicted) for truth, predicted in pairs]),
    )


def coverage_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Score a fitted model by its coverage, for `scoring=` in scikit-learn.

    Parameters
    ----------
    estimator : classifier
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True classes. Unlabelled samples are ignored with a warning; the splitters of `sslart.model_selection` keep them
        in training instead.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sslart import SSLART
    >>> from sslart.metrics import coverage_scorer
    >>> cross_val_score(SSLART(random_state=0), *load_iris(return_X_y=True), scoring=coverage_scorer)
    array([1., 1., 1., 1., 1.])
    """
    return float(_scored_pair(estimator, X, y)[1].known.mean())


def correctness_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Score a fitted model by its correctness, for `scoring=` in scikit-learn; NaN if it always abstains.

    Parameters
    ----------
    estimator, X, y
        See `coverage_scorer`.
    """
    return _correctness(*_scored_pair(estimator, X, y))


def _read(y: Any, abstained: Any) -> Labels:
    """Return labels; missing values and the value for abstention count as unknown."""
    y = without_mask(y)
    array = np.asarray(y) if isinstance(getattr(y, "dtype", None), np.dtype) else np.asarray(y, dtype=object)
    array = column_or_1d(array, dtype=array.dtype)
    if array.dtype == object:  # the value for abstention may be of another type than the classes

        def stands_for_none(label: Any) -> bool:
            return is_missing(label) or (isinstance(label, str) == isinstance(abstained, str) and label == abstained)

        plain = [None if stands_for_none(label) else label for label in array]
        array = np.array([*plain, None], dtype=object)[:-1]
    labels = read_labels(array).with_class_minus_one()
    if is_missing(abstained) or isinstance(abstained, str) != (labels.values.dtype.kind == "U"):
        return labels
    return Labels(labels.values, labels.known & (labels.values != abstained))


def _read_pair(y_true: Any, y_pred: Any, abstained: Any) -> tuple[Labels, Labels]:
    truth, predicted = _read(y_true, abstained), _read(y_pred, abstained)
    check_consistent_length(truth.values, predicted.values)
    if len(truth.known) == 0:
        raise ValueError("y_true and y_pred are empty: give at least one sample.")
    if not truth.known.all():
        mark, cure = f"{abstained!r}, ", f" Or give abstained=None if {abstained!r} is a class here."
        if is_missing(abstained):
            mark, cure = "", ""
        raise ValueError(
            f"y_true has {(~truth.known).sum()} sample(s) without a class: {mark}None or NaN, which mean unlabelled. "
            "Leave them out; in cross-validation, cv=sslart.model_selection.StratifiedLabelledKFold() does so." + cure
        )
    return _of_one_kind(truth, predicted)


def _scored_pair(estimator: Any, X: Any, y: Any) -> tuple[Labels, Labels]:
    """Return the labels of the labelled samples, and the predictions of any fitted classifier for them."""
    truth, predicted = _labelled_pair(y, estimator.predict(X), getattr(estimator, "classes_", []))
    n_unlabelled = len(y) - len(truth.known)
    if n_unlabelled:
        warnings.warn(
            f"{n_unlabelled} of {len(y)} samples to score are unlabelled (-1, None or NaN) and ignored. "
            "With cv=sslart.model_selection.StratifiedLabelledKFold() they are in training instead.",
            UserWarning,
            stacklevel=3,
        )
    return truth, predicted


def _labelled_pair(y: Any, y_pred: Any, classes: Any) -> tuple[Labels, Labels]:
    """Return the labels of the labelled samples and the predictions for them."""
    abstained = None if UNLABELLED in np.asarray(classes).tolist() else UNLABELLED
    truth, predicted = _read(y, abstained), _read(y_pred, abstained)
    check_consistent_length(truth.values, predicted.values)
    if not truth.known.any():
        raise ValueError(NO_TRUTH)
    return _of_one_kind(truth[truth.known], predicted[truth.known])


_KINDS = {"i": "integers", "b": "booleans", "U": "strings"}


def _of_one_kind(truth: Labels, predicted: Labels) -> tuple[Labels, Labels]:
    kinds = [_KINDS[labels.values.dtype.kind] for labels in (truth, predicted)]
    if predicted.known.any() and kinds[0] != kinds[1]:
        raise ValueError(
            f"The true classes are {kinds[0]} and the predicted ones {kinds[1]}: convert one to the kind of the other."
        )
    return truth, predicted


def _correctness(truth: Labels, predicted: Labels) -> float:
    return _share((truth.values == predicted.values)[predicted.known])


def _share(flags: BoolArray) -> float:
    return float(flags.mean()) if len(flags) else float("nan")


def _mean_over_classes(y_true: Any, y_pred: Any, pos_label: Any, abstained: Any, *, of_others: bool) -> float:
    truth, predicted = _read_pair(y_true, y_pred, abstained)
    classes = np.unique(truth.values).tolist()
    known = sorted({*classes, *predicted.values[predicted.known].tolist()})
    if pos_label is None:
        if len(known) < 3:
            raise ValueError(f"Which class is the positive one? Give pos_label, one of {known}.")
    elif pos_label not in known:
        raise ValueError(f"pos_label={pos_label!r} is not a class of y_true or y_pred: give one of {known}.")
    shares = [
        _share(((predicted.values == label) != of_others)[predicted.known & ((truth.values == label) != of_others)])
        for label in (classes if pos_label is None else [pos_label])
    ]
    defined = [share for share in shares if not np.isnan(share)]
    return float(np.mean(defined)) if defined else float("nan")
