"""Loading takes little time: nothing is solved, and a file is read in one pass."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

import sslart

N_LABELS, N_TURNS, MOST = 8000, 9, 3.0


def seconds(load: Callable[[], Any], X: np.ndarray) -> float:
    """Return the time of the processor until a loaded model has predicted a sample."""
    start = time.process_time()
    load().predict(X[:1])
    return time.process_time() - start


@pytest.mark.slow
def test_a_file_is_loaded_and_predicts_within_three_times_the_time_of_pickle(tmp_path: Path) -> None:
    X, y = make_classification(N_LABELS, 20, n_informative=10, n_classes=4, random_state=0)
    model, path = sslart.AutoSSLART(random_state=0).fit(X, y), tmp_path / "model.sslart"
    assert "trees" in model.family_weights_  # most of the file
    sslart.save(model, path)
    content = pickle.dumps(model)
    turns = [(seconds(lambda: sslart.load(path), X), seconds(lambda: pickle.loads(content), X)) for _ in range(N_TURNS)]
    of_file, of_pickle = np.min(turns, axis=0)
    print(f"file {1e3 * of_file:.1f} ms, pickle {1e3 * of_pickle:.1f} ms: {of_file / of_pickle:.2f} times")
    assert of_file < MOST * of_pickle
