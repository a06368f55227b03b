"""How well learnt samples would fit a network had they not been learnt: each is left out with all of its copies.

A box is the hull of its samples, so that the box without some of them follows from the others. Which box learns which
sample is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sslart._art.learn_result import Fits
from sslart._art.network import Network
from sslart._data.row_keys import row_keys
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.random_keys import KeyArray

MAX_ROWS = 4000  # of more, only boxes are computed again that change without the samples left out


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a network has learnt.

    Attributes
    ----------
    network : Network
    table : Table
        All samples, in the order in which they were learnt.
    matrix : array of shape (n_samples, n_coded_features)
        The samples in the user's units.
    winners : array of length n_samples
        The box that learnt each sample.
    parts : array of uint64, length n_samples
        Samples that agree here are left out together.
    choice : float
        α.
    """

    network: Network
    table: Table
    matrix: FloatArray
    winners: IntArray
    parts: KeyArray
    choice: float


@dataclass(frozen=True, eq=False)
class Changed:
    """Boxes that are other ones without a sample that is left out.

    Attributes
    ----------
    sample : array
        Place of the sample among those that are left out in turn, ascending; each occurs at least once.
    box : array
    weights : array of shape (n_changed, 2 * n_coded_features)
        The box without the sample; NaN where nothing remains of it.
    """

    sample: IntArray
    box: IntArray
    weights: FloatArray


def left_out_fits(
    network: Network, table: Table, winners: IntArray, choice: float, max_samples: int, groups: IntArray | None = None
) -> tuple[KeyArray, Fits]:
    """Return how well learnt samples fit the network without them.

    A sample that its box would be smaller without is measured as if the box were as large as it is now, and the sample
    widened it once more: so a new sample that widens the box by as much fits equally well.

    Parameters
    ----------
    network : Network
        What the samples have made.
    table : Table
        All samples that the network has learnt, in the order in which it learnt them.
    winners : array of length n_samples
        The box that learnt each sample.
    choice : float
        α.
    max_samples : int
        How many samples to measure; of more, a random sample of the distinct ones.
    groups : array of length n_samples, or None
        Samples of one group are left out together. None: copies are.

    Returns
    -------
    keys : array of uint64
        A key of each sample measured, ascending.
    fits : Fits
    """
    matrix, keys = network.encoder.matrix(table), row_keys(table)
    chosen = _chosen(keys, max_samples)
    learnt = Learnt(network, table, matrix, winners, keys if groups is None else groups.astype(np.uint64), choice)
    samples = network.encode(table[chosen])
    boxes, weights, matches = _best(learnt, samples, _changed(learnt, chosen))
    familiarity = matches - _grown_distance(learnt, chosen, samples, weights)
    fits = Fits(boxes, np.where(boxes < 0, 0.0, np.clip(familiarity, 0.0, 1.0)), network.extents(boxes))
    return keys[chosen], fits


def _chosen(keys: KeyArray, max_samples: int) -> IntArray:
    """Return the first of the samples with each of the lowest keys."""
    share = 2.0 * max_samples / len(keys)
    while True:
        low = np.flatnonzero(keys < np.uint64(share * 2.0**64)) if share < 1 else np.arange(len(keys))
        first = low[np.unique(keys[low], return_index=True)[1]]
        if len(first) >= max_samples or share >= 1:
            return np.asarray(first[:max_samples])
        share *= 4


def _code(samples: FloatArray) -> FloatArray:
    """Return A = (x, 1 − x), 1 where a value is missing: it leaves every box as it is."""
    code = np.concatenate([samples, 1.0 - samples], axis=1)
    code[np.isnan(code)] = 1.0
    return code


def _changed(learnt: Learnt, chosen: IntArray) -> Changed:
    """Return the boxes without what is left out with each chosen sample."""
    nodes, parts, winners = learnt.network.nodes, learnt.parts, learnt.winners
    own = np.unique(parts[chosen])
    rows = np.flatnonzero(own[np.searchsorted(own, parts).clip(max=len(own) - 1)] == parts)
    place = np.searchsorted(own, parts[rows])
    pairs, counts = np.unique(place * nodes.n_nodes + winners[rows], return_counts=True)
    part, box = pairs // nodes.n_nodes, pairs % nodes.n_nodes
    emptied = counts == nodes.support[box]
    weights = np.where(emptied[:, None], np.nan, nodes.weights[box])
    again = ~emptied
    if len(winners) > MAX_ROWS:
        code = _code(learnt.network.encode(learnt.table[rows]))
        order = np.argsort(place * nodes.n_nodes + winners[rows], kind="stable")
        lowest = np.minimum.reduceat(code[order], np.cumsum(counts) - counts)
        again &= (lowest <= nodes.weights[box]).any(axis=1)
    if again.any():
        weights[again] = np.maximum(_without(learnt, own[part[again]], box[again]), weights[again])
    of_sample = np.searchsorted(own, parts[chosen])
    starts, ends = np.searchsorted(part, of_sample), np.searchsorted(part, of_sample, side="right")
    sample = np.repeat(np.arange(len(chosen)), ends - starts)
    taken = np.arange(len(sample)) - np.repeat(np.cumsum(ends - starts) - ends, ends - starts)
    return Changed(sample, box[taken], weights[taken])


def _without(learnt: Learnt, parts: KeyArray, boxes: IntArray) -> FloatArray:
    """Return the weights of boxes without a part of their samples: each is the hull of the others."""
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


def _best(learnt: Learnt, samples: FloatArray, changed: Changed) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the box of highest choice for each sample, its weights, and its match; -1 and NaN where there is none."""
    nodes, code, present = learnt.network.nodes, _code(samples), np.tile(~np.isnan(samples), 2)
    whole = _best_unchanged(learnt, samples, changed)
    whole_weights = np.where((whole >= 0)[:, None], nodes.weights[whole], np.nan)
    whole_choices, whole_matches = _choice_and_match(code, whole_weights, present, learnt.choice)
    of = changed.sample
    choices, matches = _choice_and_match(code[of], changed.weights, present[of], learnt.choice)
    widened = np.where(present[of], changed.weights - nodes.weights[changed.box], 0.0).sum(axis=1)
    matches -= 2.0 * widened / present[of].sum(axis=1)
    order = np.lexsort((np.nan_to_num(choices, nan=-1.0), of))
    best = order[np.flatnonzero(np.diff(of[order], append=len(samples)))]
    is_changed = np.nan_to_num(choices[best], nan=-1.0) > np.nan_to_num(whole_choices, nan=-1.0)
    return (
        np.where(is_changed, changed.box[best], whole),
        np.where(is_changed[:, None], changed.weights[best], whole_weights),
        np.where(is_changed, matches[best], whole_matches),
    )


def _best_unchanged(learnt: Learnt, samples: FloatArray, changed: Changed) -> IntArray:
    """Return the box of highest choice among those that stay the same without each sample, -1 where there is none."""
    n_changed = np.bincount(changed.sample, minlength=len(samples))
    best = np.full(len(samples), -1)
    for depth in np.unique(n_changed).tolist():
        rows = np.flatnonzero(n_changed == depth)
        ranked = learnt.network.rank_coded(samples[rows], learnt.choice, depth=depth + 1)[0]
        own = changed.box[(n_changed == depth)[changed.sample]].reshape(len(rows), depth)
        unchanged = (ranked[:, :, None] != own[:, None, :]).all(axis=2) & (ranked >= 0)
        first = ranked[np.arange(len(rows)), unchanged.argmax(axis=1)]
        best[rows] = np.where(unchanged.any(axis=1), first, -1)
    return best


def _choice_and_match(
    code: FloatArray, weights: FloatArray, present: BoolArray, choice: float
) -> tuple[FloatArray, FloatArray]:
    shared = np.where(present, np.minimum(code, weights), 0.0).sum(axis=1)
    return shared / (choice + np.where(present, weights, 0.0).sum(axis=1)), 2.0 * shared / present.sum(axis=1)


def _grown_distance(learnt: Learnt, chosen: IntArray, samples: FloatArray, weights: FloatArray) -> FloatArray:
    """Return by how much the distance to the box grows where a sample alone has the least or greatest value.

    Without it the range would be narrower, and the distance a larger share of it.
    """
    n_features = samples.shape[1]
    shared = np.minimum(_code(samples), weights)
    sides = np.where(np.isnan(samples), 0.0, 1.0 - shared[:, :n_features] - shared[:, n_features:])
    factors = _narrower_ranges(learnt, chosen)
    with np.errstate(invalid="ignore"):
        grown = np.where(np.isinf(factors), sides > 0, sides * factors)
    return np.asarray((grown - sides).sum(axis=1) / (~np.isnan(samples)).sum(axis=1))


def _narrower_ranges(learnt: Learnt, chosen: IntArray) -> FloatArray:
    """Return how many times as wide the range of each feature is as it would be without each sample."""
    encoder, own, parts = learnt.network.encoder, learnt.matrix[chosen], learnt.parts[chosen]
    factors = np.ones_like(own)
    varies = np.array([feature.category is None for feature in encoder.features]) & (encoder.lower < encoder.upper)
    for limit, nearest in ((encoder.lower, np.min), (encoder.upper, np.max)):
        for feature in np.flatnonzero((own == limit).any(axis=0) & varies).tolist():
            holders = np.unique(parts[own[:, feature] == limit[feature]])
            values = learnt.matrix[:, feature]
            others = values[(learnt.parts != holders[0]) & ~np.isnan(values)]
            if len(holders) == 1 and len(others):
                width = encoder.upper[feature] - encoder.lower[feature]
                with np.errstate(divide="ignore"):
                    factors[parts == holders[0], feature] *= width / (width - abs(nearest(others) - limit[feature]))
    return factors
