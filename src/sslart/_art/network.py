"""One network: an encoder and its boxes, which learn tables of samples and rank boxes for samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sslart._art.backend import backend, encode, row_factors
from sslart._art.boxes import (
    NO_FITS,
    BoxDraft,
    Fading,
    Fits,
    LearningParams,
    LearnResult,
    NetworkBoxes,
    as_flags,
    both,
    pieces,
    renamed,
    runs,
)
from sslart._art.geometry import SIZE_SHARE
from sslart._data.encoder import Encoder
from sslart._data.labels import UNLABELLED
from sslart._data.ranks import GRID
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import Cache
from sslart._utils.resources import n_threads, stop_flag
from sslart._utils.validation import require

Made = TypeVar("Made")


class RowLearnt(NamedTuple):
    """Result of learning one row: the new network; `fit` is the best box, the familiarity and the extent, or None."""

    network: Network
    node: int
    predicted: int
    gap: float
    key: int
    fit: tuple[int, float, float] | None


class Coded(NamedTuple):
    """Samples by coded feature, in the user's units and in the unit cube, and a flag for values out of range."""

    table: Table
    matrix: FloatArray
    values: FloatArray
    is_beyond: bool


MAX_CELLS = 2**22  # coded at once, so that intermediate arrays take tens of megabytes at most


class Network:
    """An encoder and the boxes learnt in its unit cube. Immutable: learning returns a new network."""

    def __init__(self, encoder: Encoder, nodes: NetworkBoxes | None = None) -> None:
        self.encoder = encoder
        self.nodes = NetworkBoxes.none(len(encoder.features), len(encoder.constant)) if nodes is None else nodes
        self._made = Cache()

    def get_or_compute(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return a value derived from the encoder and the boxes, computed once and cached."""
        return self._made.get_or_compute(key, make)

    def __getstate__(self) -> dict[str, Any]:
        return {"encoder": self.encoder, "nodes": self.nodes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def learned(
        self,
        table: Table,
        targets: IntArray,
        n_classes: int,
        params: LearningParams,
        *,
        predict_depth: int | None = None,
        predict_by_first: bool = False,
        measured: BoolArray | None = None,
        stop: Any = None,
    ) -> tuple[Network, LearnResult]:
        """Learn the samples of a table in order; return the new network and the result of each sample.

        Parameters
        ----------
        table : Table
        targets : array of length n_samples
            Class codes, -1 where unlabelled.
        n_classes : int
            How many class codes there are.
        params : LearningParams
        predict_depth : int or None
            Predict each labelled sample before learning it, with this search depth (0: no limit); None: no prediction.
        predict_by_first : bool
            Whether to predict by the first box that passes vigilance, if it has a label, which needs no extra search.
        measured : array of bool of length n_samples, or None
            Mask of the samples whose fit is measured before they are learnt; None: no sample.
        stop : array of one uint8, or None
            A flag by which another thread can stop the work.
        """
        encoder = self.encoder
        encoder.check(table)
        coded, widen = self._encode(table)
        widen = widen or not encoder.knows_features(table) or (bool(encoder.constant) and bool(self.empty(coded).any()))
        draft = self.nodes.draft()
        draft.add_classes(n_classes)
        predicted = np.full(len(table) if predict_depth is not None else 0, UNLABELLED)
        fits = NO_FITS if measured is None else Fits.none(len(table))
        learnt = LearnResult(np.full(len(table), -1), predicted, fits, np.full(len(table), np.nan))
        how = {"predict_depth": predict_depth, "stop": stop_flag() if stop is None else stop}
        segments = list(encoder.segments(table)) if widen else [(slice(0, len(table)), encoder)]
        fading = None if params.half_life is None else Fading(params.half_life)
        if fading is not None:
            draft.start_to_fade()
        parts: list[LearnResult] = []
        for rows, wider in segments:
            beyond_range = None
            if wider is not encoder:
                if measured is not None and measured[rows.start] and draft.n_nodes:
                    first = table[rows.start : rows.start + 1]
                    beyond_range = Network(encoder, draft)._fit(first, params.choice)
                draft.recode(encoder, wider)
                encoder = wider
            own = Network(encoder, draft)
            coded_rows = own._encode(table[rows])[0] if widen else coded
            whole = [(slice(0, len(coded_rows)), False)]
            for part, is_empty in runs(own.empty(coded_rows)) if encoder.constant else whole:
                for piece, fades in pieces(part, fading, draft.n_learnt):
                    at = slice(rows.start + piece.start, rows.start + piece.stop)
                    here = learnt.of(at)
                    if is_empty:
                        into = learn_empty(draft, targets[at], params, here, **how)
                    else:
                        into = draft.learn(
                            coded_rows[piece],
                            targets[at],
                            params,
                            here,
                            predict_by_first=predict_by_first,
                            measured=as_flags(measured, at),
                            **how,
                        )
                    if encoder.constant:
                        draft.meet(here.nodes, encoder.has_constants(table[at]))
                    if beyond_range is not None and at.start == rows.start:
                        box, fits.familiarity[at.start], fits.extents[at.start] = beyond_range
                        fits.boxes[at.start] = renamed(np.array([box]), into)[0]
                    here = here if into is None else replace(here, into=into)
                    faded = draft.fade(fading.factor) if fades and fading is not None else None
                    parts.append(here.renamed(faded))
        return Network(encoder, draft.published()), LearnResult.joined(parts)

    def row_learned(
        self,
        values: FloatArray,
        target: int,
        params: LearningParams,
        *,
        predicts: bool = False,
        measure_below: int | None = None,
    ) -> RowLearnt | None:
        """Learn one unchecked numeric row in a single call of the kernel; return the new network and the result.

        Returns None where the row needs the general path of `learned`. With `predicts`, the class of a labelled row is
        predicted first, by the first box that passes vigilance, if it has a label. The fit is measured if the key of
        the row is lower than `measure_below`; None: always.
        """
        encoder, nodes = self.encoder, self.nodes
        boxes, columns = nodes.backend_boxes, encoder.numeric_columns
        if columns is None or type(boxes).__module__ != backend().__name__:
            return None
        scaled = values if encoder.is_plain else values.take(columns.features, axis=1)
        if encoder.ranks is not None:
            if not np.isfinite(scaled).all() or (scaled < encoder.lower).any() or (scaled > encoder.upper).any():
                return None
            scaled = np.ascontiguousarray(encoder.on_scale(scaled))
        if params.max_nodes is not None and nodes.n_nodes > params.max_nodes:
            return None
        n_learnt = nodes.n_learnt
        if params.half_life is not None:
            if n_learnt is None or Fading(params.half_life).is_due(n_learnt, 1):
                return None
            n_learnt += 1
        learnt = boxes.learn_row(
            values,
            scaled,
            *encoder.ends,
            columns.constant,
            columns.constants,
            target,
            min(params.vigilance, nodes.vigilance),
            params.choice,
            params.learning_rate,
            params.match_tracking,
            params.one_to_one,
            predicts,
            True,
            params.max_nodes,
            row_factors(values.shape[1]),
            measure_below,
        )
        if learnt is None:
            return None
        after, box, predicted, gap, key, fit = learnt
        is_new = target == UNLABELLED and after.n_boxes > boxes.n_boxes
        network = Network(encoder, NetworkBoxes(after, nodes.n_nodes_stage1 + is_new, n_learnt, nodes.vigilance))
        return RowLearnt(network, box, predicted, gap, key, fit)

    def empty(self, coded: FloatArray) -> BoolArray:
        """Return a mask of samples whose only values lie in features that have been constant so far."""
        if not self.encoder.constant:
            return np.zeros(len(coded), dtype=bool)
        return np.asarray(np.isnan(coded).all(axis=1))

    def _fit(self, sample: Table, choice: float) -> tuple[int, float, float]:
        """Return the box of highest choice for one sample, the familiarity, and the sum of the box's side lengths."""
        samples = self.encode(sample)
        if np.isnan(samples).all():
            return 0, 0.0, float(self.nodes.extents(np.array([0]))[0])
        boxes, matches = self.rank_coded(samples, choice)
        nearness = self._nearness(samples, boxes[:, 0], matches[:, 0])
        familiarity = self._less_beyond(sample, self.encoder.matrix(sample), nearness)
        return int(boxes[0, 0]), float(familiarity[0]), float(self.nodes.extents(boxes[:, 0])[0])

    def encode(self, table: Table) -> FloatArray:
        """Check the columns against those learnt; return the samples in the unit cube, NaN where missing."""
        return self.encoded(table).values

    def encoded(self, table: Table) -> Coded:
        """Check the columns against those learnt; return the samples with their coded values."""
        self.encoder.check(table)
        matrix = self.encoder.matrix(table)
        return Coded(table, matrix, *encode(self.encoder, matrix))

    def _encode(self, table: Table) -> tuple[FloatArray, bool]:
        """Return the coded samples, and True if any value is out of the encoder's range."""
        n_features = len(self.encoder.features)
        if len(table) * n_features <= MAX_CELLS:
            return encode(self.encoder, self.encoder.matrix(table))
        coded, is_beyond = np.empty((len(table), n_features)), False
        step = max(MAX_CELLS // n_features, 1)
        for start in range(0, len(table), step):
            rows = slice(start, start + step)
            coded[rows], beyond = encode(self.encoder, self.encoder.matrix(table[rows]))
            is_beyond |= beyond
        return coded, is_beyond

    def rank(
        self, table: Table, choice: float, *, depth: int = 1, labelled_only: bool = False, n_jobs: int | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return the boxes of highest choice for each sample, best first, and their match.

        Parameters
        ----------
        table : Table
        choice : float
            α.
        depth : int
            T: number of boxes to return per sample.
        labelled_only : bool
            Whether to skip boxes without a label.
        n_jobs : int or None
            How many threads share the samples.

        Returns
        -------
        tuple of two arrays of shape (n_samples, depth)
            -1 where there are fewer boxes.
        """
        samples = self.encode(table)
        self.check_known_features(samples)
        return self.rank_coded(samples, choice, depth=depth, labelled_only=labelled_only, n_jobs=n_jobs)

    def rank_coded(
        self,
        samples: FloatArray,
        choice: float,
        *,
        depth: int = 1,
        labelled_only: bool = False,
        labels: IntArray | None = None,
        n_jobs: int | None = None,
    ) -> tuple[IntArray, FloatArray]:
        """Rank the boxes for coded samples: see `rank`. `labels` (-1 for none) override those of the boxes."""
        own = self.nodes
        depth = min(depth, own.n_nodes)
        nodes = np.empty((len(samples), depth), dtype=np.int64)
        matches = np.empty((len(samples), depth))
        own.backend_boxes.rank(
            choice=choice,
            labelled_only=labelled_only,
            labels=None if labels is None else np.ascontiguousarray(labels),
            samples=samples,
            nodes=nodes,
            matches=matches,
            n_threads=n_threads(n_jobs, samples.size * own.n_nodes),
            stop=stop_flag(),
        )
        for row in np.flatnonzero(self.empty(samples)) if self.encoder.constant else ():  # all boxes match alike
            is_labelled = (own.labels if labels is None else labels) != UNLABELLED
            first = np.flatnonzero(is_labelled | (not labelled_only))[:depth]
            nodes[row], matches[row] = np.pad(first, (0, depth - len(first)), constant_values=-1), 1.0
        return nodes, matches

    def check_known_features(self, samples: FloatArray) -> None:
        """Raise a ValueError if a coded sample has values only in features never seen with a value."""
        if self.encoder.knows_all_ranges:
            return
        empty = np.isnan(samples).all(axis=1)
        if empty.any():
            raise ValueError(
                f"Row {np.flatnonzero(empty)[0]} has values only in features for which the model has never seen a "
                "value: nothing can be predicted for it. Drop such rows, or let the model learn samples with these "
                "features first."
            )

    def familiarity(self, coded: Coded, choice: float, *, n_jobs: int | None = None) -> FloatArray:
        """Return 1 minus the mean distance per feature of each sample from its best box, less an eighth of its size.

        The size is the mean side length. A box lies within the learnt range, so the distance to it is that of the
        clipped sample plus the distance to the range. In a feature that was constant so far, another value counts as
        one range away.
        """
        return self._less_beyond_range(coded, self._nearness(coded.values, *self._best(coded, choice, n_jobs)))

    def best_match(self, coded: Coded, choice: float, *, n_jobs: int | None = None) -> FloatArray:
        """Return the match of each sample with its best box, minus its distance beyond the learnt range."""
        return self._less_beyond_range(coded, self._best(coded, choice, n_jobs)[1])

    def _best(self, coded: Coded, choice: float, n_jobs: int | None) -> tuple[IntArray, FloatArray]:
        self.check_known_features(coded.values)
        boxes, matches = self.rank_coded(coded.values, choice, n_jobs=n_jobs)
        return boxes[:, 0], matches[:, 0]

    def _nearness(self, samples: FloatArray, boxes: IntArray, matches: FloatArray) -> FloatArray:
        """Return the familiarity of coded samples within the learnt range, given their best boxes and matches."""
        is_missing, n_features = np.isnan(samples), samples.shape[1]
        n_present = n_features - is_missing.sum(axis=1)
        every = np.arange(self.nodes.n_nodes) if self.nodes.n_nodes < len(boxes) else None
        sizes = self.nodes.extents(boxes) if every is None else self.nodes.extents(every)[boxes]
        sizes_in_present, rows = sizes.copy(), np.flatnonzero(n_present < n_features)
        if len(rows):
            lower, rest = np.hsplit(self.nodes.weights_of(boxes[rows]), 2)
            sizes_in_present[rows] = np.where(is_missing[rows], 0.0, np.maximum(0.0, 1.0 - lower - rest)).sum(axis=1)
        shared = np.rint(matches * n_present * GRID) / GRID  # exact: samples and boxes are on this grid
        distances = (n_present - shared - sizes_in_present) / np.maximum(n_present, 1)
        return np.asarray(1.0 - distances - np.where(n_present > 0, SIZE_SHARE * sizes / max(n_features, 1), 0.0))

    def _less_beyond_range(self, coded: Coded, nearness: FloatArray) -> FloatArray:
        if not (coded.is_beyond or self.encoder.constant):
            return np.clip(nearness, 0.0, 1.0)
        return self._less_beyond(coded.table, coded.matrix, nearness)

    def _less_beyond(self, table: Table, matrix: FloatArray, nearness: FloatArray) -> FloatArray:
        """Subtract the distance of each sample beyond the learnt range."""
        encoder, familiarity = self.encoder, np.clip(nearness, 0.0, 1.0)
        n_off = encoder.n_off_constants(table)
        rows = np.flatnonzero((n_off > 0) | encoder.rows_beyond(matrix))
        if len(rows):
            beyond, n_present = encoder.beyond(table[rows])
            n_present, n_off = np.maximum(n_present, 1), n_off[rows]
            less = (nearness[rows] - beyond / n_present) * n_present / (n_present + n_off)
            familiarity[rows] = np.clip(less, 0.0, 1.0)
        return familiarity

    def with_columns(self, is_category: Sequence[bool], bounds: tuple[FloatArray, FloatArray] | None) -> Network:
        """Return the network with further columns, missing in all samples so far; `bounds`: of all columns."""
        encoder, draft = self.encoder.with_columns(is_category, bounds), self.nodes.draft()
        draft.recode(self.encoder, encoder)
        return Network(encoder, draft.published())

    def boxes_in_units(self, boxes: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the corners of some boxes in the user's units; NaN in features without a value."""
        weights, n_features = self.nodes.weights_of(boxes), self.nodes.n_features
        lower, upper = weights[:, :n_features], 1.0 - weights[:, n_features:]
        reached = lower <= upper
        return (
            np.where(reached, self.encoder.decode(lower), np.nan),
            np.where(reached, self.encoder.decode(upper), np.nan),
        )

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: plain values and arrays."""
        return {**self.encoder.to_state(), "nodes": self.nodes.to_state()}

    @classmethod
    def from_state(cls, state: dict[str, Any], n_columns: int) -> Network:
        """Restore the network from a saved state after validating it."""
        encoder = Encoder.from_state(state, n_columns)
        nodes = NetworkBoxes.from_state(state["nodes"])
        if nodes.n_features != len(encoder.features) or nodes.n_constant != len(encoder.constant):
            raise ValueError("the encoder of the model does not fit its boxes")
        lower, upper = nodes.boxes()
        reached = lower <= upper
        require(nodes.n_nodes and (reached.any(axis=1) | nodes.met.any(axis=1)).all(), "the boxes")
        require((encoder.lower <= encoder.upper)[reached.any(axis=0)].all(), "the ranges")
        return cls(encoder, nodes)


def learn_empty(
    nodes: BoxDraft,
    targets: IntArray,
    params: LearningParams,
    learnt: LearnResult,
    *,
    predict_depth: int | None,
    stop: Any,
) -> IntArray | None:
    """Learn samples without a value in any varying feature: they match all boxes equally, so the first box wins.

    Returns new box indices if boxes were joined; see `BoxDraft.learn`.
    """
    into, limit = None, params.max_nodes
    for row, target in enumerate(targets.tolist()):
        if nodes.n_nodes:
            learnt.gaps[row] = 0.0
        if predict_depth is not None:
            labels = nodes.labels[: predict_depth or None]
            learnt.predicted[row] = next((label for label in labels.tolist() if label != UNLABELLED), UNLABELLED)
        first = UNLABELLED
        if params.one_to_one and nodes.n_nodes:
            first = int(nodes.labels_of(np.zeros(1, dtype=np.int64))[0])
        is_taken = UNLABELLED not in (target, first) and first != target  # the first box is of another class alone
        needs_box = not nodes.n_nodes or is_taken
        if limit is not None and nodes.n_nodes + needs_box > limit:
            into = both(into, nodes.make_room(params, learnt, stop))
        box = nodes.add_empty() if needs_box else 0
        nodes.n_nodes_stage1 += needs_box and target == UNLABELLED
        nodes.backend_boxes.count(box, target)
        learnt.nodes[row] = box
    nodes.count(len(targets))
    return into
