"""The accuracy of a model on its own labels: left out one by one, or a fifth at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from sslart._mapping.model_view import view_of
from sslart._utils.intervals import Estimate, share

N_FOLDS = 5
LEAVE_ONE_OUT = "leave-one-out"
HELD_OUT = "held out"


class Measured(NamedTuple):
    """How the accuracy was measured, and its value; None where there were too few labels."""

    how: str
    accuracy: Estimate | None


def leave_one_out(model: Any) -> Estimate | None:
    """Return the accuracy on labelled samples left out one by one, of an ensemble the mean of its members.

    None for a model that does not keep its labelled samples, and for one without a label.
    """
    left_out = view_of(model).left_out
    return None if left_out is None else left_out.accuracy()


def measured(model: Any, samples: Any, labels: list[Any], seed: int) -> Measured:
    """Return the accuracy of a model that was fitted to these samples.

    Where the model does not keep its labelled samples, further models are fitted, each without a fifth of them.
    """
    if view_of(model).uses_evidence:
        return Measured(LEAVE_ONE_OUT, leave_one_out(model))
    known = np.array([row for row, label in enumerate(labels) if label is not None])
    codes = np.unique([labels[row] for row in known], return_inverse=True)[1]
    rarest = int(np.bincount(codes).min())
    if rarest < 2:
        return Measured(HELD_OUT, None)
    folds = StratifiedKFold(min(N_FOLDS, rarest), shuffle=True, random_state=seed).split(known, codes)
    n_right = 0
    for _, held_out in folds:
        rows = known[held_out]
        rest = np.setdiff1d(np.arange(len(labels)), rows)
        try:
            other = clone(model).fit(samples.iloc[rest], [labels[row] for row in rest])
        except ValueError:  # an ensemble that holds out a share of the labels, of which fewer are left
            return Measured(HELD_OUT, None)
        n_right += sum(other.predict(samples.iloc[rows]) == np.array([labels[row] for row in rows], dtype=object))
    return Measured(HELD_OUT, share(int(n_right), len(known)))
