"""Drift of a stream, as a picture."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import no_figure_is_left_open  # noqa: F401
from sklearn.linear_model import LogisticRegression

from sslart import SSLART, FuzzyART
from sslart.plotting import DriftDisplay


def stream(n=4096):
    random = np.random.default_rng(0)
    centres, own = random.random((12, 4)), random.integers(12, size=n)
    X, y = centres[own] + random.normal(scale=0.04, size=(n, 4)), own % 3
    X[n // 4 :, 2] += 1
    y[n // 2 :] = (y[n // 2 :] + 1) % 3
    return X, y


def test_what_is_drawn_is_what_was_measured_and_found():
    X, y = stream()
    model = SSLART(vigilance=0.8).partial_fit(X, y)
    display = DriftDisplay.from_estimator(model)
    assert display.events == model.drift_
    assert [event.kind for event in display.events] == ["features", "novelty", "error"]
    assert display.samples[-1] == 4096
    assert np.argmax(display.novelty[display.samples > 512]) > 0
    assert (
        np.nanmean(display.errors[display.samples <= 2048]) < 0.2 < np.nanmean(display.errors[display.samples > 2048])
    )
    assert display.class_shares.sum(axis=1) == pytest.approx(1)
    marked = [line.get_xdata()[0] for line in display.ax_.lines if line.get_linestyle() == "--"]
    assert marked == [event.since for event in display.events]
    listed = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    for number, kind in enumerate(("features", "novelty")):
        assert listed[number].startswith(f"{number + 1}: {kind} since {display.events[number].since}")
        assert listed[number].endswith("moved: x2")
    assert "moved" not in listed[2]
    assert display.ax_.get_title(loc="left") == "3 drifts found"
    assert [text.get_text() for text in display.ax_.texts][-2:] == ["1, 2", "3"]


def test_a_stream_without_labels_or_drift_is_drawn_on_any_axis():
    X, _ = stream(512)
    _, axes = plt.subplots(1, 2)
    display = DriftDisplay.from_estimator(FuzzyART().partial_fit(X[:128]), ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.ax_.get_title(loc="left") == "0 drifts found"
    assert [text.get_text() for text in display.ax_.texts] == ["mean novelty of samples"]


def test_only_the_last_drifts_are_listed():
    X, y = stream()
    display = DriftDisplay.from_estimator(SSLART(vigilance=0.8).partial_fit(X, y), max_events=1)
    assert len(display.ax_.get_legend().get_texts()) == 1
    assert display.ax_.get_title(loc="left") == "3 drifts found, listed from number 3 on"


def test_without_a_stream_the_cure_is_named():
    X, y = stream()
    with pytest.raises(ValueError, match="Continue learning with partial_fit"):
        DriftDisplay.from_estimator(SSLART().fit(X, y))
    with pytest.raises(TypeError, match="a fitted estimator of sslart, got a LogisticRegression"):
        DriftDisplay.from_estimator(LogisticRegression())
