"""The vote of an ensemble: each member's success per class, and the scores that follow from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sslart._data.classes import ClassTable
from sslart._data.labels import UNLABELLED, Labels
from sslart._utils.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Record:
    """How often each member was right, per class code.

    Attributes
    ----------
    successes : array of shape (n_members, n_classes)
        NCS_c^m: samples of class c that member m got right.
    trials : array of shape (n_classes,)
        TNS_c: samples of class c.
    """

    successes: IntArray
    trials: IntArray

    @classmethod
    def none(cls, n_members: int, table: ClassTable) -> Record:
        """Return the record of members that have not been tried."""
        n_classes = len(table.seen)
        return cls(np.zeros((n_members, n_classes), dtype=np.int64), np.zeros(n_classes, dtype=np.int64))

    @classmethod
    def of_right(cls, right: BoolArray, table: ClassTable, labels: Labels) -> Record:
        """Return the record of members that got the samples marked in `right` (members × samples) right."""
        codes = table.codes(labels)
        n_classes = len(table.seen)
        return cls(
            np.array([np.bincount(codes[won & (codes != UNLABELLED)], minlength=n_classes) for won in right]),
            np.bincount(codes[codes != UNLABELLED], minlength=n_classes),
        )

    @classmethod
    def of_votes(cls, votes: IntArray, table: ClassTable, labels: Labels) -> Record:
        """Return the record of members that voted for places in the sorted classes (members × samples)."""
        places = np.append(table.sorted_codes(), UNLABELLED)[table.codes(labels)]
        return cls.of_right(votes == places, table, labels)

    def __add__(self, other: Record) -> Record:
        """Return both records together; the other may know further classes."""
        further = len(other.trials) - len(self.trials)
        return Record(
            np.pad(self.successes, ((0, 0), (0, further))) + other.successes,
            np.pad(self.trials, (0, further)) + other.trials,
        )

    def weights(self, table: ClassTable) -> FloatArray:
        """Return We_c^m = NCS_c^m / TNS_c, classes sorted; the share over all classes where a class had no sample."""
        overall = self.successes.sum(axis=1, keepdims=True) / max(int(self.trials.sum()), 1)
        weights = np.repeat(overall, len(table.classes), axis=1)
        tried = self.trials > 0
        weights[:, table.sorted_codes()[tried]] = self.successes[:, tried] / self.trials[tried]
        return weights

    def check(self, n_members: int, n_classes: int) -> None:
        """Raise a ValueError where a saved record cannot be one."""
        if (
            self.successes.shape != (n_members, n_classes)
            or self.trials.shape != (n_classes,)
            or self.successes.dtype != np.int64
            or self.trials.dtype != np.int64
            or (self.successes < 0).any()
            or (self.successes > self.trials).any()
        ):
            raise ValueError("the voting record of the model does not fit its members")


def scores(votes: IntArray, weights: FloatArray) -> FloatArray:
    """Return PS_c, the sum of the weights of the members that vote for class c, shape (n_samples, n_classes).

    Where every vote cast has weight zero, each counts one: the votes are all there is to go by.

    Parameters
    ----------
    votes : array of shape (n_members, n_samples)
        Place in the sorted classes that each member votes for, -1 for no vote.
    weights : array of shape (n_members, n_classes)
    """
    voted = votes[:, :, None] == np.arange(weights.shape[1])
    weighted = np.einsum("msc,mc->sc", voted, weights)
    return np.asarray(np.where(weighted.any(axis=1, keepdims=True), weighted, voted.sum(axis=0)))


def held_out(labels: Labels, share: float, random: np.random.RandomState) -> BoolArray:
    """Choose a share of each class's labelled samples to hold out; at least one of each class is left to learn."""
    codes = ClassTable().learning(labels).codes(labels)
    apart = np.zeros(len(codes), dtype=bool)
    for code in range(codes.max() + 1):
        of_class = random.permutation(np.flatnonzero(codes == code))
        apart[of_class[: min(round(share * len(of_class)), len(of_class) - 1)]] = True
    if not apart.any():
        raise ValueError(
            f"validation={share} holds out no sample: no class has enough labelled samples to spare one sample. Use a "
            "larger share, validation='labelled', or fit(..., validation_set=(X_val, y_val))."
        )
    return apart
