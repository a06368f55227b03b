"""The quality of a model on its own labels: each is predicted by the other labels alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.metrics._quality import Estimate, share


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What is predicted for each labelled sample that a model keeps, by the other labels alone.

    Attributes
    ----------
    proba : array of shape (n_predictions, n_classes)
        Probabilities; of an ensemble, those of each member for each of its labels.
    truth : array of length n_predictions
        Class index of each label.
    n_labels : int
        Number of labels; of an ensemble, of one member.
    """

    proba: FloatArray
    truth: IntArray
    n_labels: int

    @property
    def predicted(self) -> IntArray:
        """Class index of the highest probability."""
        return np.asarray(self.proba.argmax(axis=1))

    @property
    def confidence(self) -> FloatArray:
        """The highest probability."""
        return np.asarray(self.proba.max(axis=1))

    @property
    def right(self) -> BoolArray:
        """Whether the class of the highest probability is that of the label."""
        return np.asarray(self.predicted == self.truth)

    def accuracy(self) -> Estimate:
        """Return the share of the labels that are predicted rightly; of an ensemble, the mean of its members."""
        return share(round(float(self.right.mean()) * self.n_labels), self.n_labels)


def left_out_of(view: ModelView) -> LeftOut | None:
    """Return what is predicted for left-out labels; None for a model that keeps no labelled samples, or has none."""
    if not view.class_table.seen:
        return None
    found = [one for one in (member.mapping.left_out for member in view.members) if one is not None]
    if not found:
        return None
    return LeftOut(
        np.concatenate([proba for proba, _ in found]), np.concatenate([truth for _, truth in found]), len(found[0][1])
    )
