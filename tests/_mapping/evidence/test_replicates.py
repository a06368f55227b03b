"""Regressions without a block of labels: the closed form is the regression fitted without these labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from conftest import few
from sslart import SSLART
from sslart._art.trees import LEAF
from sslart._mapping.evidence.basis import DualRidge
from sslart._mapping.evidence.families import family_of
from sslart._mapping.evidence.mapping import EvidenceMapping
from sslart._mapping.evidence.replicates import N_REPLICATES, replicates_of
from sslart._mapping.evidence.selection import LooFits
from sslart._mapping.model_view import view_of


@given(st.integers(0, 1000), st.floats(1e-3, 10.0), st.booleans())
def test_coefficients_without_a_block_are_those_of_the_other_labels(seed: int, ridge: float, is_weighted: bool) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 20))
    functions, targets = random.normal(size=(n, 6)), random.normal(size=(n, 2))
    gram, weights = functions @ functions.T + 1.0, random.uniform(0.2, 2.0, n) if is_weighted else None
    blocks = [np.flatnonzero(np.arange(n) % 3 == block) for block in range(3)]
    found = DualRidge(gram.copy(), targets, weights).coefficients_without(ridge, blocks)
    for rows, own in zip(blocks, found, strict=True):
        rest = np.setdiff1d(np.arange(n), rows)
        penalty = ridge / (1.0 if weights is None else weights[rest]) * np.eye(len(rest))
        direct = np.linalg.solve(gram[np.ix_(rest, rest)] + penalty, targets[rest])
        np.testing.assert_allclose(own[rest], direct, rtol=1e-6, atol=1e-8)
        assert not own[rows].any()


def learnt(families: list[str]) -> EvidenceMapping:
    X, y = load_wine(return_X_y=True)
    model = SSLART(0.8, mapping="evidence", families=families, random_state=0).fit(X, few(y, 3))
    mapping = view_of(model).members[0].mapping
    assert isinstance(mapping, EvidenceMapping)
    return mapping


@pytest.mark.parametrize("family", ["box", "linear", "feature", "propagated", "trees"])
def test_scores_of_a_replicate_are_those_of_a_fit_without_its_labels(family: str) -> None:
    mapping = learnt([family])
    nodes = mapping._landmarks()
    labelled = mapping._labelled_set(nodes)
    mixture = max(mapping.mixtures, key=lambda one: one.weight)._replace(weight=1.0)
    found = replicates_of(labelled, [mixture], nodes)
    scores = found.readout.scores(labelled.samples).reshape(len(labelled.classes), found.n, -1)
    trial, parts = LooFits(labelled), labelled.blocks % N_REPLICATES
    assert found.n == len(np.unique(parts)) == N_REPLICATES
    basis = trial.basis(mixture.specs[0])
    for place, part in enumerate(np.unique(parts)):
        rest = np.flatnonzero(parts != part)
        if family == "propagated":
            direct = family_of(mixture.specs[0]).basis(mixture.specs[0], trial.design)
            weights = direct.own_weights(np.where((parts != part)[:, None], labelled.targets, 0.0))
            expected = basis.matrix @ weights
        elif family == "trees":
            np.testing.assert_allclose(scores.sum(axis=2), 1.0, atol=1e-6)  # damped means of trees are means of trees
            assert scores.std(axis=1).max() > 0
            return
        else:
            gram = trial._gram([trial.basis(spec) for spec in mixture.specs])
            direct = DualRidge(gram[np.ix_(rest, rest)], labelled.targets[rest])
            (coefficients,) = direct.coefficients([mixture.ridge])
            expected = gram[:, rest] @ coefficients
        np.testing.assert_allclose(scores[:, place], expected, atol=0.011)  # boxes of that little weight are dropped


def test_groups_of_labels_stay_together() -> None:
    X, y = load_wine(return_X_y=True)
    y, groups = few(y, 3), np.arange(len(y)) // 12
    model = SSLART(0.8, mapping="evidence", random_state=0).fit(X, y, groups=groups)
    mapping = view_of(model).members[0].mapping
    assert isinstance(mapping, EvidenceMapping)
    labelled, replicates = mapping._labelled_set(mapping._landmarks()), mapping.replicates
    assert replicates is not None
    assert replicates.n == len(np.unique(labelled.groups.numbers))  # fewer groups than replicates


def test_the_first_trees_are_a_forest() -> None:
    mapping = learnt(["trees"])
    trial = LooFits(mapping._labelled_set(mapping._landmarks()))
    forest = trial.basis(mapping.mixtures[0].specs[0]).forest  # type: ignore[attr-defined]
    samples = trial.labelled.samples
    some = forest.first(5)
    np.testing.assert_array_equal(some.scores_by_tree(samples), forest.scores_by_tree(samples)[:5])
    assert len(some.tree_of_leaf) == (some.features == LEAF).sum()
    alone = np.array([(some.tree_of_leaf == tree).sum() for tree in range(5)])
    ends = [*some.roots[1:].tolist(), len(some.features)]
    leaves = [(some.features[start:end] == LEAF).sum() for start, end in zip(some.roots.tolist(), ends, strict=True)]
    np.testing.assert_array_equal(alone, leaves)
