"""One row costs little: ratios to scikit-learn in the same process, with room for a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier

from conftest import needs_kernel
from sslart import AutoSSLART, FuzzyART

ROWS = np.random.RandomState(0).rand(3000, 32)


def ratio(ours: Callable[[Any], Any], theirs: Callable[[Any], Any], n_rows: int = 150, n_turns: int = 7) -> float:
    """Return the processor time of a call with one row over that of a peer, of several turns the one in the middle."""
    rows, found = [ROWS[row : row + 1] for row in range(n_rows)], []
    for _ in range(n_turns):
        taken = []
        for call in (ours, theirs):
            start = time.process_time()
            for row in rows:
                call(row)
            taken.append(time.process_time() - start)
        found.append(taken[0] / taken[1])
    return median(found)


@needs_kernel
def test_learning_a_row_takes_a_fraction_of_a_linear_model() -> None:
    model = FuzzyART(0.8, bounds=(0, 1)).fit(ROWS)
    assert model.n_nodes_ > 1500
    peer, label = SGDClassifier().partial_fit(ROWS, np.arange(3000) % 2, classes=[0, 1]), np.ones(1, dtype=int)
    assert ratio(model.partial_fit, lambda row: peer.partial_fit(row, label)) < 0.2  # about 0.08 where it was written


@needs_kernel
def test_predicting_a_row_takes_less_than_a_linear_model() -> None:
    y = (ROWS[:, 0] > 0.5).astype(int)
    model = AutoSSLART(random_state=0).fit(ROWS[:1500], np.where(np.arange(1500) < 100, y[:1500], -1))
    assert ratio(model.predict, LogisticRegression().fit(ROWS, y).predict) < 0.8  # about 0.35 where it was written
