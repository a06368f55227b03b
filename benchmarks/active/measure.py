"""One run: a strategy selects samples in batches, and the model learns their labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from active.sets import Split
from active.strategies import BATCH, State
from sslart import AutoSSLART

N_LABELS = tuple(range(BATCH, 51, BATCH))


def run_of(split: Split, choose: Callable[[State], np.ndarray]) -> list[float]:
    """Return the accuracy on the test samples in percent, after each batch of labels.

    The model is fitted anew on all samples after each batch. Where all samples have their labels, accuracy stays as it
    is.
    """
    random, labelled, found = np.random.RandomState(split.seed), [], []
    model: Any = AutoSSLART(random_state=split.seed).partial_fit(split.X)
    with threadpool_limits(1):
        for _ in N_LABELS:
            chosen = choose(State(split.X, labelled, model, random)).tolist()
            assert len(set(chosen) - set(labelled)) == len(chosen), "a sample is labelled once"
            labelled = labelled + chosen
            known = np.full(len(split.y), None, dtype=object)
            known[labelled] = split.y[labelled]
            model = AutoSSLART(random_state=split.seed).fit(split.X, known)
            found.append(100.0 * float(np.mean(model.predict(split.X_test) == split.y_test)))
    return found
