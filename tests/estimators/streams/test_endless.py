"""A stream without end: what a model keeps is bounded by its boxes, its classes and the labels that it may keep."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

from conftest import name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

N_FEATURES = 4
LABELS_KEPT = 50


def learn(model: Any, n_samples: int, seed: int) -> None:
    """Learn new samples in calls of one to twenty, with predictions in between."""
    random = np.random.RandomState(seed)
    samples, only_labelled = random.rand(n_samples, N_FEATURES), isinstance(model, FuzzyARTMAP)
    labels = np.where((random.rand(n_samples) < 0.1) | only_labelled, samples[:, 0] > 0.5, -1)
    start = 0
    while start < n_samples:
        end = start + random.randint(1, 21)
        if isinstance(model, FuzzyART):
            model.partial_fit(samples[start:end])
        else:
            model.partial_fit(samples[start:end], labels[start:end])
        if start % 500 < 20 and hasattr(model, "classes_") and len(model.classes_):
            model.predict(samples[start:end])
        start = end


def kept(model: Any) -> dict[str, int]:
    """Size in bytes of each part of a saved model."""
    parts = model._model.__getstate__().items()
    return {name: len(pickle.dumps(value)) for name, value in parts}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "n_samples"),
    [
        (FuzzyART(0.6), 100_000),
        (FuzzyARTMAP(0.6), 100_000),
        (SSLART(0.6), 100_000),
        (WESSLART(2, vigilance=0.6, random_state=0), 50_000),
        (AutoSSLART(0.6, max_labels=LABELS_KEPT, random_state=0), 10_000),
    ],
    ids=name_of,
)
def test_what_a_model_keeps_does_not_grow_with_the_stream(model: Any, n_samples: int) -> None:
    model.set_params(bounds=(0, 1))
    learn(model, n_samples, seed=0)
    gc.collect()
    tracemalloc.start()
    try:
        learn(model, n_samples // 10, seed=1)  # what later calls allocate takes the place of what these did
        gc.collect()
        traced, before, n_boxes = tracemalloc.get_traced_memory()[0], kept(model), model.n_nodes_
        learn(model, n_samples, seed=2)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - traced
    finally:
        tracemalloc.stop()
    after, more_boxes = kept(model), model.n_nodes_ - n_boxes
    of_boxes = 1000 * more_boxes
    assert more_boxes < 0.3 * n_boxes
    assert {name: size for name, size in after.items() if size > 1.25 * before.get(name, 0) + 4096 + of_boxes} == {}
    assert grown < 200_000 + of_boxes
