"""The fitted regression as data: its terms sum to the score, and their contributions explain it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_sets import basis_of, labelled_set, one_of_each, readout_of

from sslart._mapping.evidence.boxes import NEGLIGIBLE, BoxTerm
from sslart._mapping.evidence.design import DesignMatrices, RankScaler
from sslart._mapping.evidence.families import FAMILIES, N_KNOTS, SplineTerm, knot_positions
from sslart._mapping.evidence.readout import LOG_RANGE, TERM_ORDER, Readout, calibration
from sslart._mapping.evidence.settings import BasisSpec

TREES = BasisSpec("tree", 0.0, 0.5)
TOLERANCE = 1e-4  # relative to the largest score: boxes are scored in float32


def whole_readout(seed: int = 0, n_classes: int = 3, missing: float = 0.0) -> tuple[Any, Readout, np.ndarray]:
    """A readout with terms of every kind, its labelled set, and samples to score."""
    labelled = labelled_set(seed, n_classes=n_classes, missing=missing)
    design = DesignMatrices(labelled)
    random = np.random.RandomState(seed)
    readout = readout_of(
        design, [(spec, random.normal(size=(len(labelled.classes), n_classes))) for spec in one_of_each(design)]
    )
    trees = basis_of(TREES, design)
    readout = replace(readout, terms=(*readout.terms, *trees.terms(random.normal(size=trees.forest.values.shape) / 20)))
    samples = random.rand(31, labelled.samples.shape[1])
    samples[random.rand(*samples.shape) < missing] = np.nan
    return labelled, readout, samples


def test_every_kind_of_term_is_in_the_scores() -> None:
    _, readout, samples = whole_readout()
    scores = readout.scores(samples)
    for kind in TERM_ORDER:
        others = tuple(term for term in readout.terms if type(term) is not kind)
        assert 0 < len(others) < len(readout.terms), kind
        assert np.abs(replace(readout, terms=others).scores(samples) - scores).max() > 0.01, kind
    no_terms = replace(readout, terms=())
    np.testing.assert_array_equal(no_terms.scores(samples), np.tile(readout.bias, (len(samples), 1)))
    assert np.isnan(no_terms.inside_contributions()).all()
    assert not np.isnan(readout.inside_contributions()).all()


def test_inside_a_box_its_own_contribution_is_at_full_activation() -> None:
    _, readout, _ = whole_readout()
    term = next(term for term in readout.terms if isinstance(term, BoxTerm) and term.rank_weight == 0.0)
    only = replace(readout, terms=(term,), bias=np.zeros(3))
    expected = only.inside_contributions()[term.group.boxes]
    for place, middle in enumerate((term.group.lower + term.group.upper) / 2):
        one = replace(term, group=term.group.only(np.array([place])), weights=term.weights[:, :, [place]])
        scores = replace(only, terms=(one,)).scores(middle[None])
        np.testing.assert_allclose(scores[0], expected[place], rtol=0, atol=1e-6 * np.abs(expected).max())


def test_a_missing_value_contributes_nothing() -> None:
    _, readout, samples = whole_readout()
    samples[:, 1] = np.nan
    columns = np.arange(samples.shape[1])
    assert (readout.contributions(samples, columns, len(columns)).by_column[:, 1] == 0.0).all()
    assert np.isfinite(readout.scores(samples)).all()


def without_terms(n_classes: int, inverse_temperature: float, smoothing: float) -> Readout:
    return Readout(RankScaler(()), (), np.zeros(n_classes), inverse_temperature, smoothing, np.arange(0))


@given(
    seed=st.integers(0, 999),
    n_classes=st.integers(1, 5),
    inverse_temperature=st.floats(0.3, 60),
    smoothing=st.floats(0.001, 0.4),
)
def test_probabilities_sum_to_one_and_prefer_what_scores_prefer(
    seed: int, n_classes: int, inverse_temperature: float, smoothing: float
) -> None:
    readout = without_terms(n_classes, inverse_temperature, smoothing)
    scores = np.random.RandomState(seed).normal(size=(9, n_classes)) * 3
    probabilities = readout.probabilities(scores)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (probabilities >= smoothing / n_classes).all()
    np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))


def test_scores_without_bound_are_probabilities_still() -> None:
    readout = without_terms(2, 50.0, 0.1)
    np.testing.assert_allclose(
        readout.probabilities(np.array([[1e300, -1e300], [0.0, 0.0]])), [[0.95, 0.05], [0.5, 0.5]]
    )


@given(seed=st.integers(0, 999), size=st.sampled_from([1e-6, 1e-4, 1e-3, 0.1]))
@settings(max_examples=30)
def test_pruning_changes_no_score_by_more_than_is_negligible(seed: int, size: float) -> None:
    _, readout, samples = whole_readout()
    of_boxes = (term for term in readout.terms if isinstance(term, BoxTerm))
    group = next(term.group for term in of_boxes if len(term.group.features) == samples.shape[1])
    random = np.random.RandomState(seed)
    n_boxes = len(group.boxes)
    weights = random.normal(size=(2, 3, n_boxes)) * size * 10 ** random.uniform(-2, 1, size=n_boxes)
    term = BoxTerm(group, 0.5, weights)
    pruned = term.pruned()
    only = replace(readout, terms=(term,))
    change = replace(only, terms=(pruned,) if len(pruned.group.boxes) else ()).scores(samples) - only.scores(samples)
    assert np.abs(change).max() <= NEGLIGIBLE * 1.001
    largest = np.abs(weights).sum(axis=0).max(axis=0)
    assert set(group.boxes) >= set(pruned.group.boxes)
    if 0 < len(pruned.group.boxes) < n_boxes:
        assert largest[pruned.group.boxes].min() >= np.delete(largest, pruned.group.boxes).max()
    if largest.sum() <= NEGLIGIBLE:
        assert len(pruned.group.boxes) == 0


def test_boxes_of_large_weight_are_never_pruned() -> None:
    _, readout, _ = whole_readout()
    group = next(term.group for term in readout.terms if isinstance(term, BoxTerm))
    weights = np.full((1, 2, len(group.boxes)), 2 * NEGLIGIBLE)
    assert len(BoxTerm(group, 0.5, weights).pruned().group.boxes) == len(group.boxes)


@given(value=st.floats(0, 1))
def test_a_value_lies_between_two_knots(value: float) -> None:
    below, part = knot_positions(np.array([[value]]))
    assert 0 <= below[0, 0] <= N_KNOTS - 2
    assert 0.0 <= part[0, 0] <= 1.0
    assert (below + part)[0, 0] / (N_KNOTS - 1) == pytest.approx(value)


def test_curves_are_straight_between_knots() -> None:
    random = np.random.RandomState(0)
    heights = random.normal(size=(2, N_KNOTS, 3))
    samples = random.rand(20, 2)
    readout = replace(without_terms(3, 1.0, 0.1), scaler=RankScaler((None, None)), terms=(SplineTerm(0.0, heights),))
    contributions = readout.contributions(samples, np.arange(2), 2).by_column
    knots = np.linspace(0, 1, N_KNOTS)
    for feature in range(2):
        for index in range(3):
            expected = np.interp(samples[:, feature], knots, heights[feature, :, index])
            np.testing.assert_allclose(contributions[:, feature, index], expected, atol=1e-12)


@pytest.mark.parametrize("n_samples", [0, 1, 256, 257])
def test_any_number_of_samples_in_any_number_of_threads(n_samples: int) -> None:
    labelled, readout, _ = whole_readout()
    samples = np.random.RandomState(1).rand(n_samples, labelled.samples.shape[1])
    scores = readout.scores(samples)
    assert scores.shape == (n_samples, 3)
    assert readout.scores(samples, 2).tobytes() == scores.tobytes()


def test_nearest_box_is_the_same_for_one_sample_or_many() -> None:
    # on a lattice boxes coincide or lie equally far: rounding must not decide otherwise when rows are cut otherwise
    random = np.random.RandomState(0)
    design = DesignMatrices(labelled_set(0, n_boxes=300, n_features=5))
    graph = basis_of(BasisSpec("spread", 0.0, 0.9), design).graph.term
    graph = replace(graph, centres=random.randint(0, 3, size=graph.centres.shape) / 2)
    samples = random.randint(0, 5, size=(300, 5)) / 4
    np.testing.assert_array_equal(graph.nearest(samples), [graph.nearest(sample[None])[0] for sample in samples])


def test_every_family_has_a_basis() -> None:
    specs = [*one_of_each(DesignMatrices(labelled_set(0))), BasisSpec("spread", 0.0, 0.9), TREES]
    assert {spec.kind for spec in specs} == {family.kind for family in FAMILIES}


def log_loss(left_out: np.ndarray, classes: np.ndarray, weights: np.ndarray, scale: float, smoothing: float) -> float:
    shares = np.exp(scale * (left_out - left_out.max(axis=1, keepdims=True)))
    shares /= shares.sum(axis=1, keepdims=True)
    right = shares[np.arange(len(classes)), classes]
    return -float((weights * np.log((1 - smoothing) * right + smoothing / left_out.shape[1])).sum())


@settings(max_examples=40)
@given(
    seed=st.integers(0, 9999),
    n=st.integers(2, 60),
    n_classes=st.integers(2, 4),
    spread=st.floats(0.01, 3),
    noise=st.floats(0, 3),
)
def test_no_other_scale_of_the_softmax_has_a_lower_loss(
    seed: int, n: int, n_classes: int, spread: float, noise: float
) -> None:
    random = np.random.RandomState(seed)
    classes = random.randint(n_classes, size=n)
    left_out = spread * (np.eye(n_classes)[classes] + noise * random.normal(size=(n, n_classes)))
    weights = random.uniform(0.2, 1.0, n)
    scale, smoothing = calibration(left_out, classes, weights)
    assert np.exp(LOG_RANGE[0]) <= scale <= np.exp(LOG_RANGE[1])
    found = log_loss(left_out, classes, weights, scale, smoothing)
    others = [log_loss(left_out, classes, weights, one, smoothing) for one in np.exp(np.linspace(*LOG_RANGE, 301))]
    assert found <= min(others) + 1e-9 * abs(found)


@pytest.mark.parametrize(("sign", "end"), [(1.0, LOG_RANGE[1]), (-1.0, LOG_RANGE[0])])
def test_the_scale_of_the_softmax_reaches_the_ends_of_its_range(sign: float, end: float) -> None:
    classes = np.arange(30) % 3
    left_out = sign * 0.01 * np.eye(3)[classes]  # right throughout, or wrong throughout
    assert calibration(left_out, classes, np.ones(30))[0] == np.exp(end)
