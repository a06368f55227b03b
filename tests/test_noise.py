"""Noise on labels and features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sslart.datasets import add_white_noise, switch_labels


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=2, max_size=40), st.floats(0, 1), st.integers(0, 9))
def test_a_share_of_the_labelled_samples_gets_another_class(labels: list[Any], share: float, seed: int) -> None:
    y = np.array([*labels, "a", "b"], dtype=object)
    noisy = switch_labels(y, share, random_state=seed)
    known = np.array([label is not None for label in y])
    assert (noisy != y).sum() == round(share * known.sum())
    np.testing.assert_array_equal(noisy[~known], y[~known])
    assert set(noisy[known]) <= set(y[known])


def test_other_classes_are_drawn_evenly() -> None:
    noisy = switch_labels(np.repeat([0, 1, 2, 3], 3000), 1.0, random_state=0)
    counts = np.bincount(noisy[:3000], minlength=4)
    assert counts[0] == 0
    assert counts[1:].min() > 900


def test_integers_of_minus_one_stay_unlabelled_and_y_is_not_changed() -> None:
    y = np.array([-1, 0, 1, -1])
    assert switch_labels(y, 1.0, random_state=0).tolist() == [-1, 1, 0, -1]
    assert y.tolist() == [-1, 0, 1, -1]


def test_one_class_cannot_be_switched() -> None:
    with pytest.raises(ValueError, match="at least two classes"):
        switch_labels(["a", "a", None])


@pytest.mark.parametrize("decibels", [0.0, 10.0, 20.0])
def test_the_signal_to_noise_ratio_is_the_one_asked_for(decibels: float) -> None:
    X = np.random.RandomState(0).uniform(size=(4000, 6)) * [1, 10, 100, 1e3, 1e-3, 5] + 7
    unit = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    noise = (add_white_noise(X, decibels, clip=False, random_state=1) - X) / np.ptp(X, axis=0)
    assert 10 * np.log10((unit**2).mean() / (noise**2).mean()) == pytest.approx(decibels, abs=0.1)
    clipped = add_white_noise(X, decibels, random_state=1)
    assert (clipped >= X.min(axis=0)).all()
    assert (clipped <= X.max(axis=0)).all()
    less = ((clipped - X) / np.ptp(X, axis=0)) ** 2
    assert less.mean() < (noise**2).mean()


def test_a_share_of_the_samples_gets_noise_and_gaps_stay() -> None:
    X = np.random.RandomState(0).normal(size=(100, 3))
    X[::7, 1] = np.nan
    X[:, 2] = 5.0
    noisy = add_white_noise(X, share=0.25, random_state=0)
    changed = (noisy != X) & ~np.isnan(X)
    assert changed.any(axis=1).sum() == 25
    assert not changed[:, 2].any()
    np.testing.assert_array_equal(np.isnan(noisy), np.isnan(X))


@pytest.mark.parametrize(("name", "value"), [("share", 1.5), ("snr_db", "high"), ("clip", "no")])
def test_bad_parameters_are_named(name: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        add_white_noise([[0.0], [1.0]], **{name: value})
