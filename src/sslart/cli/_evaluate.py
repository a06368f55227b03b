"""How good a model is, told by its own labels: left out one by one, or a fifth at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from sslart.metrics._quality import Estimate, share

N_FOLDS = 5
LEAVE_ONE_OUT = "leave-one-out"
HELD_OUT = "held out"


class Measured(NamedTuple):
    """How the accuracy was measured, and what came out; None where there were too few labels."""

    how: str
    accuracy: Estimate | None


def members_that_speak(model: Any) -> list[Any]:
    """Return the networks of a model with evidence mapping, none of another."""
    return list(getattr(model, "estimators_", [model])) if getattr(model, "mapping", None) == "evidence" else []


def leave_one_out(model: Any) -> Estimate | None:
    """Return the accuracy on labelled samples left out one by one, of an ensemble the mean of its members.

    None for a model that does not keep them.
    """
    members = members_that_speak(model)
    if not members:
        return None
    n_left_out = len(members[0]._heard().places)
    accuracy = sum(member.loo_accuracy_ for member in members) / len(members)
    return share(round(accuracy * n_left_out), n_left_out)


def measured(model: Any, samples: Any, labels: list[Any], seed: int) -> Measured:
    """Return the accuracy of a model that was fitted to these samples.

    Where boxes do not keep their labels, further models are fitted, each without a fifth of the labelled samples.
    """
    if members_that_speak(model):
        return Measured(LEAVE_ONE_OUT, leave_one_out(model))
    known = np.array([row for row, label in enumerate(labels) if label is not None])
    codes = np.unique([labels[row] for row in known], return_inverse=True)[1]
    rarest = int(np.bincount(codes).min())
    if rarest < 2:
        return Measured(HELD_OUT, None)
    folds = StratifiedKFold(min(N_FOLDS, rarest), shuffle=True, random_state=seed).split(known, codes)
    n_right = 0
    for _, places in folds:
        rows = known[places]
        rest = np.setdiff1d(np.arange(len(labels)), rows)
        other = clone(model).fit(samples.iloc[rest], [labels[row] for row in rest])
        n_right += sum(other.predict(samples.iloc[rows]) == np.array([labels[row] for row in rows], dtype=object))
    return Measured(HELD_OUT, share(int(n_right), len(known)))
