"""Predictions with fewer labels: refits on nested sub-samples, with the boxes and settings of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from sslart._mapping.left_out import LeftOut
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sslart._mapping.evidence import EvidenceMapping

SHARES = (0.125, 0.25, 0.5, 0.75)  # of the labels
N_ORDERS = 3
MAX_USED = 800  # labels, so that the work is bounded
MIN_SUBSET = 4


@dataclass(frozen=True)
class SubSamples:
    """Correctness of predictions of labels by sub-samples of the others.

    Attributes
    ----------
    sizes : array of length n_sizes
        How many labels there were, where those of a group count one.
    right : array of shape (n_orders, n_sizes, n_groups)
        Share of the labels of each group that were predicted rightly in each random order; NaN where the group was
        among those that predicted, or was not predicted.
    """

    sizes: FloatArray
    right: FloatArray


def sub_samples_of(view: ModelView, left_out: LeftOut) -> SubSamples:
    """Measure the predictions of labels by nested sub-samples; in an ensemble, with the first member."""
    member = view.members[0]
    mapping, kept = cast("EvidenceMapping", member.mapping), member.kept_labels
    assert kept is not None
    groups = np.unique(left_out.groups, return_inverse=True)[1]
    n_groups = int(groups.max()) + 1
    n_used = min(n_groups, MAX_USED)
    sizes = [size for size in (round(share * n_used) for share in SHARES) if size >= MIN_SUBSET]
    right = np.full((N_ORDERS, len(sizes), n_groups), np.nan)
    random = np.random.RandomState(0)
    coded = member.at_choice.encode(kept[0][left_out.rows])
    for order in range(N_ORDERS):
        place = np.empty(n_groups, dtype=np.int64)
        place[random.permutation(n_groups)] = np.arange(n_groups)
        for number, size in enumerate(sizes):
            inside = place[groups] < size
            others = np.flatnonzero(~inside & (place[groups] < 2 * MAX_USED))
            proba = mapping.proba_by_some(left_out.rows[inside], coded[others])
            hits = view.class_by(proba) == left_out.truth[others]
            right[order, number] = _by_group(hits, groups[others], n_groups)
    return SubSamples(np.array(sizes, dtype=np.float64), right)


def _by_group(right: BoolArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Return the share of right ones in each group, NaN for a group without any."""
    n_of = np.bincount(groups, minlength=n_groups)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(groups, right, n_groups) / n_of)
