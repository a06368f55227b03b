"""Groups of correlated columns."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from sslart._art.geometry import centres
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._score_contributions import background_boxes

MIN_CORRELATION = 0.8


def feature_groups(member: MemberView, n_columns: int) -> IntArray:
    """Return the group of each column: numeric columns with pairwise high rank correlation share a group.

    The correlation is that of the centres of the boxes, each counted as often as the box has learnt samples. A column
    of categories is a group of its own.
    """
    return member.network.get_or_compute(("feature groups", n_columns), lambda: _grouped(member, n_columns))


def _grouped(member: MemberView, n_columns: int) -> IntArray:
    numeric = member.encoder.numeric
    groups = np.arange(n_columns)
    if len(numeric) > 1:
        strength = np.abs(_rank_correlations(member, len(numeric)))
        np.fill_diagonal(strength, 1.0)
        tree = linkage(squareform(np.maximum(1.0 - strength, 0.0), checks=False), "complete")
        own = fcluster(tree, 1.0 - MIN_CORRELATION, "distance")
        first = {group: numeric[position] for position, group in reversed(list(enumerate(own.tolist())))}
        groups[numeric] = [first[group] for group in own.tolist()]
    return groups


def _rank_correlations(member: MemberView, n_numeric: int) -> FloatArray:
    middles = centres(*member.boxes_of(background_boxes(member)))[:, :n_numeric]  # numeric features come first
    ranks = rankdata(middles, axis=0, nan_policy="omit")
    known = np.isfinite(ranks)
    means = np.where(known, ranks, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    away = np.where(known, ranks - means, 0.0)
    covariances = away.T @ away
    spread = np.sqrt(np.diag(covariances))
    spread[spread == 0] = np.inf  # constant columns go with nothing
    return np.asarray(covariances / spread / spread[:, None])
