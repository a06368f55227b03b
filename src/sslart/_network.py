"""One network: a coding and its prototypes, which learn a table of samples and rank nodes for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from sslart._coding import Coding, Feature
from sslart._engine import engine
from sslart._prototypes import Journal, Prototypes
from sslart._validate import UNLABELLED, FloatArray, IntArray, Table

Undo = list[Callable[[], None]]

NO_LIMIT = 0
FEW_VALUES = 2**20  # compared by one thread in less time than it takes to count the cores


class StoppedError(Exception):
    """Raised in a thread whose work another thread has called off."""


@dataclass(frozen=True)
class Rule:
    """How a network learns: ρ, α, β, δ and the mapping."""

    vigilance: float
    choice: float
    learning_rate: float
    match_tracking: float = 0.0
    one_to_one: bool = False


@dataclass(frozen=True)
class Learnt:
    """What happened to each sample: the node that learnt it, and the class foreseen for it, -1 where none was."""

    nodes: IntArray
    foreseen: IntArray


class Network:
    """A coding and the prototypes learnt in it.

    Parameters
    ----------
    coding : Coding
        The coding to start with; it widens as the samples demand.
    """

    def __init__(self, coding: Coding) -> None:
        self.coding = coding
        self.prototypes = Prototypes(len(coding.features))

    def learn(
        self,
        table: Table,
        targets: IntArray,
        n_classes: int,
        rule: Rule,
        *,
        foresee_depth: int | None = None,
        undo: Undo | None = None,
        stop: Any = None,
    ) -> Learnt:
        """Learn the samples of a table in their order.

        Parameters
        ----------
        table : Table
        targets : array of length n_samples
            Class codes, -1 where unlabelled.
        n_classes : int
            How many class codes there are.
        rule : Rule
        foresee_depth : int or None
            Predict each labelled sample before learning it, with this search depth (0: no limit); None: do not.
        undo : list of callables, or None
            Gets a step that leaves the network as it was. None spares the journal where the network will be thrown
            away on failure.
        stop : array of one uint8, or None
            A flag by which another thread calls the work off.
        """
        self.coding.check(table)
        coded, beyond = self._encode(table)
        widens = beyond or not self.coding.knows_categories(table)
        stretches = list(self.coding.stretches(table)) if widens else [(slice(0, len(table)), self.coding)]
        reshapes = widens or n_classes > self.prototypes.n_classes
        journal = Journal(self.prototypes, len(table), reshapes) if undo is not None else None
        coding = self.coding
        nodes = np.full(len(table), -1)
        foreseen = np.full(len(table) if foresee_depth is not None else 0, UNLABELLED)

        def take_back() -> None:
            if journal is not None:
                journal.take_back(nodes)
                self.coding = coding

        if undo is not None:
            undo.append(take_back)
        self.prototypes.add_classes(n_classes)
        for rows, wider in stretches:
            if wider is not self.coding:
                self.prototypes.recode(self.coding, wider)
                self.coding = wider
            self._learn_stretch(
                self._encode(table[rows])[0] if widens else coded,
                targets[rows],
                rule,
                Learnt(nodes[rows], foreseen[rows]),
                foresee_depth,
                journal if journal is not None and journal.by_sample else None,
                _no_stop() if stop is None else stop,
            )
        return Learnt(nodes, foreseen)

    def _encode(self, table: Table) -> tuple[FloatArray, bool]:
        """Return the coded samples, and whether any value lies beyond the coding."""
        matrix = np.ascontiguousarray(self.coding.matrix(table))
        coded = np.empty_like(matrix)
        return coded, engine().encode(matrix, self.coding.lower, self.coding.upper, coded)

    def _learn_stretch(
        self,
        samples: FloatArray,
        targets: IntArray,
        rule: Rule,
        learnt: Learnt,
        foresee_depth: int | None,
        journal: Journal | None,
        stop: Any,
    ) -> None:
        prototypes = self.prototypes
        n_nodes_before = prototypes.n_nodes
        progress = np.array([0, n_nodes_before])
        while True:
            engine().learn(
                prototypes.cache_of(engine()),
                prototypes.weights,
                prototypes.norms,
                prototypes.support,
                prototypes.counts,
                prototypes.labels,
                progress,
                vigilance=rule.vigilance,
                choice=rule.choice,
                learning_rate=rule.learning_rate,
                match_tracking=rule.match_tracking,
                one_to_one=rule.one_to_one,
                samples=samples,
                targets=targets,
                winners=learnt.nodes,
                predicted=None if foresee_depth is None else learnt.foreseen,
                search_depth=foresee_depth or NO_LIMIT,
                journal_weights=None if journal is None else journal.weights,
                journal_support=None if journal is None else journal.support,
                journal_counts=None if journal is None else journal.counts,
                stop=stop,
            )
            prototypes.n_nodes = int(progress[1])
            if progress[0] == len(samples):
                break
            if stop[0]:
                raise StoppedError
            prototypes.grow(len(samples) - int(progress[0]))
        prototypes.n_nodes_stage1 += _n_made_unlabelled(learnt.nodes, targets, n_nodes_before)

    def rank(
        self,
        table: Table,
        choice: float,
        *,
        depth: int = 1,
        labelled_only: bool = False,
        n_jobs: int | None = None,
        stop: Any = None,
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
        stop : array of one uint8, or None
            A flag by which another thread calls the work off.

        Returns
        -------
        nodes : array of shape (n_samples, depth)
            -1 where there are no more nodes.
        matches : array of shape (n_samples, depth)
        """
        self.coding.check(table)
        samples, _ = self._encode(table)
        if not (self.coding.lower <= self.coding.upper).all():
            _refuse_unknown_features(samples)
        return self.rank_coded(samples, choice, depth=depth, labelled_only=labelled_only, n_jobs=n_jobs, stop=stop)

    def rank_coded(
        self,
        samples: FloatArray,
        choice: float,
        *,
        depth: int = 1,
        labelled_only: bool = False,
        n_jobs: int | None = None,
        stop: Any = None,
    ) -> tuple[IntArray, FloatArray]:
        """Return what `rank` does for samples that are coded already."""
        prototypes = self.prototypes
        depth = min(depth, prototypes.n_nodes)
        nodes = np.empty((len(samples), depth), dtype=np.int64)
        matches = np.empty((len(samples), depth))
        stop = _no_stop() if stop is None else stop
        engine().rank(
            prototypes.cache_of(engine()),
            prototypes.weights,
            prototypes.norms,
            prototypes.labels,
            prototypes.n_nodes,
            choice=choice,
            labelled_only=labelled_only,
            samples=samples,
            nodes=nodes,
            matches=matches,
            n_threads=1 if samples.size * prototypes.n_nodes < FEW_VALUES else effective_n_jobs(n_jobs),
            stop=stop,
        )
        if stop[0]:
            raise StoppedError
        return nodes, matches

    def familiarity(self, table: Table, choice: float, *, n_jobs: int | None = None, stop: Any = None) -> FloatArray:
        """Return the match of the best node of each sample, less what the sample lies beyond the range.

        A box lies within the range, so the distance to it is that of the clipped sample and the way to the range
        together. Beyond a constant feature, whose range has no width, a value counts as one range away.
        """
        matches = self.rank(table, choice, n_jobs=n_jobs, stop=stop)[1][:, 0]
        beyond, n_present = self.coding.beyond(table)
        return np.clip(matches - beyond / n_present, 0.0, 1.0)

    def boxes_in_units(self) -> tuple[FloatArray, FloatArray]:
        """Return the corners of the boxes in the user's units; NaN on a side that no sample has reached yet."""
        lower, upper = self.prototypes.boxes()
        reached = lower <= upper
        return (
            np.where(reached, self.coding.decode(lower), np.nan),
            np.where(reached, self.coding.decode(upper), np.nan),
        )

    def to_state(self) -> dict[str, Any]:
        """Return what must be saved: plain values and arrays."""
        return {
            "features": [list(feature) for feature in self.coding.features],
            "categorical": sorted(self.coding.categorical),
            "lower": self.coding.lower,
            "upper": self.coding.upper,
            "prototypes": self.prototypes.to_state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_columns: int) -> Network:
        """Return the network of a saved state, after checking that it can be one."""
        features = tuple(Feature(*feature) for feature in state["features"])
        categorical = frozenset(state["categorical"])
        lower, upper = state["lower"], state["upper"]
        prototypes = Prototypes.from_state(state["prototypes"])
        columns = {feature.column for feature in features} | categorical
        fits = (
            lower.shape == upper.shape == (len(features),)
            and lower.dtype == upper.dtype == np.float64
            and prototypes.n_features == len(features)
            and all(isinstance(column, int) for column in columns)
            and len(columns) == n_columns
            and min(columns) == 0
            and max(columns) == n_columns - 1
            and len(set(features)) == len(features)
            and all((feature.category is not None) == (feature.column in categorical) for feature in features)
            and all(isinstance(feature.category, str | bool | int | float | None) for feature in features)
            and not np.isnan(lower).any()
            and not np.isnan(upper).any()
        )
        if not fits:
            raise ValueError("the coding of the model does not fit its arrays")
        network = cls(Coding(features, categorical, lower, upper))
        network.prototypes = prototypes
        return network


def _no_stop() -> Any:
    return np.zeros(1, dtype=np.uint8)


def _n_made_unlabelled(nodes: IntArray, targets: IntArray, n_nodes_before: int) -> int:
    """Count the nodes that an unlabelled sample made: those it won that no sample had won before."""
    known_before = np.maximum.accumulate(np.concatenate([[n_nodes_before - 1], nodes]))[:-1]
    return int(((nodes > known_before) & (targets == UNLABELLED)).sum())


def _refuse_unknown_features(samples: FloatArray) -> None:
    empty = np.isnan(samples).all(axis=1)
    if empty.any():
        raise ValueError(
            f"Row {np.flatnonzero(empty)[0]} has values only in features for which the model has never seen a value: "
            "nothing can be said about it. Drop such rows, or let the model learn samples with these features first."
        )
