"""Sets of classes that contain the true class with a stated probability: conformal prediction on left-out labels."""

from __future__ import annotations

import numpy as np

from sslart._utils.arrays import BoolArray, FloatArray, IntArray

EXACT = 1e-9  # sums of weights and levels are compared up to this


def conformal_p_values(scores: FloatArray, left_out: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the p-value of each score: the share of scores at least as high, with the new one among them.

    (1 + sum of the weights of the left-out scores that are at least as high) / (1 + sum of all weights)

    Parameters
    ----------
    scores : array of any shape
        Nonconformity of new samples: the higher, the stranger.
    left_out : array of length n_labels
        The same of left-out labels.
    weights : array of length n_labels
        They sum to one for each group of samples that belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart._mapping.guarantees.sets import conformal_p_values
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

    Parameters
    ----------
    proba : array of shape (n_samples, n_classes)
        Probabilities of new samples.
    left_out : array of shape (n_labels, n_classes)
        Probabilities of left-out labels.
    truth, weights : arrays of length n_labels
        Class index and weight of each label.
    coverage : float
    per_class : bool
        Whether a class is compared with the labels of that class alone.
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
