"""The boxes of one network: learning parameters and results, immutable versions, drafts that learn, box merging."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sslart._art.backend import backend
from sslart._data.encoder import Encoder, recode_boxes
from sslart._data.labels import UNLABELLED
from sslart._data.ranks import GRID
from sslart._data.samples import is_all
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart._utils.resources import stop_flag
from sslart._utils.stopping import StoppedError
from sslart._utils.validation import MAX_COUNT, check_flag, check_number, check_whole, require, saved_array, saved_whole

NO_LIMIT = 0
CELL_SIZE = 128  # boxes that are compared pairwise: the cost of joining grows with boxes times cell size
FREE = 8  # joining frees 1/8 of `max_nodes`, so that it is not repeated at every new box
ROUNDING = 1e-6  # counts and supports decay separately: rounding may let a count exceed the support by this


@dataclass(frozen=True)
class LearningParams:
    """Parameters of learning: ρ, α, β, δ, one-to-one mapping, half-life, and the maximum number of boxes."""

    vigilance: float
    choice: float
    learning_rate: float
    match_tracking: float = 0.0
    one_to_one: bool = False
    half_life: float | None = None
    max_nodes: int | None = None

    def to_state(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> LearningParams:
        """Restore the parameters from a saved state after validating it."""
        owner, half_life = "a saved model", state["half_life"]
        return cls(
            check_number(owner, "vigilance", state["vigilance"], 0, 1),
            check_number(owner, "choice", state["choice"], 0, open_low=True),
            check_number(owner, "learning_rate", state["learning_rate"], 0, 1, open_low=True),
            check_number(owner, "match_tracking", state["match_tracking"], 0),
            check_flag(owner, "one_to_one", state["one_to_one"]),
            None if half_life is None else check_number(owner, "half_life", half_life, 1),
            check_whole(owner, "max_nodes", state["max_nodes"], 2, or_none=True),
        )

    def lowered_to(self, vigilance: float) -> LearningParams:
        """Return the parameters with the vigilance capped at `vigilance`."""
        return self if vigilance >= self.vigilance else replace(self, vigilance=vigilance)


@dataclass(frozen=True)
class Fits:
    """Fits of samples to a network, measured before the network learnt them.

    Attributes
    ----------
    boxes : array
        The box of highest choice; -1 where not measured or there was no box, -2 where the box has been dropped since.
    familiarity : array
        As `Network.familiarity` returns it.
    extents : array
        The sum of the side lengths of that box, in the unit cube.
    """

    boxes: IntArray
    familiarity: FloatArray
    extents: FloatArray

    @classmethod
    def none(cls, n_samples: int) -> Fits:
        """Return placeholder fits for `n_samples` samples that have not been measured yet."""
        return cls(np.full(n_samples, -1), np.zeros(n_samples), np.zeros(n_samples))

    @classmethod
    def joined(cls, parts: Sequence[Fits]) -> Fits:
        """Return the fits of several parts, one after the other."""
        return cls(*(np.concatenate([getattr(one, field.name) for one in parts]) for field in fields(cls)))

    def of(self, rows: slice | IntArray) -> Fits:
        """Return the fits of the given samples."""
        return self if not len(self.boxes) else Fits(self.boxes[rows], self.familiarity[rows], self.extents[rows])

    def renamed(self, into: IntArray | None) -> Fits:
        """Return the fits with box indices updated after boxes have been dropped or joined: see `renamed`."""
        return self if into is None else Fits(renamed(self.boxes, into, DROPPED), self.familiarity, self.extents)

    def arguments(self, wanted: Any) -> dict[str, Any]:
        """Return the keyword arguments by which a backend measures the fits of the `wanted` samples."""
        if wanted is None:
            return {}
        return {
            "fit_wanted": wanted,
            "fit_nodes": self.boxes,
            "fit_familiarity": self.familiarity,
            "fit_extents": self.extents,
        }


NO_FITS = Fits.none(0)
NOT_MEASURED = np.empty(0)


@dataclass(frozen=True)
class LearnResult:
    """Per-sample results of a call that learns.

    Attributes
    ----------
    nodes : array
        Current index of the box that learnt each sample; -1 where it has been dropped since.
    predicted : array
        The class code predicted before learning, -1 for none; empty if predictions were not requested.
    fits : Fits
    gaps : array
        Mean distance per feature, in the unit cube, to the first box that passes vigilance; NaN if none did. Empty if
        not measured.
    into : array or None
        Current index of each previous box, -1 where it was dropped; None if no index has changed.
    """

    nodes: IntArray
    predicted: IntArray
    fits: Fits
    gaps: FloatArray = field(default_factory=lambda: NOT_MEASURED)
    into: IntArray | None = None

    def of(self, rows: slice | IntArray) -> LearnResult:
        """Return the results of the given rows."""
        if is_all(rows, len(self.nodes)):
            return self
        predicted = self.predicted[rows] if len(self.predicted) else self.predicted
        gaps = self.gaps[rows] if len(self.gaps) else self.gaps
        return LearnResult(self.nodes[rows], predicted, self.fits.of(rows), gaps, self.into)

    def renamed(self, into: IntArray | None) -> LearnResult:
        """Return the results with box indices updated after boxes have been dropped or joined: see `renamed`."""
        if into is None:
            return self
        nodes, fits, both_into = renamed(self.nodes, into), self.fits.renamed(into), both(self.into, into)
        return LearnResult(nodes, self.predicted, fits, self.gaps, both_into)

    def rename(self, into: IntArray) -> None:
        """Update the box indices in place, after boxes have been joined while samples are being learnt."""
        self.nodes[:] = renamed(self.nodes, into)
        self.fits.boxes[:] = renamed(self.fits.boxes, into)

    def n_made_unlabelled(self, targets: IntArray, n_nodes_before: int) -> int:
        """Count the boxes created by unlabelled samples."""
        known_before = np.maximum.accumulate(np.concatenate([[n_nodes_before - 1], self.nodes]))[:-1]
        return int(((self.nodes > known_before) & (targets == UNLABELLED)).sum())

    @classmethod
    def joined(cls, parts: Sequence[LearnResult]) -> LearnResult:
        """Concatenate the results of consecutive batches, with box indices brought up to date."""
        if len(parts) == 1:
            return parts[0]
        into, renamed_parts = None, []
        for part in reversed(parts):
            renamed_parts.append(part.renamed(into))
            into = both(part.into, into)
        parts = renamed_parts[::-1]
        nodes, predicted, gaps = (
            np.concatenate([getattr(one, name) for one in parts]) for name in ("nodes", "predicted", "gaps")
        )
        return cls(nodes, predicted, Fits.joined([one.fits for one in parts]), gaps, into)


def as_flags(wanted: BoolArray | None, rows: slice) -> Any:
    """Return the `wanted` flags of the given rows as the bytes that a backend takes, or None if `wanted` is None."""
    return None if wanted is None else np.ascontiguousarray(wanted[rows]).view(np.uint8)


PERIODS = 16  # decays per half-life: a decay touches all boxes, so that it is not done after every sample
LEAST_SUPPORT = 1 / 16  # boxes with less are dropped: a box of one sample, after four half-lives


@dataclass(frozen=True)
class Fading:
    """Exponential decay of supports and counts with a half-life in samples (at least 1), applied once per period."""

    half_life: float

    @property
    def period(self) -> int:
        """Number of samples between two decays."""
        return max(1, round(min(self.half_life / PERIODS, MAX_COUNT)))

    @property
    def factor(self) -> float:
        """Factor by which supports and counts are multiplied at each decay."""
        return math.exp2(-self.period / self.half_life)

    def is_due(self, n_before: int, n_samples: int) -> bool:
        """Return True if a decay is due within the next `n_samples` samples, after `n_before` earlier ones."""
        return n_before // self.period < (n_before + n_samples) // self.period


def pieces(rows: slice, fading: Fading | None, n_before: int | None) -> Iterator[tuple[slice, bool]]:
    """Split rows at the decays of supports and counts; yield each piece, and True if a decay follows it.

    `n_before` is the number of samples learnt before, read once at the start; None: no decay.
    """
    if fading is None or n_before is None:
        yield rows, False
        return
    start, n_until = rows.start, fading.period - n_before % fading.period
    while rows.stop - start >= n_until:
        yield slice(start, start + n_until), True
        start, n_until = start + n_until, fading.period
    if start < rows.stop:
        yield slice(start, rows.stop), False


NO_BOX = -1  # index of a dropped box
DROPPED = -2  # index of a dropped box in `Fits`, where -1 means that the sample was not measured


def renamed(boxes: IntArray, into: IntArray | None, dropped: int = NO_BOX) -> IntArray:
    """Map old box indices to new ones; negative indices are unchanged.

    `into` has the new index of each old box, -1 where it was dropped, for which `dropped` is returned. None: no change.
    """
    if into is None:
        return boxes
    after = into[np.maximum(boxes, 0)]
    after[after == NO_BOX] = dropped
    return np.where(boxes < 0, boxes, after)


def both(first: IntArray | None, second: IntArray | None) -> IntArray | None:
    """Compose two maps of box indices."""
    if first is None or second is None:
        return second if first is None else first
    return renamed(first, second)


class NetworkBoxes:
    """The boxes of one network in order of creation. Immutable; versions share unchanged boxes.

    Parameters
    ----------
    boxes : Boxes
        Of the backend.
    n_nodes_stage1 : int
        Number of boxes created by unlabelled samples, including dropped ones; after joins, the number of boxes that
        contain one of these.
    n_learnt : int or None
        Number of samples learnt, if supports and counts decay, since they are fractions then; None if they do not.
    vigilance : float
        The highest vigilance that all joined boxes satisfy: nothing is learnt with a higher one. 1 if no boxes have
        been joined.
    """

    def __init__(
        self, boxes: Any, n_nodes_stage1: int = 0, n_learnt: int | None = None, vigilance: float = 1.0
    ) -> None:
        self.backend_boxes = boxes
        self.n_nodes_stage1, self.n_learnt, self.vigilance = n_nodes_stage1, n_learnt, vigilance

    @classmethod
    def none(cls, n_features: int, n_constant: int = 0) -> NetworkBoxes:
        """Return an empty set of boxes."""
        boxes = backend().Boxes(n_features, 0, n_constant)
        boxes.publish()
        return cls(boxes)

    @property
    def n_nodes(self) -> int:
        """Number of boxes."""
        return int(self.backend_boxes.n_boxes)

    @property
    def n_features(self) -> int:
        """Number of coded features."""
        return int(self.backend_boxes.n_features)

    @property
    def n_classes(self) -> int:
        """Number of classes learnt so far."""
        return int(self.backend_boxes.n_classes)

    @property
    def n_constant(self) -> int:
        """Number of features that have been constant so far."""
        return int(self.backend_boxes.n_constant)

    @property
    def n_samples(self) -> int:
        """Number of samples learnt so far, including those of dropped boxes."""
        return int(self.support.sum()) if self.n_learnt is None else self.n_learnt

    @property
    def weights(self) -> FloatArray:
        """W = (u, 1 - v) of each box [u, v] in the unit cube, as a copy; (1, 1) in features without a value yet."""
        return self.weights_of(None)

    def weights_of(self, boxes: IntArray | None) -> FloatArray:
        """Return the weights of some boxes."""
        return self._read("weights", boxes, np.float64, 2 * self.n_features)

    @property
    def norms(self) -> FloatArray:
        """The sum |W| of each box's weights."""
        return self._read("norms", None, np.float64)

    @property
    def support(self) -> CountArray:
        """Number of samples learnt by each box, labelled or not; a fraction where supports fade."""
        return self.support_of(None)

    def support_of(self, boxes: IntArray | None) -> CountArray:
        """Return the support of some boxes."""
        return self._as_counts(self._read("support", boxes, np.float64))

    @property
    def counts(self) -> CountArray:
        """Number of labelled samples of each class learnt by each box, classes in the order of first appearance."""
        return self.counts_of(None)

    def counts_of(self, boxes: IntArray | None) -> CountArray:
        """Return the counts of some boxes, shape (n_boxes, n_classes)."""
        return self._as_counts(self._read("counts", boxes, np.float64, self.n_classes))

    @property
    def labels(self) -> IntArray:
        """Majority class of each box, the one seen first on ties; -1 without labels."""
        return self.labels_of(None)

    def labels_of(self, boxes: IntArray | None) -> IntArray:
        """Return the majority class of the given boxes."""
        return self._read("labels", boxes, np.int64)

    @property
    def met(self) -> BoolArray:
        """Mask of constant features: True where a box has learnt a sample with a value of the feature."""
        return self.met_of(None)

    def met_of(self, boxes: IntArray | None) -> BoolArray:
        """Return `met` for the given boxes."""
        return self._read("met", boxes, np.uint8, self.n_constant).view(bool)

    def _read(self, name: str, boxes: IntArray | None, dtype: Any, *columns: int) -> NDArray[Any]:
        if boxes is not None:
            boxes = np.ascontiguousarray(boxes, dtype=np.int64)
        array = np.empty((self.n_nodes if boxes is None else len(boxes), *columns), dtype=dtype)
        self.backend_boxes.read(boxes, **{name: array})
        return array

    def _as_counts(self, values: FloatArray) -> CountArray:
        return values.astype(np.int64) if self.n_learnt is None else values

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper corners in the unit cube; lower > upper in features without a value yet."""
        weights = self.weights
        return weights[:, : self.n_features], 1.0 - weights[:, self.n_features :]

    def extents(self, boxes: IntArray) -> FloatArray:
        """Return the sum of the side lengths of boxes in the unit cube; features without a value add nothing."""
        weights, n_features = self.weights_of(boxes), self.n_features
        return np.asarray(np.maximum(0.0, 1.0 - weights[:, :n_features] - weights[:, n_features:]).sum(axis=1))

    def draft(self) -> BoxDraft:
        """Return a draft that starts from these boxes and can learn; these boxes do not change."""
        boxes, wanted = self.backend_boxes, backend()
        if type(boxes).__module__ == wanted.__name__:
            boxes = boxes.draft()
        else:  # another backend has been chosen since
            boxes = boxes_of(self.weights, self.support, self.counts, self.met)
        return BoxDraft(boxes, self.n_nodes_stage1, self.n_learnt, self.vigilance)

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: weights, supports, and counts."""
        return {
            "weights": self.weights,
            "support": self.support,
            "counts": self.counts,
            "n_nodes_stage1": self.n_nodes_stage1,
            **({} if self.n_learnt is None else {"n_learnt": self.n_learnt}),
            **({} if self.vigilance == 1 else {"vigilance": np.array([self.vigilance])}),
            **({"met": self.met.view(np.uint8)} if self.n_constant else {}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> NetworkBoxes:
        """Restore the boxes from a saved state after validating it."""
        weights = saved_array(state, "weights", np.float64, None, None, low=0, high=1)
        n_learnt = saved_whole(state, "n_learnt", 1, MAX_COUNT) if "n_learnt" in state else None
        fades = n_learnt is not None
        kind, least = (np.float64, LEAST_SUPPORT) if fades else (np.int64, 1)
        support: CountArray = saved_array(state, "support", kind, len(weights), low=least, high=MAX_COUNT)
        counts: CountArray = saved_array(state, "counts", kind, len(weights), None, low=0, high=MAX_COUNT)
        stage1 = saved_whole(state, "n_nodes_stage1", 0, MAX_COUNT if fades else len(weights))
        require(weights.shape[1] and weights.shape[1] % 2 == 0 and (weights * GRID % 1 == 0).all(), "the weights")
        lower, rest = np.hsplit(weights, 2)
        require(((lower + rest <= 1) | ((lower == 1) & (rest == 1))).all(), "the weights")
        require(support.sum(dtype=np.float64) <= MAX_COUNT, "the supports")
        most = support * (1 + ROUNDING) if fades else support
        require((counts.sum(axis=1, dtype=np.float64) <= most).all(), "the counts")
        unmet = np.empty((len(weights), 0), dtype=np.uint8)
        met = saved_array(state, "met", np.uint8, len(weights), None, low=0, high=1, missing=unmet)
        vigilance = saved_array(state, "vigilance", np.float64, 1, low=0, high=1, missing=np.ones(1)).item()
        return BoxDraft(boxes_of(weights, support, counts, met), stage1, n_learnt, vigilance).published()

    def __getstate__(self) -> dict[str, Any]:
        return self.to_state()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(vars(self.from_state(state)))


class BoxDraft(NetworkBoxes):
    """A mutable draft of boxes, owned by one learner until it is published."""

    def published(self) -> NetworkBoxes:
        """Return the boxes as an immutable version."""
        self.backend_boxes.publish()
        return NetworkBoxes(self.backend_boxes, self.n_nodes_stage1, self.n_learnt, self.vigilance)

    def add_classes(self, n_classes: int) -> None:
        """Add columns for the counts of further classes."""
        if n_classes > self.n_classes:
            self.backend_boxes.add_classes(n_classes)

    def recode(self, encoder: Encoder, wider: Encoder) -> None:
        """Express every box in a wider encoder; each box still covers its region in the user's units."""
        lower, upper, met = recode_boxes(encoder, *self.boxes(), self.met, wider)
        self.backend_boxes = boxes_of(np.hstack([lower, 1.0 - upper]), self.support, self.counts, met)

    def learn(
        self,
        samples: FloatArray,
        targets: IntArray,
        params: LearningParams,
        learnt: LearnResult,
        *,
        predict_depth: int | None,
        predict_by_first: bool,
        measured: Any,
        stop: Any,
    ) -> IntArray | None:
        """Learn coded samples in order and write results into `learnt`; return new box indices if boxes were joined."""
        into, n_learnt, limit = None, 0, params.max_nodes
        while True:
            n_before, first = self.n_nodes, n_learnt
            if limit is None or n_before <= limit:
                n_learnt = self.backend_boxes.learn(
                    first,
                    vigilance=min(params.vigilance, self.vigilance),
                    choice=params.choice,
                    learning_rate=params.learning_rate,
                    match_tracking=params.match_tracking,
                    one_to_one=params.one_to_one,
                    samples=samples,
                    targets=targets,
                    winners=learnt.nodes,
                    predicted=None if predict_depth is None else learnt.predicted,
                    search_depth=predict_depth or NO_LIMIT,
                    predict_by_first=predict_by_first,
                    gaps=learnt.gaps,
                    **learnt.fits.arguments(measured),
                    max_boxes=limit,
                    stop=stop,
                )
            if self.n_nodes > n_before:
                rows = slice(first, n_learnt)
                self.n_nodes_stage1 += learnt.of(rows).n_made_unlabelled(targets[rows], n_before)
            if n_learnt == len(samples):
                break
            if stop[0]:
                raise StoppedError
            into = both(into, self.make_room(params, learnt, stop))
        self.count(len(samples))
        return into

    def make_room(self, params: LearningParams, learnt: LearnResult, stop: Any) -> IntArray:
        """Join boxes until an eighth of `max_nodes` is free, and return the new index of each old box.

        With one-to-one mapping, only boxes of the same class are joined.
        """
        limit = params.max_nodes or 0
        joined = join_boxes(
            self.weights,
            self.labels if params.one_to_one else None,
            vigilance=min(params.vigilance, self.vigilance),
            max_boxes=limit - max(1, limit // FREE),
            stop=stop,
        )
        if len(joined.weights) >= limit:
            raise ValueError(
                f"max_nodes={limit} is too low: with one-to-one mapping a box serves one class, so that each of the "
                f"{len(set(self.labels.tolist()) - {-1})} classes needs a box of its own, and a new sample needs room "
                f"for one more. Set max_nodes to at least {len(joined.weights) + 1}, or to None for no limit."
            )
        self.join(joined)
        learnt.rename(joined.into)
        return joined.into

    def join(self, joined: Joined) -> None:
        """Replace boxes by their unions; supports and counts add up."""
        order = np.argsort(joined.into, kind="stable")
        starts = np.flatnonzero(np.diff(joined.into[order], prepend=-1))
        support, counts, met = (
            add.reduceat(rows[order], starts)
            for rows, add in ((self.support, np.add), (self.counts, np.add), (self.met, np.logical_or))
        )
        self.backend_boxes = boxes_of(joined.weights, support, counts, met)
        self.n_nodes_stage1 = int(joined.into[: self.n_nodes_stage1].max(initial=-1)) + 1
        self.vigilance = min(self.vigilance, joined.vigilance)

    def count(self, n_samples: int) -> None:
        """Add `n_samples` to the number of learnt samples, if supports decay."""
        if self.n_learnt is not None:
            self.n_learnt += n_samples

    def add_empty(self) -> int:
        """Add an empty box and return its index; the caller counts a sample for it."""
        return int(self.backend_boxes.add())

    def meet(self, winners: IntArray, values: BoolArray) -> None:
        """Record which constant features have values in samples, given the box that learnt each sample."""
        self.backend_boxes.meet(np.ascontiguousarray(winners), np.ascontiguousarray(values).view(np.uint8))

    def start_to_fade(self) -> None:
        """Start to count samples, so that supports and counts can decay."""
        if self.n_learnt is None:
            self.n_learnt = self.n_samples

    def fade(self, factor: float) -> IntArray | None:
        """Decay supports and counts, and drop boxes of too little support; return new indices if any were dropped."""
        if self.backend_boxes.fade(factor) >= LEAST_SUPPORT:
            return None
        kept = self.support >= LEAST_SUPPORT
        rows = np.flatnonzero(kept)
        parts = (self.weights_of(rows), self.support_of(rows), self.counts_of(rows), self.met_of(rows))
        self.backend_boxes = boxes_of(*parts)
        return np.where(kept, np.cumsum(kept) - 1, NO_BOX)


def boxes_of(weights: FloatArray, support: CountArray, counts: CountArray, met: Any) -> Any:
    """Return a draft of boxes of the backend, given as arrays."""
    return backend().Boxes.of(
        np.ascontiguousarray(weights),
        np.ascontiguousarray(support, dtype=np.float64),
        np.ascontiguousarray(counts, dtype=np.float64),
        np.ascontiguousarray(met).view(np.uint8),
    )


def runs(flags: BoolArray) -> Iterator[tuple[slice, bool]]:
    """Yield the runs of equal flags, in order: the slice of each run, and its flag."""
    starts = [0, *(np.flatnonzero(np.diff(flags)) + 1).tolist()]
    for start, stop in zip(starts, [*starts[1:], len(flags)], strict=True):
        yield slice(start, stop), bool(flags[start])


class Joined(NamedTuple):
    """Boxes after some of them have been joined.

    `into` has the new index of each old box; new boxes are in the order of their first part. `vigilance` is the match
    that every union reaches: the given vigilance, or the lowest that was needed.
    """

    into: IntArray
    weights: FloatArray
    vigilance: float


def join_boxes(
    weights: FloatArray,
    keys: IntArray | None = None,
    *,
    vigilance: float,
    max_boxes: int | None = None,
    cell_size: int = CELL_SIZE,
    stop: Any = None,
) -> Joined:
    """Join boxes with their nearest neighbours.

    The union of two boxes is the smallest box that contains both: the elementwise minimum of their weights. Its match
    is 1 - extent / n_sides, with the sum of its side lengths and the number of features in which it has a value: the
    match of a sample that makes a box as large. Boxes are joined in rounds. In a round each box finds the partner with
    which its union has the highest match, the first on ties. These pairs are joined in the order of their match, then
    of their boxes, unless a box of the pair has been joined in this round already.

    Without `max_boxes`, only unions whose match reaches the vigilance are made, until there is none. With it, unions
    are made until so few boxes are left: in each round those that reach the vigilance, and the better half of the pairs
    in any case, by which the vigilance is lowered. More boxes are left only where the keys allow no fewer.

    Partners are searched within cells, as in a k-d tree: boxes are split in two by their centres in the feature of
    largest spread, then each part again. The split positions alternate between rounds.

    Parameters
    ----------
    weights : array of shape (n_boxes, 2 * n_features)
        W = (u, 1 - v) of the boxes [u, v] on the grid; (1, 1) on a side not reached yet.
    keys : array of int of length n_boxes, or None
        Only boxes with equal keys are joined; -1 equals any key. None: any boxes may be joined.
    vigilance : float
    max_boxes : int or None
        At least 1.
    cell_size : int
        The most boxes in a cell. It grows where that is needed to reach `max_boxes`.
    stop : array of one uint8, or None
        A flag by which another thread can stop the work.
    """
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    keys = np.full(len(weights), UNLABELLED) if keys is None else np.ascontiguousarray(keys, dtype=np.int64)
    stop = stop_flag() if stop is None else stop
    into, joined, needed = np.empty(len(weights), dtype=np.int64), np.empty_like(weights), np.array([vigilance])
    n_joined = backend().join(
        weights,
        keys,
        into,
        joined,
        needed,
        max_boxes=NO_LIMIT if max_boxes is None else max_boxes,
        cell_size=cell_size,
        stop=stop,
    )
    if stop[0]:
        raise StoppedError
    return Joined(into, joined[:n_joined].copy(), float(needed[0]))
