"""No label has part in its own left-out prediction: neither in the regression nor in the choice of settings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_sets import labelled_set
from sklearn.datasets import load_iris

from sslart import AutoSSLART
from sslart._mapping.evidence.boxes import RelevantFamily
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import FAMILY_NAMES
from sslart._mapping.evidence.readout import Solution
from sslart._mapping.evidence.selection import N_FOLDS, LooFits, choose, learn
from sslart._mapping.evidence.settings import N_BLOCKS, NO_BLOCK, BasisSpec, FixedSettings
from sslart._mapping.model_view import view_of


def chosen(labelled: LabelledSet, *families: str) -> Solution:
    return choose(labelled, FixedSettings(families or None), np.arange(len(labelled.boxes.lower)))


def with_other_class(labelled: LabelledSet, rows: np.ndarray) -> LabelledSet:
    classes = labelled.classes.copy()
    classes[rows] = (classes[rows] + 1) % labelled.n_classes
    return replace(labelled, classes=classes)


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_a_label_does_not_change_what_is_predicted_for_it(family: str) -> None:
    labelled = labelled_set(3, n_labels=24)
    before = chosen(labelled, family).left_out
    for one in range(0, 24, 5):
        after = chosen(with_other_class(labelled, np.array([one])), family).left_out
        np.testing.assert_allclose(after[one], before[one], atol=1e-8)
        assert np.abs(np.delete(after - before, one, axis=0)).max() > 1e-4  # but for others it matters


@pytest.mark.slow
@settings(max_examples=4)
@given(seed=st.integers(0, 99), n_labels=st.integers(8, 60), one=st.integers(0, 7))
def test_with_all_families_neither(seed: int, n_labels: int, one: int) -> None:
    labelled = labelled_set(seed, n_labels=n_labels)
    labelled = replace(labelled, group_keys=np.arange(n_labels) // 2 + 1, keys=None)
    own = np.flatnonzero(labelled.groups.numbers == labelled.groups.numbers[one])
    before, after = chosen(labelled).left_out, chosen(with_other_class(labelled, own)).left_out
    np.testing.assert_allclose(after[own], before[own], atol=1e-6)


def test_functions_that_depend_on_labels_are_those_of_the_other_folds() -> None:
    labelled, spec = labelled_set(1, n_labels=30), BasisSpec("relevant", 0.5, 0.5)
    (fit,) = LooFits(labelled).fits((spec,), [0.1])
    for fold in range(N_FOLDS):
        own = labelled.blocks % N_FOLDS == fold
        design = DesignMatrices(labelled)
        # labels of the fold are not there at all where factors are measured
        others = replace(labelled, samples=labelled.samples[~own], classes=labelled.classes[~own])
        group = RelevantFamily().groups(0.5, DesignMatrices(others))[0]
        distances = group.packed.distances(group.select_features(design.samples_on(0.5)))
        matrix = np.exp(-distances.astype(np.float64) / (spec.bandwidth * labelled.samples.shape[1]))
        gram = matrix @ matrix.T / np.mean((matrix**2).sum(axis=1)) + 1.0
        system = gram[np.ix_(~own, ~own)] + 0.1 * np.eye(int((~own).sum()))
        expected = gram[np.ix_(own, ~own)] @ np.linalg.solve(system, labelled.targets[~own])
        np.testing.assert_allclose(fit.left_out[own], expected, atol=1e-6)


def test_a_saved_choice_predicts_left_out_labels_as_before() -> None:
    labelled = labelled_set(2, n_labels=50)
    solution = chosen(labelled)
    again = learn(labelled, solution.mixtures, np.arange(len(labelled.boxes.lower)))
    np.testing.assert_allclose(again.left_out, solution.left_out, atol=1e-9)
    assert all(len(one.without) in (0, N_BLOCKS) for one in solution.mixtures)
    assert any(one.without for one in solution.mixtures)


def test_labels_that_come_later_leave_the_blocks_of_a_choice_as_they_were() -> None:
    random = np.random.RandomState(0)
    X, y = random.rand(120, 4), random.randint(2, size=120)
    model = AutoSSLART(random_state=0, bounds=(0, 1)).partial_fit(X[:64], y[:64])
    before = model._model.mapping.reservoir.whole().blocks  # type: ignore[attr-defined]
    model.partial_fit(X[64:70], y[64:70])
    after = model._model.mapping.reservoir.whole().blocks  # type: ignore[attr-defined]
    assert (before != NO_BLOCK).all()
    np.testing.assert_array_equal(after[:64], before)
    assert (after[64:] == NO_BLOCK).all()


@pytest.mark.parametrize("n_features", [20, 500, pytest.param(2000, marks=pytest.mark.slow)])
def test_noise_looks_like_noise(n_features: int) -> None:
    random = np.random.RandomState(n_features)
    X, y = random.rand(230, n_features), random.randint(3, size=230)
    few = np.where(np.arange(230) < 30, y, -1)
    model = AutoSSLART(random_state=0).fit(X, few)
    accuracy = model.quality_.accuracy
    assert accuracy is not None
    assert accuracy.low < 1 / 3 < accuracy.high
    assert model.quality_.accuracy.value < 0.55
    assert model.predict_proba(X[30:]).max(axis=1).mean() < 0.5


@pytest.mark.parametrize("labels", [{0: 0}, {0: 0, 60: 1, 120: 2}, {0: 0, 1: 0, 2: 0}])
def test_with_one_label_of_each_class_or_one_class_no_figure_is_claimed(labels: dict[int, int]) -> None:
    X = load_iris().data
    y = np.full(150, -1)
    y[list(labels)] = list(labels.values())
    left_out = view_of(AutoSSLART(random_state=0).fit(X, y)).left_out
    assert left_out is not None
    assert not left_out.is_measurable
