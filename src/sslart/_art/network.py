"""One network: an encoder and its nodes, which learn a table of samples and are ranked for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from sslart._art.backend import backend, encode
from sslart._art.learn_result import NO_FITS, Fits, LearningParams, LearnResult, as_flags
from sslart._art.learning.empty import learn_empty
from sslart._art.learning.journal import Journal
from sslart._art.learning.kept import Kept
from sslart._art.nodes import NO_LIMIT, Nodes, runs
from sslart._art.reduction.fading import Fading, pieces
from sslart._art.reduction.limit import NoRoomError
from sslart._art.reduction.renaming import renamed
from sslart._data.encoder import Encoder
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._data.saved import require
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.changes import Changes, Reader, Readers
from sslart._utils.parallel import n_threads, stop_flag

Made = TypeVar("Made")

__all__ = ["NO_LIMIT", "LearningParams", "Network"]

MAX_IN_PLACE = 256  # samples: readers wait no longer than learning these takes


class Network:
    """An encoder and the nodes learnt in it.

    Parameters
    ----------
    encoder : Encoder
        The encoder to start with; it widens as the samples demand.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.nodes = Nodes(len(encoder.features), n_constant=len(encoder.constant))
        self.readers = Readers()
        self._made = Kept()

    def once(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return what follows from the encoder and the nodes as they are: made once, kept until they change."""
        return self._made.once(key, make)

    def __getstate__(self) -> dict[str, Any]:
        return {"encoder": self.encoder, "nodes": self.nodes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["encoder"])  # type: ignore[misc]
        self.nodes = state["nodes"]

    def learn(self, table: Table, targets: IntArray, n_classes: int, params: LearningParams, **how: Any) -> LearnResult:
        """Learn the samples of a table in their order, for a network that nobody else has: it is changed in place.

        Parameters
        ----------
        table : Table
        targets : array of length n_samples
            Class codes, -1 where unlabelled.
        n_classes : int
            How many class codes there are.
        params : LearningParams
        predict_depth : int or None
            Predict each labelled sample before learning it, with this search depth (0: no limit); None: do not.
        predict_by_first : bool
            Whether the label of the first node that passes vigilance is the prediction, where it has one: this needs
            no search of its own.
        measured : array of bool of length n_samples, or None
            The samples whose fit is measured before they are learnt; None: of none.
        stop : array of one uint8, or None
            A flag by which another thread stops the work.
        """
        return self._learn(table, self._to_learn(table), targets, n_classes, params, **how)

    def learned(
        self,
        table: Table,
        targets: IntArray,
        n_classes: int,
        params: LearningParams,
        changes: Changes | None,
        *,
        is_published: bool = True,
        **how: Any,
    ) -> tuple[Network, LearnResult]:
        """Return the network after it has learnt samples: as `learn`, also for a network that others may read.

        Few samples are learnt in place where nobody reads the network. Else a copy learns them.

        Parameters
        ----------
        changes : Changes or None
            Gets what is changed in place; None: a published network must not be changed.
        is_published : bool
            Whether others may read the network.
        """
        if not is_published:
            return self, self.learn(table, targets, n_classes, params, **how)
        samples = self._to_learn(table)
        n_nodes, reshapes = self.nodes.n_nodes, samples[1] or n_classes > self.nodes.n_classes
        too_many = params.max_nodes is not None and n_nodes > params.max_nodes
        reshapes = reshapes or too_many or self._fades(len(table), params)
        is_quick = len(table) <= MAX_IN_PLACE and len(table) < n_nodes and not reshapes
        if changes is not None and is_quick and changes.begin(self.readers):
            winners = np.full(len(table), -1)
            journal = Journal(self.nodes, winners)

            def undo() -> None:
                journal.restore()
                self._made = Kept()

            changes.on_failure(undo)
            how_in_place = {"winners": winners, "journal": journal, **how}
            try:
                return self, self._learn(table, samples, targets, n_classes, params, **how_in_place)
            except NoRoomError:
                undo()
        copy = self.copy()
        return copy, copy._learn(table, samples, targets, n_classes, params, **how)

    def held_by(self, reader: Reader) -> Network:
        """Return the same network as another object: while that lives, and the reader with it, nothing changes."""
        other = Network(self.encoder)
        vars(other).update(vars(self), held=reader)
        return other

    def copy(self) -> Network:
        """Return a copy that changes by itself."""
        other = Network(self.encoder)
        other.nodes = self.nodes.copy()
        return other

    def _to_learn(self, table: Table) -> tuple[FloatArray, bool]:
        """Return the coded samples, and whether they must be learnt in parts: the encoder widens, or one is empty."""
        self.encoder.check(table)
        coded, beyond = self._encode(table)
        return coded, beyond or not self.encoder.knows_features(table) or self._has_empty(coded)

    def _fades(self, n_samples: int, params: LearningParams) -> bool:
        """Return whether supports and counts fade, or start to, while so many samples are learnt."""
        if params.half_life is None:
            return False
        n_learnt = self.nodes.n_learnt
        return n_learnt is None or Fading(params.half_life).is_due(n_learnt, n_samples)

    def empty(self, coded: FloatArray) -> BoolArray:
        """Return which samples have values only in features that do not count, having shown one value so far."""
        if not self.encoder.constant:
            return np.zeros(len(coded), dtype=bool)
        return np.asarray(np.isnan(coded).all(axis=1))

    def _has_empty(self, coded: FloatArray) -> bool:
        return bool(self.encoder.constant) and bool(self.empty(coded).any())

    def _learn(
        self,
        table: Table,
        samples: tuple[FloatArray, bool],
        targets: IntArray,
        n_classes: int,
        params: LearningParams,
        *,
        winners: IntArray | None = None,
        journal: Journal | None = None,
        predict_depth: int | None = None,
        predict_by_first: bool = False,
        measured: BoolArray | None = None,
        stop: Any = None,
    ) -> LearnResult:
        coded, widen = samples
        segments = list(self.encoder.segments(table)) if widen else [(slice(0, len(table)), self.encoder)]
        nodes = np.full(len(table), -1) if winners is None else winners
        predicted = np.full(len(table) if predict_depth is not None else 0, UNLABELLED)
        fits = NO_FITS if measured is None else Fits.none(len(table))
        gaps = np.full(len(table), np.nan)
        self._made = Kept()
        self.nodes.add_classes(n_classes)
        fading = None if params.half_life is None else Fading(params.half_life)
        if fading is not None:
            self.nodes.start_to_fade()
        stop = stop_flag() if stop is None else stop
        parts: list[LearnResult] = []
        for rows, wider in segments:
            beyond_range = None
            if wider is not self.encoder:
                if measured is not None and measured[rows.start] and self.nodes.n_nodes:
                    beyond_range = self._fit(table[rows.start : rows.start + 1], params.choice)
                self.nodes.recode(self.encoder, wider)
                self.encoder = wider
            own = self._encode(table[rows])[0] if widen else coded
            whole = [(slice(0, len(own)), False)]
            for part, is_empty in runs(self.empty(own)) if self.encoder.constant else whole:
                for piece, fades in pieces(part, fading, self.nodes.n_learnt):
                    at = slice(rows.start + piece.start, rows.start + piece.stop)
                    learnt = LearnResult(nodes[at], predicted[at], fits.of(at), gaps[at])
                    if is_empty:
                        into = learn_empty(
                            self.nodes,
                            targets[at],
                            params,
                            learnt,
                            predict_depth=predict_depth,
                            stop=stop,
                        )
                    else:
                        into = self.nodes.learn(
                            own[piece],
                            targets[at],
                            params,
                            learnt,
                            predict_depth=predict_depth,
                            predict_by_first=predict_by_first,
                            measured=as_flags(measured, at),
                            journal=journal,
                            stop=stop,
                        )
                    if self.encoder.constant:
                        self.nodes.meet(nodes[at], self.encoder.has_constants(table[at]), journal)
                    if beyond_range is not None and at.start == rows.start:
                        box, fits.familiarity[at.start], fits.extents[at.start] = beyond_range
                        fits.boxes[at.start] = renamed(np.array([box]), into)[0]
                    learnt = learnt if into is None else replace(learnt, into=into)
                    faded = self.nodes.fade(fading.factor) if fades and fading is not None else None
                    parts.append(learnt.renamed(faded))
        self._made = Kept()
        return LearnResult.joined(parts)

    def _fit(self, sample: Table, choice: float) -> tuple[int, float, float]:
        """Return the box of highest choice for one sample, the familiarity, and the sum of the sides of the box."""
        samples = self.encode(sample)
        if np.isnan(samples).all():
            return 0, 0.0, float(self.nodes.extents(np.array([0]))[0])
        boxes, matches = self.rank_coded(samples, choice)
        familiarity = self.less_beyond(sample, matches[:, 0])
        return int(boxes[0, 0]), float(familiarity[0]), float(self.nodes.extents(boxes[:, 0])[0])

    def encode(self, table: Table) -> FloatArray:
        """Return samples in the unit cube, NaN where missing, after checking that their columns are as learnt."""
        self.encoder.check(table)
        return self._encode(table)[0]

    def _encode(self, table: Table) -> tuple[FloatArray, bool]:
        """Return the coded samples, and whether any value lies beyond the encoder."""
        return encode(self.encoder, self.encoder.matrix(table))

    def rank(
        self,
        table: Table,
        choice: float,
        *,
        depth: int = 1,
        labelled_only: bool = False,
        n_jobs: int | None = None,
    ) -> tuple[IntArray, FloatArray]:
        """Return the nodes of highest choice for each sample, best first, and their match.

        Parameters
        ----------
        table : Table
        choice : float
            α.
        depth : int
            How many nodes to name: T.
        labelled_only : bool
            Whether to pass over nodes without a label.
        n_jobs : int or None
            How many threads share the samples.

        Returns
        -------
        nodes : array of shape (n_samples, depth)
            -1 where there are no more nodes.
        matches : array of shape (n_samples, depth)
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
        """Return what `rank` does for samples that are coded already.

        `labels`, one per node, -1 for none, take the place of those of the nodes.
        """
        own = self.nodes
        own_labels = own.labels
        if labels is not None:
            own_labels = np.full_like(own_labels, UNLABELLED)
            own_labels[: len(labels)] = labels
        depth = min(depth, own.n_nodes)
        nodes = np.empty((len(samples), depth), dtype=np.int64)
        matches = np.empty((len(samples), depth))
        backend().rank(
            own.cache_of(backend()),
            own.weights,
            own.norms,
            own_labels,
            own.n_nodes,
            choice=choice,
            labelled_only=labelled_only,
            samples=samples,
            nodes=nodes,
            matches=matches,
            n_threads=n_threads(n_jobs, samples.size * own.n_nodes),
            stop=stop_flag(),
        )
        for row in np.flatnonzero(self.empty(samples)) if self.encoder.constant else ():  # every node matches alike
            first = np.flatnonzero((own_labels[: own.n_nodes] != UNLABELLED) | (not labelled_only))[:depth]
            nodes[row], matches[row] = np.pad(first, (0, depth - len(first)), constant_values=-1), 1.0
        return nodes, matches

    def check_known_features(self, samples: FloatArray) -> None:
        """Raise a ValueError where a coded sample has values only in features that the network has never met."""
        if self.encoder.knows_all_ranges:
            return
        empty = np.isnan(samples).all(axis=1)
        if empty.any():
            raise ValueError(
                f"Row {np.flatnonzero(empty)[0]} has values only in features for which the model has never seen a "
                "value: nothing can be predicted for it. Drop such rows, or let the model learn samples with these "
                "features first."
            )

    def familiarity(self, table: Table, choice: float, *, n_jobs: int | None = None) -> FloatArray:
        """Return the match of the best node of each sample, less what the sample lies beyond the range.

        A box lies within the range, so the distance to it is that of the clipped sample and the way to the range
        together. Where all samples learnt have one value of a feature, another value counts as one range away.
        """
        self.encoder.check(table)
        samples, beyond = self._encode(table)
        self.check_known_features(samples)
        matches = self.rank_coded(samples, choice, n_jobs=n_jobs)[1][:, 0]
        return self.less_beyond(table, matches) if beyond or self.encoder.constant else np.clip(matches, 0.0, 1.0)

    def less_beyond(self, table: Table, matches: FloatArray) -> FloatArray:
        """Return the familiarity of samples, given the match of their best node."""
        beyond, n_present = self.encoder.beyond(table)
        if not self.encoder.constant:
            return np.clip(matches - beyond / n_present, 0.0, 1.0)
        n_off, n_present = self.encoder.n_off_constants(table), np.maximum(n_present, 1)
        return np.clip((matches - beyond / n_present) * n_present / (n_present + n_off), 0.0, 1.0)

    def with_columns(self, is_category: Sequence[bool], bounds: tuple[FloatArray, FloatArray] | None) -> Network:
        """Return a copy with further columns, as if their values had been missing in all samples learnt so far.

        `bounds`: of all columns, new ones included.
        """
        wider = Network(self.encoder.with_columns(is_category, bounds))
        wider.nodes = self.nodes.copy()
        wider.nodes.recode(self.encoder, wider.encoder)
        return wider

    def boxes_in_units(self) -> tuple[FloatArray, FloatArray]:
        """Return the corners of the boxes in the user's units; NaN on a side that no sample has reached yet."""
        lower, upper = self.nodes.boxes()
        reached = lower <= upper
        return (
            np.where(reached, self.encoder.decode(lower), np.nan),
            np.where(reached, self.encoder.decode(upper), np.nan),
        )

    def to_state(self) -> dict[str, Any]:
        """Return what must be saved: plain values and arrays."""
        return {**self.encoder.to_state(), "nodes": self.nodes.to_state()}

    @classmethod
    def from_state(cls, state: dict[str, Any], n_columns: int) -> Network:
        """Return the network of a saved state, after checking that it can be one."""
        encoder = Encoder.from_state(state, n_columns)
        nodes = Nodes.from_state(state["nodes"])
        if nodes.n_features != len(encoder.features) or nodes.met.shape[1] != len(encoder.constant):
            raise ValueError("the encoder of the model does not fit its boxes")
        lower, upper = nodes.boxes()
        reached = lower <= upper
        require(nodes.n_nodes and (reached.any(axis=1) | nodes.met.any(axis=1)).all(), "the boxes")
        require((encoder.lower <= encoder.upper)[reached.any(axis=0)].all(), "the ranges")
        network = cls(encoder)
        network.nodes = nodes
        return network
