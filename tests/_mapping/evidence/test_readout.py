"""What was learnt from the labels, as data: its sum is the score, and its terms explain it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_basis import going, lesson_of, one_of_each, said_by

from sslart._mapping.evidence.rank_scaler import Ranks
from sslart._mapping.evidence.readout import N_KNOTS, NEGLIGIBLE, ROWS_PER_PIECE, Curves, Part, Readout, hats
from sslart._mapping.evidence.settings import FAMILIES, Key

TOLERANCE = 1e-4  # relative to the largest score: boxes are heard in float32


def whole_readout(seed: int = 0, n_classes: int = 3, missing: float = 0.0) -> tuple[Any, Readout, np.ndarray]:
    """A readout in which every family speaks, its lesson, and samples to speak about."""
    lesson = lesson_of(seed, n_classes=n_classes, missing=missing)
    ground = lesson.ground()
    random = np.random.RandomState(seed)
    readout = said_by(
        ground, [(key, random.normal(size=(len(lesson.places), n_classes))) for key in one_of_each(ground)]
    )
    samples = random.rand(31, lesson.labelled.shape[1])
    samples[random.rand(*samples.shape) < missing] = np.nan
    return lesson, readout, samples


@settings(max_examples=10)
@given(seed=st.integers(0, 99), n_classes=st.integers(1, 4), missing=st.sampled_from([0.0, 0.3]))
def test_a_score_is_the_bias_and_what_boxes_and_features_say(seed: int, n_classes: int, missing: float) -> None:
    lesson, readout, samples = whole_readout(seed, n_classes, missing)
    readout = replace(readout, bias=np.arange(n_classes) + 0.5)
    scores = readout.scores(samples)
    by_box = readout.by_box(samples, len(lesson.boxes.lower), going())
    by_feature = readout.by_feature(samples)
    assert by_box.shape == (len(samples), n_classes, len(lesson.boxes.lower))
    assert by_feature.shape == (len(samples), n_classes, samples.shape[1])
    total = readout.bias + by_box.sum(axis=2) + by_feature.sum(axis=2)
    np.testing.assert_allclose(scores, total, rtol=0, atol=TOLERANCE * np.abs(scores).max())


def test_every_family_is_in_that_sum() -> None:
    _, readout, samples = whole_readout()
    nothing = {"parts": (), "webs": (), "lines": (), "curves": ()}
    scores = readout.scores(samples)
    for name in nothing:
        assert np.abs(replace(readout, **{name: ()}).scores(samples) - scores).max() > 0.01, name
    silent = replace(readout, **nothing)
    np.testing.assert_array_equal(silent.scores(samples), np.tile(readout.bias, (len(samples), 1)))
    assert silent.n_speaking == 0
    assert readout.n_speaking > 0


def test_a_missing_value_says_nothing_by_itself() -> None:
    _, readout, samples = whole_readout()
    samples[:, 1] = np.nan
    assert (readout.by_feature(samples)[:, :, 1] == 0.0).all()
    assert np.isfinite(readout.scores(samples)).all()


@given(seed=st.integers(0, 999), n_classes=st.integers(1, 5), sharpness=st.floats(0.3, 60), doubt=st.floats(0.001, 0.4))
def test_probabilities_sum_to_one_and_prefer_what_scores_prefer(
    seed: int, n_classes: int, sharpness: float, doubt: float
) -> None:
    readout = Readout(Ranks(()), (), (), (), (), np.zeros(n_classes), sharpness, doubt)
    scores = np.random.RandomState(seed).normal(size=(9, n_classes)) * 3
    probabilities = readout.probabilities(scores)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (probabilities >= doubt / n_classes).all()
    np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))


def test_scores_without_bound_are_probabilities_still() -> None:
    readout = Readout(Ranks(()), (), (), (), (), np.zeros(2), 50.0, 0.1)
    np.testing.assert_allclose(
        readout.probabilities(np.array([[1e300, -1e300], [0.0, 0.0]])), [[0.95, 0.05], [0.5, 0.5]]
    )


@given(seed=st.integers(0, 999), loudness=st.sampled_from([1e-6, 1e-4, 1e-3, 0.1]))
@settings(max_examples=30)
def test_pruning_changes_no_score_by_more_than_is_negligible(seed: int, loudness: float) -> None:
    _, readout, samples = whole_readout()
    part = next(part for part in readout.parts if len(part.chorus.features) == samples.shape[1])
    random = np.random.RandomState(seed)
    n_boxes = len(part.chorus.boxes)
    weights = random.normal(size=(2, 3, n_boxes)) * loudness * 10 ** random.uniform(-2, 1, size=n_boxes)
    part = Part(part.chorus, 0.5, weights)
    pruned = part.pruned()
    only = replace(readout, webs=(), lines=(), curves=(), parts=(part,))
    change = replace(only, parts=(pruned,) if len(pruned.chorus.boxes) else ()).scores(samples) - only.scores(samples)
    assert np.abs(change).max() <= NEGLIGIBLE * 1.001
    heard = np.abs(weights).sum(axis=0).max(axis=0)
    assert set(part.chorus.boxes) >= set(pruned.chorus.boxes)
    if 0 < len(pruned.chorus.boxes) < n_boxes:
        assert heard[pruned.chorus.boxes].min() >= np.delete(heard, pruned.chorus.boxes).max()
    if heard.sum() <= NEGLIGIBLE:
        assert len(pruned.chorus.boxes) == 0


def test_loud_boxes_are_never_pruned() -> None:
    _, readout, _ = whole_readout()
    chorus = readout.parts[0].chorus
    weights = np.full((1, 2, len(chorus.boxes)), 2 * NEGLIGIBLE)
    assert len(Part(chorus, 0.5, weights).pruned().chorus.boxes) == len(chorus.boxes)


@given(value=st.floats(0, 1))
def test_hats_meet_the_value_between_two_knots(value: float) -> None:
    below, part = hats(np.array([[value]]))
    assert 0 <= below[0, 0] <= N_KNOTS - 2
    assert 0.0 <= part[0, 0] <= 1.0
    assert (below + part)[0, 0] / (N_KNOTS - 1) == pytest.approx(value)


def test_curves_are_straight_between_knots() -> None:
    random = np.random.RandomState(0)
    heights = random.normal(size=(2, N_KNOTS, 3))
    samples = random.rand(20, 2)
    said = Curves(0.0, heights).said(samples)
    knots = np.linspace(0, 1, N_KNOTS)
    for feature in range(2):
        for place in range(3):
            expected = np.interp(samples[:, feature], knots, heights[feature, :, place])
            np.testing.assert_allclose(said[:, feature, place], expected, atol=1e-12)


@pytest.mark.parametrize("n_samples", [0, 1, ROWS_PER_PIECE, ROWS_PER_PIECE + 1])
def test_any_number_of_samples_in_any_number_of_threads(n_samples: int) -> None:
    lesson, readout, _ = whole_readout()
    samples = np.random.RandomState(1).rand(n_samples, lesson.labelled.shape[1])
    scores = readout.scores(samples)
    assert scores.shape == (n_samples, 3)
    assert readout.scores(samples, 2).tobytes() == scores.tobytes()


def test_nearest_box_is_the_same_for_one_sample_or_many() -> None:
    # on a lattice boxes coincide or lie equally far: rounding must not decide otherwise when rows are cut otherwise
    random = np.random.RandomState(0)
    lesson = lesson_of(0, n_boxes=300, n_features=5)
    web = lesson.ground().web(0.0)
    web = replace(web, centres=random.randint(0, 3, size=web.centres.shape) / 2)
    samples = random.randint(0, 5, size=(300, 5)) / 4
    np.testing.assert_array_equal(web.nearest(samples), [web.nearest(sample[None])[0] for sample in samples])


def test_families_of_the_readout_are_those_that_users_can_name() -> None:
    named = {"spread": "propagated", "carried": "propagated"}
    keys = one_of_each(lesson_of(0).ground())
    assert {named.get(key.family, key.family) for key in [*keys, Key("spread", 0.0, 0.9)]} == set(FAMILIES)
