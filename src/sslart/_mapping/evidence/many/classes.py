"""Many classes: settings are chosen on the labels of some classes, since leaving out one label must leave others."""

from __future__ import annotations

import warnings

import numpy as np

from sslart._mapping.evidence.design import LabelledSet, places_in_class
from sslart._mapping.evidence.settings import MANY_CLASSES, NO_BLOCK
from sslart._utils.arrays import IntArray

MAX_CHOOSING = 500  # labels that settings are chosen on
MIN_CLASSES = 10  # with two labels each; of fewer, settings are not chosen
MIN_LEFT_OUT = 50  # labels that had no part in the choice


def has_many_classes(labelled: LabelledSet) -> bool:
    """Return True if there are so many classes that settings are chosen on a subset of them."""
    return labelled.n_classes > MANY_CLASSES


def sample_of_classes(labelled: LabelledSet) -> LabelledSet | None:
    """Return labels of some classes, several of each; None where too few classes have two labels.

    A class takes part the more probably, the more labels it has. Of labels that are left out together, one takes part:
    the others could not show how well the class is predicted. At most half of the labels take part, so that others are
    left to measure how good the choice is.
    """
    order = _random_order(labelled)
    order = order[_first_of_each(labelled.groups.numbers[order])]
    classes = labelled.classes[order]
    order = order[np.bincount(classes)[classes] > 1]
    classes = labelled.classes[order]
    drawn = classes[_first_of_each(classes)]
    if len(drawn) < MIN_CLASSES:
        return None
    size = min(MAX_CHOOSING, max(len(labelled.classes) // 2, 2 * MIN_CLASSES))
    order = order[np.isin(classes, drawn[: min(MANY_CLASSES, size // 2)])]
    return labelled.of_classes(np.sort(_in_proportion(order, labelled.classes[order])[:size]))


def warn_of_usual_settings(n_classes: int) -> None:
    """Warn that settings were not chosen."""
    warnings.warn(
        f"Of {n_classes} classes fewer than {MIN_CLASSES} have two labels, so left-out labels cannot show which "
        "settings suit the data: the usual settings are taken, and the accuracy is not measured. Label a second sample "
        "of some classes.",
        UserWarning,
        stacklevel=2,
    )


def left_out_rows(labelled: LabelledSet, size: int, *, in_proportion: bool) -> IntArray:
    """Return about `size` labels, in whole groups, that were not used to choose settings.

    `in_proportion`: each class in its share, but at least two of each. Else which are taken depends on no class.
    """
    groups = labelled.groups.numbers
    took_part = np.zeros(len(groups), dtype=bool) if labelled.block_of is None else labelled.block_of != NO_BLOCK
    free = ~np.isin(groups, groups[took_part])
    if free.sum() < MIN_LEFT_OUT:
        free[:] = True
    order = _random_order(labelled)
    order = order[free[order]]
    if in_proportion:
        order = _in_proportion(order, labelled.classes[order])
    in_order = groups[order][_first_of_each(groups[order])]
    n_labels = np.cumsum(np.bincount(groups)[in_order])
    return np.flatnonzero(np.isin(groups, in_order[: int(np.searchsorted(n_labels, size)) + 1]))


def _first_of_each(values: IntArray) -> IntArray:
    """Return the index of the first occurrence of each distinct value, ascending."""
    return np.sort(np.unique(values, return_index=True)[1])


def _in_proportion(rows: IntArray, classes: IntArray) -> IntArray:
    """Return rows so that the first of them have each class in proportion, but at least two of each."""
    place = places_in_class(classes)
    rank = np.where(place < 2, 0.0, (place + 0.5) / np.bincount(classes)[classes])
    return rows[np.argsort(rank, kind="stable")]


def _random_order(labelled: LabelledSet) -> IntArray:
    """Return the labels in an order that follows from their samples, so that it is that of all members of an ensemble.

    Without keys of the samples, it is a random order.
    """
    if labelled.keys is None:
        return np.random.RandomState(labelled.seed).permutation(len(labelled.classes))
    return np.argsort(labelled.keys, kind="stable")
