"""Merging of networks: boxes are converted to a joined encoder, and joined subject to a vigilance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._art.boxes import BoxDraft, Joined, NetworkBoxes, join_boxes
from sslart._art.network import Network
from sslart._data.encoder import Encoder, coded_parts, recode_boxes
from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray

AT_ONCE = 2**14  # boxes compared with samples at once, to bound memory


@dataclass(frozen=True, eq=False)
class MergedSource:
    """A network before a merge, with the joined box of each of its boxes."""

    network: Network  # before the merge
    into: IntArray  # index of the joined box that contains each box
    extents: FloatArray  # sum of the side lengths of each box in the joined encoder, before joining
    stretch: float  # length of the range of a feature in the joined encoder, averaged over the features


@dataclass(frozen=True, eq=False)
class BoxesApart:
    """The boxes of several networks in a joined encoder, before joining."""

    weights: FloatArray
    source: IntArray  # network of each box
    into: IntArray  # index of the joined box that contains each box

    @cached_property
    def _parts(self) -> tuple[IntArray, IntArray, IntArray]:
        """The boxes sorted by their joined box, and the start and the number of boxes of each joined box."""
        sizes = np.bincount(self.into)
        return np.argsort(self.into, kind="stable"), np.cumsum(sizes) - sizes, sizes

    def distances(self, samples: FloatArray, joined: IntArray, source: int, *, is_whole: bool) -> FloatArray:
        """Return the distance of each coded sample to the nearest part of its joined box; inf if there is none.

        Parts of the network `source`, which has learnt the samples, only count if they do not contain the sample; with
        `is_whole`, they do not count at all.
        """
        ends = np.cumsum(self._parts[2][joined])
        cuts = np.searchsorted(ends, np.arange(AT_ONCE, ends[-1] if len(ends) else 0, AT_ONCE), side="left")
        found = [
            self._distances(samples[rows], joined[rows], source, is_whole)
            for rows in np.split(np.arange(len(joined)), np.unique(cuts))
            if len(rows)
        ]
        return np.concatenate([np.empty(0), *found])

    def _distances(self, samples: FloatArray, joined: IntArray, source: int, is_whole: bool) -> FloatArray:
        order, starts, sizes = self._parts
        own_sizes = sizes[joined]
        own_starts = np.cumsum(own_sizes) - own_sizes
        pair = np.repeat(np.arange(len(joined)), own_sizes)
        parts = order[np.arange(len(pair)) + (starts[joined] - own_starts)[pair]]
        weights, known = self.weights[parts], ~np.isnan(samples)
        lower, rest = np.hsplit(weights, 2)
        holds = ((samples[pair] >= lower) & (samples[pair] + rest <= 1.0) | ~known[pair]).all(axis=1)
        left = (self.source[parts] != source) | ~(holds | is_whole)
        weights[~left] = np.inf
        lower, rest = np.hsplit(np.minimum.reduceat(weights, own_starts), 2)
        beyond = np.maximum(0.0, np.maximum(lower - samples, samples + rest - 1.0))
        total = np.where(known & (lower + rest <= 1.0), beyond, 0.0).sum(axis=1)
        return np.where(np.logical_or.reduceat(left, own_starts), total, np.inf)


@dataclass(frozen=True, eq=False)
class JoinLimits:
    """Constraints on joined boxes: vigilance of unions, number of boxes, and one class per box or several."""

    vigilance: float
    max_nodes: int | None
    one_to_one: bool


def joined_networks(
    networks: Sequence[Network], codes: Sequence[IntArray], n_classes: int, encoder: Encoder, limits: JoinLimits
) -> tuple[Network, list[MergedSource], BoxesApart]:
    """Return one network with the boxes of several, the joined box of each box, and the boxes before joining.

    Every box of the result contains the boxes joined into it; supports and counts are added. The order of joining
    depends only on the boxes: larger supports first. `codes` map each network's class codes to the `n_classes` new
    codes.
    """
    recoded = [recode_boxes(one.encoder, *one.nodes.boxes(), one.nodes.met, encoder) for one in networks]
    lower, upper, met = (np.concatenate(parts) for parts in zip(*recoded, strict=True))
    weights = np.concatenate([lower, 1.0 - upper], axis=1)
    support = np.concatenate([one.nodes.support for one in networks])
    counts = np.concatenate([_recoded(one.nodes, own, n_classes) for one, own in zip(networks, codes, strict=True)])
    order = canonical_order(support, weights, counts, met)
    together = {"weights": weights[order], "support": support[order], "met": met[order].view(np.uint8)}
    numbers = _numbers([one.nodes for one in networks])
    draft = NetworkBoxes.from_state({**together, "counts": counts[order], **numbers}).draft()
    into = _join(draft, limits)
    joined = Network(encoder, draft.published())
    places = np.argsort(order)
    extents = np.maximum(0.0, upper - lower).sum(axis=1)
    ends = np.cumsum([one.nodes.n_nodes for one in networks])[:-1]
    sources = [
        MergedSource(one, into[own], own_extents, stretch_of(one.encoder, encoder))
        for one, own, own_extents in zip(networks, np.split(places, ends), np.split(extents, ends), strict=True)
    ]
    source = np.repeat(np.arange(len(networks)), [one.nodes.n_nodes for one in networks])
    return joined, sources, BoxesApart(weights[order], source[order], into)


def _recoded(boxes: NetworkBoxes, codes: IntArray, n_classes: int) -> CountArray:
    known = boxes.counts
    counts = np.zeros((boxes.n_nodes, n_classes), dtype=known.dtype)
    counts[:, codes] = known[:, : len(codes)]
    return counts


def canonical_order(*arrays: CountArray | BoolArray) -> IntArray:
    """Return an order of rows of numbers from 0 up by content alone: the first array descending, others ascending."""
    columns = []
    for place, array in enumerate(arrays):
        # the bits of numbers from 0 up are in the order of the numbers
        numbers = np.ascontiguousarray(array.reshape(len(array), -1), dtype=np.float64) + 0.0
        bits = numbers.view(np.uint64)
        columns.append(~bits if place == 0 else bits)
    rows = np.concatenate(columns, axis=1).astype(">u8")  # big-endian bytes sort like the numbers
    return np.argsort(rows.view(f"S{rows.shape[1] * rows.itemsize}")[:, 0], kind="stable")


def _numbers(networks: Sequence[NetworkBoxes]) -> dict[str, Any]:
    """Return the combined counts of several networks, and their lowest vigilance."""
    numbers: dict[str, Any] = {
        "n_nodes_stage1": sum(one.n_nodes_stage1 for one in networks),
        "vigilance": np.array([min(one.vigilance for one in networks)]),
    }
    if all(one.n_learnt is None for one in networks):
        return numbers
    learnt = [one.n_samples for one in networks]
    return {**numbers, "n_learnt": sum(learnt)}


def _join(boxes: BoxDraft, limits: JoinLimits) -> IntArray:
    """Join boxes; return the index of the joined box of each box."""
    n_stage1, weights, keys = boxes.n_nodes_stage1, boxes.weights, None
    if limits.one_to_one:
        keys = boxes.labels
        joined = join_apart(weights, keys, limits.vigilance)
    else:
        joined = join_boxes(weights, vigilance=limits.vigilance)
    if limits.max_nodes is not None and len(joined.weights) > limits.max_nodes:
        joined = join_boxes(weights, keys, vigilance=limits.vigilance, max_boxes=limits.max_nodes)
        if len(joined.weights) > limits.max_nodes:
            raise ValueError(
                f"max_nodes={limits.max_nodes} is too low for the models together: with one-to-one mapping a box "
                f"serves one class, and they have {boxes.n_classes}. Fit models with a higher max_nodes, or with None."
            )
    boxes.join(joined)
    boxes.n_nodes_stage1 = n_stage1 if boxes.n_learnt is not None else min(n_stage1, boxes.n_nodes)
    return joined.into


def stretch_of(encoder: Encoder, joined: Encoder) -> float:
    """Return the mean length of the ranges of varying numeric features, in units of the joined encoder."""
    places = {feature: place for place, feature in enumerate(joined.features)}
    varying = np.flatnonzero(encoder.lower < encoder.upper).tolist()
    own = [place for place in varying if encoder.features[place].category is None]
    if not own:
        return 1.0
    new = np.array([places[encoder.features[place]] for place in own])
    ends = coded_parts(joined, np.array([encoder.lower[own], encoder.upper[own]]), new)
    return float((ends[1] - ends[0]).mean())


STEP = 0.1
AT_ONCE = 2**20  # comparisons of two boxes in one feature


def join_apart(weights: FloatArray, labels: IntArray, vigilance: float) -> Joined:
    """Join boxes of the same class (-1: no class, joins any) down to a vigilance, without overlap between classes.

    At a low vigilance the union of two boxes of a class may overlap those of others. Learning prevents that by match
    tracking. Here boxes are joined at decreasing vigilances, and a union that is larger than each of its boxes is
    undone if it overlaps a box of another class.
    """
    into = np.arange(len(weights))
    barred = np.zeros(len(weights), dtype=bool)
    for level in (*np.arange(1.0 - STEP, vigilance, -STEP).tolist(), vigilance):
        of_its_own = labels.max(initial=0) + 1 + np.arange(len(labels))
        joined = join_boxes(weights, np.where(barred, of_its_own, labels), vigilance=level)
        union_labels = np.full(len(joined.weights), UNLABELLED)
        np.maximum.at(union_labels, joined.into, labels)
        is_refused = _meets_others(weights, labels, joined, union_labels)[joined.into]
        first = np.unique(joined.into, return_index=True)[1]
        kept, renamed = np.unique(np.where(is_refused, np.arange(len(labels)), first[joined.into]), return_inverse=True)
        whole, unions = is_refused[kept], joined.into[kept]
        weights = np.where(whole[:, None], weights[kept], joined.weights[unions])
        labels = np.where(whole, labels[kept], union_labels[unions])
        barred, into = whole | barred[kept], renamed[into]
    return Joined(into, weights, vigilance)


def _meets_others(weights: FloatArray, labels: IntArray, joined: Joined, union_labels: IntArray) -> BoolArray:
    """Return a mask of unions that are larger than each of their boxes and overlap a box of another class."""
    sizes = np.bincount(joined.into, minlength=len(joined.weights))
    unions = np.flatnonzero((sizes > 1) & (union_labels != UNLABELLED))
    found = np.zeros(len(joined.weights), dtype=bool)
    classes = np.flatnonzero(labels != UNLABELLED)
    at, other = _pairs_that_meet(joined.weights[unions], weights[classes])
    found[unions[at[union_labels[unions[at]] != labels[classes[other]]]]] = True
    grown = np.zeros(len(joined.weights), dtype=bool)
    grown[joined.into] = True
    grown[joined.into[(joined.weights[joined.into] == weights).all(axis=1)]] = False
    return found & grown


def _pairs_that_meet(some: FloatArray, others: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of boxes, one of each set, that overlap in every feature that both have."""
    n_features = some.shape[1] // 2
    rows, columns = [], []
    step = max(1, AT_ONCE // max(len(others), 1))
    for start in range(0, len(some), step):
        own = some[start : start + step]
        at, other = np.divmod(np.arange(len(own) * len(others)), max(len(others), 1))
        for feature in range(n_features):
            lower, upper = own[at, feature], 1.0 - own[at, n_features + feature]
            other_lower, other_upper = others[other, feature], 1.0 - others[other, n_features + feature]
            not_reached = (lower > upper) | (other_lower > other_upper)
            meets = not_reached | ((lower <= other_upper) & (other_lower <= upper))
            at, other = at[meets], other[meets]
        rows.append(start + at)
        columns.append(other)
    none = np.empty(0, dtype=np.int64)
    return np.concatenate([none, *rows]), np.concatenate([none, *columns])
