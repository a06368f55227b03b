"""Families of evidence: what the dual predicts of the labelled samples is what the readout gives for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_sets import applies, basis_of, labelled_set, one_of_each, readout_of

from sslart._mapping.evidence.boxes import BOXES_PER_SUBSPACE, N_SUBSPACES, NEGLIGIBLE, BoxTerm
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import LinearTerm, SplineTerm
from sslart._mapping.evidence.graph import MAX_BOXES, GraphTerm
from sslart._mapping.evidence.readout import SolutionBuilder
from sslart._mapping.evidence.settings import BasisSpec

TOLERANCE = 1e-4  # relative to the largest score: boxes are scored in float32
EVERY = one_of_each(DesignMatrices(labelled_set(0)))


@pytest.mark.parametrize("spec", EVERY, ids=str)
@settings(max_examples=5)
@given(
    seed=st.integers(0, 99),
    missing=st.sampled_from([0.0, 0.3]),
    n_features=st.sampled_from([1, 3, 6]),
    indicators=st.sampled_from([0, 1]),
    n_boxes=st.sampled_from([4, 17, 40]),
)
def test_the_readout_scores_labelled_samples_as_the_dual_predicts(
    spec: BasisSpec, seed: int, missing: float, n_features: int, indicators: int, n_boxes: int
) -> None:
    labelled = labelled_set(seed, missing=missing, n_features=n_features, indicators=indicators, n_boxes=n_boxes)
    design = DesignMatrices(labelled)
    if not applies(spec, design):
        return
    coefficients = 30 * np.random.RandomState(seed).normal(size=(len(labelled.classes), 3))
    expected = basis_of(spec, design).gram @ coefficients
    found = readout_of(design, [(spec, coefficients)]).scores(labelled.samples)
    n_groups = N_SUBSPACES if spec.kind == "subspace" else 1  # each is pruned by itself
    atol = TOLERANCE * np.abs(expected).max() + n_groups * NEGLIGIBLE
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def test_the_score_of_several_families_is_the_sum_of_their_scores() -> None:
    labelled = labelled_set(1)
    design = DesignMatrices(labelled)
    random = np.random.RandomState(0)
    coefficients = [(spec, 30 * random.normal(size=(len(labelled.classes), 3))) for spec in EVERY]
    expected = sum(basis_of(spec, design).gram @ own for spec, own in coefficients)
    found = readout_of(design, coefficients).scores(labelled.samples)
    atol = TOLERANCE * np.abs(expected).max() + (4 + N_SUBSPACES) * NEGLIGIBLE
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def test_bandwidths_of_one_group_and_trends_of_one_scale_are_joined() -> None:
    labelled = labelled_set(1)
    coefficients = [(spec, np.ones((len(labelled.classes), 3))) for spec in EVERY]
    terms = readout_of(DesignMatrices(labelled), coefficients).terms
    boxes = [term for term in terms if isinstance(term, BoxTerm)]
    assert len([term for term in boxes if len(term.group.features) == 5]) == 4  # box on 3 scales, relevant
    assert [len(term.weights) for term in boxes if term.rank_weight == 0.0] == [3]  # 1, 1/2 (without weight), 1/4
    assert [sum(isinstance(term, kind) for term in terms) for kind in (LinearTerm, SplineTerm, GraphTerm)] == [2, 2, 1]


@pytest.mark.parametrize("spec", EVERY, ids=str)
def test_gram_has_a_mean_diagonal_of_one_and_no_negative_direction(spec: BasisSpec) -> None:
    gram = basis_of(spec, DesignMatrices(labelled_set(2, missing=0.1))).gram
    assert np.diag(gram).mean() == pytest.approx(1.0)
    np.testing.assert_allclose(gram, gram.T, atol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > -1e-9


@pytest.mark.parametrize("spec", EVERY, ids=str)
def test_samples_that_are_all_alike_give_no_division_by_zero(spec: BasisSpec) -> None:
    labelled = labelled_set(0)
    same = LabelledSet(np.full((4, 5), 0.5), np.array([0, 1, 2, 0]), 3, labelled.boxes, labelled.indicator, 0)
    basis = basis_of(spec, DesignMatrices(same))
    assert np.isfinite(basis.gram).all()
    assert np.isfinite(basis.weights(np.ones((4, 3)))).all()


def test_propagated_labels_are_read_as_the_boxes_hold_them() -> None:
    labelled = labelled_set(3)
    design = DesignMatrices(labelled)
    basis = basis_of(BasisSpec("spread", 0.0, 0.9), design)
    np.testing.assert_allclose(basis.matrix.sum(axis=1), 1.0)
    shares = basis.own_weights(labelled.targets)
    fit = basis.own_fit(labelled.targets, labelled.groups)
    assert shares is not None
    assert fit is not None
    np.testing.assert_array_equal(fit.coefficients, shares)
    builder = SolutionBuilder(labelled, design.scaler, np.arange(40))
    builder.add(basis.terms(shares))
    readout = builder.solution((), labelled.targets).readout
    np.testing.assert_allclose(readout.scores(labelled.samples), basis.matrix @ shares, atol=1e-12)


def test_relevant_features_count_more() -> None:
    random = np.random.RandomState(0)
    classes = random.randint(2, size=60)
    samples = random.rand(60, 4)
    samples[:, 2] = 0.1 * samples[:, 2] + 0.8 * classes
    others = labelled_set(0, n_features=4)
    design = DesignMatrices(LabelledSet(samples, classes, 2, others.boxes, others.indicator[:4], 0))
    factors = basis_of(BasisSpec("relevant", 0.0, 0.25), design).groups[0].factors
    assert factors.argmax() == 2
    assert factors.mean() == pytest.approx(1.0)
    assert (factors > 0).all()


def test_subspaces_are_of_few_features_and_boxes() -> None:
    labelled = labelled_set(0, n_boxes=BOXES_PER_SUBSPACE + 30, n_features=16)
    groups = basis_of(BasisSpec("subspace", 0.5, 0.25), DesignMatrices(labelled)).groups
    assert len(groups) == N_SUBSPACES
    for group in groups:
        assert 2 <= len(group.features) <= 6
        assert len(set(group.features)) == len(group.features)
        assert group.boxes.tolist() == list(range(BOXES_PER_SUBSPACE))


def test_the_seed_draws_the_subspaces() -> None:
    drawn = []
    for seed in (0, 0, 1):
        groups = basis_of(BasisSpec("subspace", 0.5, 0.25), DesignMatrices(labelled_set(seed, n_features=9))).groups
        drawn.append([tuple(group.features) for group in groups])
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_graph_needs_boxes_and_a_subspace_features() -> None:
    few, enough = DesignMatrices(labelled_set(0, n_boxes=3, n_features=2)), DesignMatrices(labelled_set(0))
    kinds = ("spread", "carried", "subspace", "box")
    assert [applies(BasisSpec(kind, 0.0, 0.5), few) for kind in kinds] == [False] * 3 + [True]
    assert all(applies(BasisSpec(kind, 0.0, 0.5), enough) for kind in kinds)


def test_a_graph_of_many_boxes_is_that_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_BOXES > 40
    monkeypatch.setattr("sslart._mapping.evidence.graph.MAX_BOXES", 25)
    graph = basis_of(BasisSpec("spread", 0.0, 0.9), DesignMatrices(labelled_set(0))).graph
    assert len(graph.term.centres) == len(graph.S) == 25
