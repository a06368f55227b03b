"""Claims about one immutable value that an outside review found to be false."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from sslart import SSLART
from sslart.river import StreamClassifier

X = np.random.RandomState(0).rand(20, 2)


def test_an_array_of_a_copy_cannot_change_the_original() -> None:
    model = SSLART(0.8, random_state=0).fit(X, np.array(["a", "b"])[(X[:, 0] > 0.5).astype(int)])
    before = model.predict(X)
    try:
        copy.deepcopy(model).classes_[:] = "z"
    except ValueError:
        pass  # read-only
    np.testing.assert_array_equal(model.predict(X), before)


def test_an_interrupt_leaves_a_river_model_that_predicts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = StreamClassifier()
    for row, label in zip(X.tolist(), ["a", "b"] * 10, strict=True):
        model.learn_one(dict(enumerate(row)), label)
    learn = SSLART.partial_fit

    def interrupted(self: Any, *args: Any, **kwargs: Any) -> Any:
        learn(self, *args, **kwargs)
        raise KeyboardInterrupt  # after the model has learnt, before the label is counted

    monkeypatch.setattr(SSLART, "partial_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one({0: 0.5, 1: 0.1}, "c")
    monkeypatch.undo()
    assert abs(sum(model.predict_proba_one({0: 0.5, 1: 0.1}).values()) - 1) < 1e-9
