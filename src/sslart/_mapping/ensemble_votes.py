"""Voting of an ensemble: the success of each member per class, the vote weights, the votes, and class scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._art.backend import row_keys
from sslart._art.boxes import Fading
from sslart._data.labels import NO_GROUP, UNLABELLED, ClassTable, Labels, Presentations
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray, keys_of_numbers, mixed
from sslart._utils.validation import MAX_COUNT, require, saved_array

MIN_CLASS_WEIGHT = 1e-3  # of a member with evidence mapping for a class, so that no score is zero


@dataclass(frozen=True)
class VotingRecord:
    """Number of correct predictions of each member, per class code.

    Counts are floats if samples decay.
    """

    successes: CountArray  # (n_members, n_classes): NCS_c^m: samples of class c that member m got right
    trials: CountArray  # TNS_c: samples of class c

    @classmethod
    def none(cls, n_members: int, table: ClassTable) -> VotingRecord:
        """Return an empty record."""
        n_classes = len(table.seen)
        return cls(np.zeros((n_members, n_classes), dtype=np.int64), np.zeros(n_classes, dtype=np.int64))

    @classmethod
    def of_right(cls, right: BoolArray, table: ClassTable, labels: Labels) -> VotingRecord:
        """Return the record of predictions, with a mask of correct ones, shape (n_members, n_samples)."""
        codes = table.codes(labels)
        n_classes = len(table.seen)
        return cls(
            np.array([np.bincount(codes[won & (codes != UNLABELLED)], minlength=n_classes) for won in right]),
            np.bincount(codes[codes != UNLABELLED], minlength=n_classes),
        )

    @classmethod
    def of_votes(cls, votes: IntArray, table: ClassTable, labels: Labels) -> VotingRecord:
        """Return the record of votes for indices of the sorted classes, shape (n_members, n_samples)."""
        places = np.append(table.sorted_codes(), UNLABELLED)[table.codes(labels)]
        return cls.of_right(votes == places, table, labels)

    def __add__(self, other: VotingRecord) -> VotingRecord:
        """Return the sum of two records; `other` may have further classes."""
        further = len(other.trials) - len(self.trials)
        return VotingRecord(
            np.pad(self.successes, ((0, 0), (0, further))) + other.successes,
            np.pad(self.trials, (0, further)) + other.trials,
        )

    def after(
        self, right: BoolArray | None, table: ClassTable, labels: Labels, fading: Fading | None, n_before: int
    ) -> VotingRecord:
        """Return the record after further samples of a stream.

        `right` (n_members, n_samples) marks correct predictions, None if they are not counted; `table` may know further
        classes; `n_before` samples had been learnt before.
        """
        now = self + VotingRecord.none(len(self.successes), table)
        if fading is None:
            return now if right is None else now + VotingRecord.of_right(right, table, labels)
        shown = Presentations(labels.presentations)
        n_samples = shown.of(slice(0, len(labels.known))).stop
        n_fadings = (n_before + np.arange(n_samples)[shown.first]) // fading.period
        last = (n_before + n_samples) // fading.period
        now = now._times(1.0)
        for number in range(n_before // fading.period, last + 1):
            start, stop = np.searchsorted(n_fadings, [number, number + 1])
            if right is not None:
                now += VotingRecord.of_right(right[:, start:stop], table, labels[start:stop])
            if number < last:
                now = now._times(fading.factor)
        return now

    def _times(self, factor: float) -> VotingRecord:
        return VotingRecord(self.successes * factor, self.trials * factor)

    def recoded(self, codes: IntArray, n_classes: int) -> VotingRecord:
        """Return the record with new class codes: `codes` has the new code of each old one."""
        successes = np.zeros((len(self.successes), n_classes), dtype=self.successes.dtype)
        trials = np.zeros(n_classes, dtype=self.trials.dtype)
        successes[:, codes], trials[codes] = self.successes, self.trials
        return VotingRecord(successes, trials)

    def weights(self, table: ClassTable) -> FloatArray:
        """Return We_c^m = NCS_c^m / TNS_c, classes sorted; the overall accuracy for classes without samples."""
        overall = self.successes.sum(axis=1, keepdims=True) / (self.trials.sum() or 1)
        weights = np.repeat(overall, len(table.classes), axis=1)
        tried = self.trials > 0
        weights[:, table.sorted_codes()[tried]] = self.successes[:, tried] / self.trials[tried]
        return weights

    @classmethod
    def from_state(cls, state: dict[str, Any], n_members: int, n_classes: int) -> VotingRecord:
        """Restore the record from a saved state after validating it."""
        kind = np.float64 if getattr(state["trials"], "dtype", None) == np.float64 else np.int64
        trials = saved_array(state, "trials", kind, n_classes, low=0, high=MAX_COUNT)
        successes = saved_array(state, "successes", kind, n_members, n_classes, low=0, high=MAX_COUNT)
        require((successes <= trials).all() and trials.sum(dtype=np.float64) <= MAX_COUNT, "the votes")
        return cls(successes, trials)


@dataclass(frozen=True, eq=False)
class Ballot:
    """The votes of the members on samples."""

    # (n_members, n_samples): the box that each member predicts by, -1 for none; with evidence always -1
    nodes: IntArray
    votes: IntArray  # (n_members, n_samples): class index that each member votes for, -1 for no vote
    weights: FloatArray  # (n_members, n_samples): what each vote adds to the score of its class; 0 for no vote
    # (n_samples, n_classes): sum of the votes; with evidence, of the weighted probabilities of the members that vote
    scores: FloatArray
    # class index of the highest score, the first on ties; -1 where fewer members vote than the quorum demands
    winners: IntArray
    # (n_members, n_samples): what each member adds to the score of the winner; -1 where it votes for another class or
    # not at all
    towards_winner: FloatArray

    def proba(self) -> FloatArray:
        """Return the share of each class in the scores."""
        return np.asarray(self.scores / self.scores.sum(axis=1, keepdims=True))


def vote_on_labels(votes: IntArray, nodes: IntArray, class_weights: FloatArray, quorum: int = 1) -> Ballot:
    """Count votes, each with the weight of its member for the class.

    If all votes on a sample have weight zero, each counts one. `votes` and `nodes` have the shape
    (n_members, n_samples), `class_weights` (n_members, n_classes).
    """
    voted = votes[:, :, None] == np.arange(class_weights.shape[1])
    weighted = _added(own * weights for own, weights in zip(voted, class_weights, strict=True))
    scores = np.where(weighted.any(axis=1, keepdims=True), weighted, voted.sum(axis=0))
    weights = np.take_along_axis(class_weights, votes, axis=1)
    weights[:, ~(weights * (votes != UNLABELLED)).any(axis=0)] = 1.0
    weights = np.where(votes == UNLABELLED, 0.0, weights)
    winners = _winners(votes, scores, quorum)
    return Ballot(nodes, votes, weights, scores, winners, np.where(votes == winners, weights, -1.0))


def vote_on_evidence(votes: IntArray, probas: FloatArray, class_weights: FloatArray, quorum: int = 1) -> Ballot:
    """Add up the probabilities (n_members, n_samples, n_classes) of the members that vote, with their weights."""
    abstained = votes == UNLABELLED
    shares = np.where(abstained[:, :, None], 0.0, probas) * class_weights[:, None]
    scores = _added(shares)
    winners = _winners(votes, scores, quorum)
    own, towards = (
        np.take_along_axis(shares, np.maximum(indices, 0)[:, :, None], axis=2)[:, :, 0]
        for indices in (votes, np.broadcast_to(winners, votes.shape))
    )
    nodes = np.full(votes.shape, UNLABELLED)
    return Ballot(nodes, votes, np.where(abstained, 0.0, own), scores, winners, np.where(abstained, -1.0, towards))


def _added(parts: Iterable[FloatArray]) -> FloatArray:
    """Sum over members in order, so that the sum of a sample does not depend on the other samples."""
    return sum(parts, start=np.zeros(()))


def _winners(votes: IntArray, scores: FloatArray, quorum: int) -> IntArray:
    return np.where((votes != UNLABELLED).sum(axis=0) >= quorum, scores.argmax(axis=1), UNLABELLED)


def held_out(labels: Labels, share: float, table: Table, seed: int) -> BoolArray:
    """Choose a stratified share of the labelled samples to hold out; at least one of each class is left for training.

    Duplicates and samples of one group are held out together. The order of samples does not matter.
    """
    codes = ClassTable().learning(labels).codes(labels)
    parts = row_keys(table)
    if labels.groups is not None:
        parts = np.where(labels.groups == NO_GROUP, parts, labels.groups.view(np.uint64))
    parts = mixed(parts ^ keys_of_numbers(np.array([0]), seed))
    chosen = []
    for code in range(codes.max() + 1):
        of_class = np.unique(parts[codes == code])  # keys are random, so that the lowest are a random choice
        chosen.append(of_class[: min(round(share * len(of_class)), len(of_class) - 1)])
    apart = labels.known & np.isin(parts, np.concatenate(chosen))
    if not apart.any() or not np.isin(codes[apart], codes[~apart]).all():
        raise ValueError(
            f"validation={share} cannot hold out samples: no class has enough labelled samples, or groups, to spare "
            "one sample. Use a larger share, validation='labelled', or fit(..., validation_set=(X_val, y_val))."
        )
    return apart
