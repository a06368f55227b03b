"""Query strategies: each selects the next samples to label, given the current model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from sslart import AutoSSLART
from sslart._mapping.model_view import view_of
from sslart.active import select_queries

OURS, MARGIN = "ours", "margin"
BATCH = 5


@dataclass
class State:
    """Samples, the labels so far, and the model that has learnt both; without a label it has boxes only."""

    X: Any
    labelled: list[int]
    model: AutoSSLART
    random: np.random.RandomState

    @property
    def unlabelled(self) -> np.ndarray:
        """Rows without a label, in their order."""
        return np.setdiff1d(np.arange(len(self.coded)), self.labelled)

    @property
    def coded(self) -> np.ndarray:
        """Samples in the unit cube, categories as indicators, and the middle where a value is missing."""
        view = view_of(self.model)
        return np.nan_to_num(view.members[0].encode(view.read(self.X)), nan=0.5)

    def proba(self) -> np.ndarray:
        """Return the probabilities of the samples without a label."""
        return self.model.predict_proba(_safe_indexing(self.X, self.unlabelled))


def at_random(state: State) -> np.ndarray:
    return state.random.permutation(state.unlabelled)[:BATCH]


def by_margin(state: State) -> np.ndarray:
    """Return the samples whose two most probable classes are closest to each other; the first ones at random."""
    if not state.labelled:
        return at_random(state)
    proba = np.sort(state.proba(), axis=1)
    margin = proba[:, -1] - proba[:, -2] if proba.shape[1] > 1 else state.random.uniform(size=len(proba))
    return state.unlabelled[np.argsort(margin, kind="stable")[:BATCH]]


def by_entropy(state: State) -> np.ndarray:
    """Return the samples whose probabilities have the highest entropy; the first ones at random."""
    if not state.labelled:
        return at_random(state)
    proba = state.proba()
    entropy = -(proba * np.log(np.maximum(proba, 1e-12))).sum(axis=1)
    if proba.shape[1] == 1:
        entropy = state.random.uniform(size=len(proba))
    return state.unlabelled[np.argsort(-entropy, kind="stable")[:BATCH]]


def by_centres(state: State) -> np.ndarray:
    """Return the sample farthest from all that are chosen, again and again; the first one at random (k-centre)."""
    coded, chosen = state.coded, list(state.labelled)
    if not chosen:
        chosen.append(int(state.random.randint(len(coded))))
    nearest = np.min([np.linalg.norm(coded - coded[row], axis=1) for row in chosen], axis=0)
    while len(chosen) < len(state.labelled) + BATCH:
        nearest[chosen] = -1.0
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, np.linalg.norm(coded - coded[chosen[-1]], axis=1))
    return np.array(chosen[len(state.labelled) :])


def by_ours(state: State) -> np.ndarray:
    """Return the choice of `sslart.active.select_queries`, from the first label on."""
    rows = state.unlabelled
    return rows[select_queries(state.model, _safe_indexing(state.X, rows), BATCH)]


def by_margin_after_ours(state: State) -> np.ndarray:
    return by_margin(state) if state.labelled else by_ours(state)


def by_ours_after_random(state: State) -> np.ndarray:
    return by_ours(state) if state.labelled else at_random(state)


RANKED: dict[str, Callable[[State], np.ndarray]] = {
    OURS: by_ours,
    MARGIN: by_margin,
    "entropy": by_entropy,
    "k-centre": by_centres,
    "random": at_random,
}
REFERENCES: dict[str, Callable[[State], np.ndarray]] = {
    "margin after our first five": by_margin_after_ours,
    "ours after five at random": by_ours_after_random,
}
STRATEGIES = RANKED | REFERENCES
