"""Jackknife: the fit of each learnt sample to the network learnt without it and its duplicates.

A box is the bounding box of its samples, so that the box without some of them follows from the others. The assignment
of samples to boxes is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sslart._art.backend import row_keys
from sslart._art.boxes import Fits, LearningParams
from sslart._art.geometry import SIZE_SHARE
from sslart._art.network import Network
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray
from sslart._utils.cache import Deferred

MAX_SAMPLES = 500  # left out in turn: enough for p-values of 1 % and below
MIN_SAMPLES = 100  # left out even if the table they need is larger than LARGE
SMALL = 2**23  # bytes: a table up to this size is kept whole until the fits are needed
LARGE = 2**24  # bytes kept of a larger table


@dataclass(frozen=True, eq=False)
class LearntSamples:
    """Learnt samples with the boxes they won: the input of the jackknife.

    Attributes
    ----------
    network : Network
    params : LearningParams
        α and β matter.
    table : Table
        Samples, in the order in which they were learnt: all samples of the boxes that differ without the chosen ones.
    winners : array of length n_samples
        The box that learnt each sample.
    keys, parts : arrays of uint64, length n_samples
        Duplicates have the same key. Samples of the same part are left out together.
    chosen : array
        The samples that are left out in turn, by ascending key.
    sizes : array of length n_boxes
        How many samples each box has learnt.
    """

    network: Network
    params: LearningParams
    table: Table
    winners: IntArray
    keys: KeyArray
    parts: KeyArray
    chosen: IntArray
    sizes: IntArray

    def of(self, rows: IntArray, n_chosen: int) -> LearntSamples:
        """Return the same restricted to `rows`, with the first `n_chosen` chosen samples."""
        chosen = np.searchsorted(rows, self.chosen[:n_chosen])
        kept = (self.table[rows], self.winners[rows], self.keys[rows], self.parts[rows])
        return LearntSamples(self.network, self.params, *kept, chosen, self.sizes)


@dataclass(frozen=True, eq=False)
class ChangedBoxes:
    """Boxes that change when a sample is left out (by its index, ascending); NaN where nothing of the box is left."""

    sample: IntArray
    box: IntArray
    weights: FloatArray


def left_out_fits(
    network: Network, table: Table, winners: IntArray, params: LearningParams, groups: IntArray | None = None
) -> Deferred[tuple[KeyArray, Fits]]:
    """Return the jackknife fits of learnt samples, computed lazily: their keys, ascending, and their fits.

    If a box would be smaller without the sample, the fit is that of a sample that widens the present box by the same
    amount, so that a new sample that does so fits equally well. With β < 1 a box moves only part of the way to its
    samples; a sample still outside was 1 / (1 − β) times as far away.

    The fits are computed when first read, or before the network changes. The data needed are copied now.

    Parameters
    ----------
    network : Network
    table : Table
        All samples that the network has learnt, in the order in which it learnt them.
    winners : array of length n_samples
        The box that learnt each sample; samples with -1, whose box has been dropped since, are not left out.
    params : LearningParams
    groups : array of length n_samples, or None
        Samples of one group are left out together. None, or 0 for a sample: together with its duplicates only.
    """
    if (winners < 0).any():
        kept = np.flatnonzero(winners >= 0)
        table, winners, groups = table[kept], winners[kept], None if groups is None else groups[kept]
    if table.values.nbytes <= SMALL:
        table, winners = table.copy(), winners.copy()
        return Deferred(lambda: _fits(_learnt(network, table, winners, params, groups)))
    learnt, growth = _reduced(_learnt(network, table, winners, params, groups))
    return Deferred(lambda: _fits(learnt, growth))


def _learnt(
    network: Network, table: Table, winners: IntArray, params: LearningParams, groups: IntArray | None
) -> LearntSamples:
    keys = row_keys(network.encoder.varying(table))
    parts = keys if groups is None else np.where(groups == 0, keys, groups.view(np.uint64))
    chosen = _chosen(keys, MAX_SAMPLES)
    chosen = chosen[~network.empty(network.encode(table[chosen]))]
    sizes = np.bincount(winners, minlength=network.nodes.n_nodes)
    return LearntSamples(network, params, table, winners, keys, parts, chosen, sizes)


def _reduced(learnt: LearntSamples) -> tuple[LearntSamples, FloatArray]:
    """Return the part of a large table needed to leave samples out; of fewer samples if it is still too large."""
    left_out = _left_out_rows(learnt)
    growth = _narrower_ranges(learnt, left_out)
    nodes = learnt.network.nodes
    n_chosen = len(learnt.chosen)
    while True:
        parts = np.unique(learnt.parts[learnt.chosen[:n_chosen]])
        rows = left_out[np.isin(learnt.parts[left_out], parts)]
        with_box = np.lexsort((learnt.winners[rows], learnt.parts[rows]))
        rows = rows[with_box]
        starts = np.flatnonzero(
            (np.diff(learnt.parts[rows], prepend=~learnt.parts[rows[0]]) != 0)
            | (np.diff(learnt.winners[rows], prepend=-1) != 0)
        )
        boxes = learnt.winners[rows[starts]]
        lowest = np.minimum.reduceat(_code(learnt.network.encode(learnt.table[rows])), starts)
        remains = np.diff(starts, append=len(rows)) < learnt.sizes[boxes]
        needed = np.zeros(nodes.n_nodes, dtype=bool)
        needed[boxes[remains & (lowest <= nodes.weights_of(boxes)).any(axis=1)]] = True
        kept = np.union1d(rows, np.flatnonzero(needed[learnt.winners]))
        if len(kept) * learnt.table.values.shape[1] * 8 <= LARGE or n_chosen <= MIN_SAMPLES:
            return learnt.of(kept, n_chosen), growth[:n_chosen]
        n_chosen = max(n_chosen // 2, MIN_SAMPLES)


def _left_out_rows(learnt: LearntSamples) -> IntArray:
    """Return the indices of all samples that are left out in some part."""
    parts = np.sort(learnt.parts[learnt.chosen])
    within = np.flatnonzero((learnt.parts >= parts[0]) & (learnt.parts <= parts[-1]))
    return np.asarray(within[parts[np.searchsorted(parts, learnt.parts[within])] == learnt.parts[within]])


def _fits(learnt: LearntSamples, growth: FloatArray | None = None) -> tuple[KeyArray, Fits]:
    """Return the fits, given the growth of distances; None: computed from the table."""
    growth = _narrower_ranges(learnt, _left_out_rows(learnt)) if growth is None else growth
    samples = learnt.network.encode(learnt.table[learnt.chosen])
    boxes, weights, nearness = _best(learnt, samples, _changed(learnt))
    extents = learnt.network.nodes.extents(np.maximum(boxes, 0))
    away = SIZE_SHARE * extents / samples.shape[1] + _grown_distance(samples, weights, growth)
    fits = Fits(boxes, np.where(boxes < 0, 0.0, np.clip(nearness - away, 0.0, 1.0)), extents)
    return learnt.keys[learnt.chosen], fits


def _chosen(keys: KeyArray, max_samples: int) -> IntArray:
    """Return one sample for each of the lowest keys: a random choice of distinct samples."""
    share = 2.0 * max_samples / len(keys)
    while True:
        low = np.flatnonzero(keys < np.uint64(share * 2.0**64)) if share < 1 else np.arange(len(keys))
        first = low[np.unique(keys[low], return_index=True)[1]]
        if len(first) >= max_samples or share >= 1:
            return np.asarray(first[:max_samples])
        share *= 4


def _code(samples: FloatArray) -> FloatArray:
    """Return the complement code A = (x, 1 − x), with 1 for missing values so that they never shrink a box."""
    code = np.concatenate([samples, 1.0 - samples], axis=1)
    code[np.isnan(code)] = 1.0
    return code


def _changed(learnt: LearntSamples) -> ChangedBoxes:
    """Return the boxes that change when each chosen sample is left out with its copies."""
    nodes, rows = learnt.network.nodes, _left_out_rows(learnt)
    parts = np.unique(learnt.parts[learnt.chosen])
    of_row = np.searchsorted(parts, learnt.parts[rows])
    pairs, counts = np.unique(of_row * nodes.n_nodes + learnt.winners[rows], return_counts=True)
    part, box = pairs // nodes.n_nodes, pairs % nodes.n_nodes
    emptied = counts == learnt.sizes[box]
    weights = np.where(emptied[:, None], np.nan, nodes.weights_of(box))
    is_known = np.bincount(learnt.winners, minlength=nodes.n_nodes) == learnt.sizes
    again = np.flatnonzero(~emptied & is_known[box])
    if len(again):
        weights[again] = np.maximum(_without(learnt, parts[part[again]], box[again]), weights[again])
    of_chosen = np.searchsorted(parts, learnt.parts[learnt.chosen])
    starts, ends = np.searchsorted(part, of_chosen), np.searchsorted(part, of_chosen, side="right")
    sample = np.repeat(np.arange(len(of_chosen)), ends - starts)
    taken = np.arange(len(sample)) - np.repeat(np.cumsum(ends - starts) - ends, ends - starts)
    return ChangedBoxes(sample, box[taken], weights[taken])


def _without(learnt: LearntSamples, parts: KeyArray, boxes: IntArray) -> FloatArray:
    """Return the weights of boxes without a part of their samples: the bounding box of the others."""
    needed = np.zeros(learnt.network.nodes.n_nodes, dtype=bool)
    needed[boxes] = True
    rows = np.flatnonzero(needed[learnt.winners])
    rows = rows[np.argsort(learnt.winners[rows], kind="stable")]
    code, own_parts = _code(learnt.network.encode(learnt.table[rows])), learnt.parts[rows]
    starts = np.flatnonzero(np.diff(learnt.winners[rows], prepend=-1))
    place_of_row = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
    lowest = np.minimum.reduceat(code, starts)
    holds = np.where(code == lowest[place_of_row], np.arange(len(rows))[:, None], -1)
    holder = own_parts[np.maximum.reduceat(holds, starts)]
    code[own_parts[:, None] == holder[place_of_row]] = 1.0
    lowest_of_others = np.minimum.reduceat(code, starts)
    place = np.searchsorted(learnt.winners[rows][starts], boxes)
    return np.where(holder[place] == parts[:, None], lowest_of_others[place], lowest[place])


def _best(learnt: LearntSamples, samples: FloatArray, changed: ChangedBoxes) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the box of highest choice for each sample, its weights, and 1 minus its mean distance; else -1 and NaN."""
    nodes, code, present = learnt.network.nodes, _code(samples), np.tile(~np.isnan(samples), 2)
    whole = _best_unchanged(learnt, samples, changed)
    whole_weights = np.where((whole >= 0)[:, None], nodes.weights_of(np.maximum(whole, 0)), np.nan)
    whole_choices, whole_near = _choice_and_nearness(code, whole_weights, present, learnt.params.choice)
    of = changed.sample
    choices, near = _choice_and_nearness(code[of], changed.weights, present[of], learnt.params.choice)
    if learnt.params.learning_rate < 1:
        with_samples = nodes.weights_of(changed.box)
        outside = with_samples - np.minimum(code[of], with_samples)
        rate = learnt.params.learning_rate
        near -= 2.0 * rate / (1.0 - rate) * np.where(present[of], outside, 0.0).sum(axis=1) / present[of].sum(axis=1)
    order = np.lexsort((np.nan_to_num(choices, nan=-1.0), of))
    best = order[np.flatnonzero(np.diff(of[order], append=len(samples)))]
    is_changed = np.nan_to_num(choices[best], nan=-1.0) > np.nan_to_num(whole_choices, nan=-1.0)
    return (
        np.where(is_changed, changed.box[best], whole),
        np.where(is_changed[:, None], changed.weights[best], whole_weights),
        np.where(is_changed, near[best], whole_near),
    )


def _best_unchanged(learnt: LearntSamples, samples: FloatArray, changed: ChangedBoxes) -> IntArray:
    """Return the box of highest choice among those that stay the same without each sample, -1 where there is none."""
    n_changed = np.bincount(changed.sample, minlength=len(samples))
    best = np.full(len(samples), -1)
    for depth in np.unique(n_changed).tolist():
        rows = np.flatnonzero(n_changed == depth)
        ranked = learnt.network.rank_coded(samples[rows], learnt.params.choice, depth=depth + 1)[0]
        own = changed.box[(n_changed == depth)[changed.sample]].reshape(len(rows), depth)
        unchanged = (ranked[:, :, None] != own[:, None, :]).all(axis=2) & (ranked >= 0)
        first = ranked[np.arange(len(rows)), unchanged.argmax(axis=1)]
        best[rows] = np.where(unchanged.any(axis=1), first, -1)
    return best


def _choice_and_nearness(
    code: FloatArray, weights: FloatArray, present: BoolArray, choice: float
) -> tuple[FloatArray, FloatArray]:
    """Return the choice of boxes and 1 minus the mean distance per feature of the samples from them."""
    shared = np.where(present, np.minimum(code, weights), 0.0).sum(axis=1)
    lower, rest = np.hsplit(weights, 2)
    has_value = ~((lower == 1.0) & (rest == 1.0))  # of a box in a feature
    counts = present & np.tile(has_value, 2)
    outside = np.where(counts, np.maximum(weights - code, 0.0), 0.0).sum(axis=1)
    choices = shared / (choice + np.where(present, weights, 0.0).sum(axis=1))
    return choices, 1.0 - outside / (present.sum(axis=1) / 2)


def _sides(weights: FloatArray) -> FloatArray:
    lower, rest = np.hsplit(weights, 2)
    return np.maximum(0.0, 1.0 - lower - rest)


def _grown_distance(samples: FloatArray, weights: FloatArray, growth: FloatArray) -> FloatArray:
    """Return the growth of the distance to the box if a sample alone has the lowest or highest value of a feature.

    Without it the range would be narrower, and the distance a larger share of it. `growth`: from `_narrower_ranges`.
    """
    n_features = samples.shape[1]
    shared = np.minimum(_code(samples), weights)
    own = _sides(weights)
    outside = 1.0 - shared[:, :n_features] - shared[:, n_features:] - own
    away = np.where(np.isnan(samples), 0.0, outside + SIZE_SHARE * own)
    factors, further = growth[..., 0], growth[..., 1]
    with np.errstate(invalid="ignore"):
        grown = np.where(np.isinf(factors), away > 0, away * factors + further * (away > 0))
    return np.asarray((grown - away).sum(axis=1) / (~np.isnan(samples)).sum(axis=1))


def _narrower_ranges(learnt: LearntSamples, left_out: IntArray) -> FloatArray:
    """Return the growth of distances when each chosen sample is left out, shape (n_chosen, n_features, 2).

    The first number is the ratio of the present range to the narrower one; the second, for features scaled by rank, the
    additional distance on the scale of the others, which has another slope beyond its ends.
    """
    encoder, parts = learnt.network.encoder, learnt.parts[learnt.chosen]
    growth = np.tile([1.0, 0.0], (len(parts), len(encoder.features), 1))
    widths = encoder.origin_and_span()[1]
    for place, (column, category) in enumerate(encoder.features):
        own, width = learnt.table.values[learnt.chosen, column], widths.item(place)
        if category is not None or not width > 0:
            continue
        for limit, nearest in ((encoder.lower.item(place), np.fmin), (encoder.upper.item(place), np.fmax)):
            holders = np.unique(parts[own == limit])
            if len(holders) != 1:
                continue
            values = learnt.table.values[:, column].copy()
            values[left_out[learnt.parts[left_out] == holders[0]]] = np.nan
            others = nearest.reduce(values)
            if np.isnan(others):
                continue
            rows = parts == holders[0]
            ends = encoder.on_scale(np.array([[others], [limit]]), np.array([place]))
            gap = abs(ends[1] - ends[0]).item()
            growth[rows, place, 0] *= width / (width - gap) if gap < width else np.inf
            table = encoder.scale_of(place)
            if table is not None and gap < width:
                growth[rows, place, 1] += table.beyond_others(limit, others) - gap / (width - gap)
    return growth
