"""Trees as a family of evidence: every tree predicts the labels that it was grown without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from labelled_sets import labelled_set

from sslart import AutoSSLART
from sslart._mapping.evidence.design import DesignMatrices
from sslart._mapping.evidence.families import MIN_BLOCKS, N_TREES, TreeBasis, TreeFamily
from sslart._mapping.evidence.selection import LooFits
from sslart._mapping.evidence.settings import BasisSpec

SPEC = BasisSpec("tree", 0.0, 0.5)


def test_left_out_labels_are_predicted_by_trees_that_have_not_seen_their_block() -> None:
    labelled = labelled_set(0, n_labels=30)
    basis = TreeBasis(SPEC, DesignMatrices(labelled))
    before = basis.own_fit(labelled.targets, labelled.groups).left_out
    np.testing.assert_allclose(before.sum(axis=1), 1.0)
    classes = labelled.classes.copy()
    classes[7] = (classes[7] + 1) % 3
    other = replace(labelled, classes=classes)
    after = TreeBasis(SPEC, DesignMatrices(other)).own_fit(other.targets, other.groups).left_out
    np.testing.assert_array_equal(after[7], before[7])
    assert np.abs(after - before).max() > 0.01


def test_without_a_block_only_trees_that_have_seen_neither_predict() -> None:
    labelled = labelled_set(0, n_labels=30)
    trial = LooFits(labelled)
    basis = TreeBasis(SPEC, trial.design)
    found = basis.own_left_out_without(labelled.targets, labelled.groups, trial.blocks)
    assert found.shape == (len(trial.blocks), 30, 3)
    np.testing.assert_allclose(found.sum(axis=2), 1.0)
    classes = labelled.classes.copy()
    classes[trial.blocks[4]] = (classes[trial.blocks[4]] + 1) % 3
    other = replace(labelled, classes=classes)
    again = TreeBasis(SPEC, DesignMatrices(other)).own_left_out_without(other.targets, other.groups, trial.blocks)
    np.testing.assert_array_equal(again[4], found[4])


def test_predictions_are_the_mean_of_the_trees() -> None:
    labelled = labelled_set(0, n_labels=30)
    basis = TreeBasis(SPEC, DesignMatrices(labelled))
    samples = np.random.RandomState(0).rand(9, 5)
    values = basis.own_weights(labelled.targets)
    (term,) = basis.terms(values)
    found = term.forest.scores_by_tree(samples).sum(axis=0)
    np.testing.assert_allclose(found, basis.forest.scores_by_tree(samples).mean(axis=0))
    assert len(term.forest.roots) == N_TREES


def test_of_very_few_labels_no_trees_are_grown() -> None:
    family = TreeFamily()
    assert not family.applies(DesignMatrices(labelled_set(0, n_labels=MIN_BLOCKS - 1)))
    assert family.applies(DesignMatrices(labelled_set(0, n_labels=MIN_BLOCKS)))


def test_where_trees_suit_the_data_the_model_takes_them() -> None:
    random = np.random.RandomState(0)
    X = random.rand(600, 12)
    y = ((X[:, 0] > 0.5) & (X[:, 1] > 0.3) | (X[:, 2] > 0.8)).astype(int)
    few = np.where(np.arange(600) < 150, y, -1)
    model = AutoSSLART(random_state=0).fit(X, few)
    assert model.family_weights_["trees"] > 0.5
    assert (model.predict(X[150:]) == y[150:]).mean() > 0.85
