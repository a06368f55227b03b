from __future__ import annotations

import numpy as np
import pytest

from reproduction.methods import tuning


def test_hidden_labels_are_hidden_and_every_labelled_sample_is_predicted_once() -> None:
    codes = np.array([0] * 7 + [1] * 4 + [2])
    seen: list[np.ndarray] = []

    def predict(setting: int, kept: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        assert sorted([*kept, *hidden]) == list(range(12))
        seen.append(hidden)
        return codes[hidden] if setting == 2 else np.zeros(len(hidden), dtype=int)

    assert tuning.chosen([1, 2, 3], codes, predict, np.random.RandomState(0), n_parts=3) == 2
    assert sorted(np.concatenate(seen[:3])) == list(range(12))
    assert all(len(np.unique(codes[np.setdiff1d(np.arange(12), hidden)])) >= 2 for hidden in seen)


def test_the_first_of_equal_settings_is_chosen_and_one_class_is_predicted_without_training() -> None:
    def never(*_: object) -> np.ndarray:
        raise AssertionError("one class left")

    assert tuning.chosen(["a", "b"], np.array([0, 1]), never, np.random.RandomState(0)) == "a"
    with pytest.raises(ValueError, match="no setting"):
        tuning.chosen([], np.array([0, 1]), never, np.random.RandomState(0))


def test_the_laplacian_is_symmetric_positive_and_zero_on_constants() -> None:
    X = np.random.RandomState(0).rand(30, 3)
    L = tuning.laplacian(X, 4).toarray()
    np.testing.assert_allclose(L, L.T)
    np.testing.assert_allclose(L @ np.ones(30), 0.0, atol=1e-12)
    assert np.linalg.eigvalsh(L).min() > -1e-10
    assert ((L < 0).sum(axis=1) >= 4).all()


@pytest.mark.parametrize("classes", [[3, 5], [1, 4, 7]])
def test_targets_decide_for_their_own_class(classes: list[int]) -> None:
    codes = np.random.RandomState(0).choice(classes, 20)
    np.testing.assert_array_equal(tuning.decided(tuning.targets(codes, np.array(classes)), np.array(classes)), codes)
